package code

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant/agent"
)

// Tools are what an investigation asks about code with.
type Tools struct {
	Reader *Reader
	Seen   *Seen // notes what is shown; required

	// Versions are the repositories that the investigation may look into, each at the commit that ran. The first one is meant where a call names
	// none.
	Versions []Version

	// Window is what recent_changes looks at: the commits since the last release that was good, or since a time.
	Window Window
}

type readArgs struct {
	Repo   string `json:"repo,omitzero" jsonschema:"repository; the first one of the task unless told"`
	Path   string `json:"path" jsonschema:"of the file in the repository"`
	From   int    `json:"from,omitzero" jsonschema:"number of the first line; 1 unless told"`
	To     int    `json:"to,omitzero" jsonschema:"number of the last line; that of the file unless told"`
	Column int    `json:"column,omitzero" jsonschema:"character of the first line to begin with; for lines that were cut"`
}

type searchArgs struct {
	Repo    string `json:"repo,omitzero" jsonschema:"repository; the first one of the task unless told"`
	Pattern string `json:"pattern" jsonschema:"regular expression (RE2) that is matched line by line"`
	Path    string `json:"path,omitzero" jsonschema:"directory or file or pattern such as **/*.go to search in; all files unless told"`
}

type listArgs struct {
	Repo string `json:"repo,omitzero" jsonschema:"repository; the first one of the task unless told"`
	Path string `json:"path,omitzero" jsonschema:"directory; the top one unless told"`
}

type changesArgs struct {
	Repo  string   `json:"repo,omitzero" jsonschema:"repository; the first one of the task unless told"`
	Paths []string `json:"paths" jsonschema:"files; those of the stack trace first"`
}

type showArgs struct {
	Repo string `json:"repo,omitzero" jsonschema:"repository; the first one of the task unless told"`
	SHA  string `json:"sha" jsonschema:"of the commit; at least seven digits"`
	Path string `json:"path,omitzero" jsonschema:"one file of it; all of them unless told"`
}

type ownerArgs struct {
	Repo string `json:"repo,omitzero" jsonschema:"repository; the first one of the task unless told"`
	Path string `json:"path" jsonschema:"of the file"`
	Line int    `json:"line,omitzero" jsonschema:"number of the line in question"`
}

// Tools returns read_file, search_code, list_directory, recent_changes, show_change and who_owns. All of them only read. What they return is never
// longer than the limits of this package, and Seen knows it.
func (t *Tools) Tools() []agent.Tool {
	return []agent.Tool{
		ask("read_file", "Reads a file of the code that ran, with the numbers of its lines. A long file comes with its middle left out: ask for the lines you need.", t.readFile),
		ask("search_code", "Searches the code that ran for lines that a regular expression matches. Shows file, number and text of each.", t.searchCode),
		ask("list_directory", "Lists the files and directories of a directory of the code that ran.", t.listDirectory),
		ask("recent_changes", "Lists the commits that touched files since the last version that was good. A commit may be called a suspect only after its diff was read with show_change.", t.recentChanges),
		ask("show_change", "Shows what a commit has changed, as a diff.", t.showChange),
		ask("who_owns", "Says who owns a file: by CODEOWNERS, or else who has changed the line last.", t.whoOwns),
	}
}

// ask returns a tool that reads.
func ask[T any](name, description string, do func(context.Context, T) (Answer, error)) agent.Tool {
	t := agent.Func(name, description, func(ctx context.Context, _ *agent.Call, args T) (agent.Result, error) {
		a, err := do(ctx, args)
		if err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: a.Text}, nil
	})
	t.ReadOnly, t.Parallel, t.Idempotent = true, true, true
	t.Timeout = mostCall + 10*time.Second
	return t
}

// version returns the version of the repository that a call means.
func (t *Tools) version(repo string) (Version, error) {
	if len(t.Versions) == 0 {
		return Version{}, fmt.Errorf("no repository is known that this code is in")
	}
	if repo == "" {
		return t.Versions[0], nil
	}
	if i := slices.IndexFunc(t.Versions, func(v Version) bool { return v.Repo == repo || v.short() == repo }); i >= 0 {
		return t.Versions[i], nil
	}
	var names []string
	for _, v := range t.Versions {
		names = append(names, v.Repo)
	}
	return Version{}, fmt.Errorf("the repositories of this task are %v: there is no %q", names, repo)
}

// noted returns an answer after it was noted.
func (t *Tools) noted(a Answer, err error) (Answer, error) {
	if err == nil {
		t.Seen.Add(a)
	}
	return a, err
}

func (t *Tools) readFile(ctx context.Context, a readArgs) (Answer, error) {
	at, err := t.version(a.Repo)
	if err != nil {
		return Answer{}, err
	}
	return t.noted(t.Reader.readFrom(ctx, at, a.Path, a.From, a.To, a.Column))
}

func (t *Tools) searchCode(ctx context.Context, a searchArgs) (Answer, error) {
	at, err := t.version(a.Repo)
	if err != nil {
		return Answer{}, err
	}
	return t.noted(t.Reader.Search(ctx, at, a.Pattern, a.Path))
}

func (t *Tools) listDirectory(ctx context.Context, a listArgs) (Answer, error) {
	at, err := t.version(a.Repo)
	if err != nil {
		return Answer{}, err
	}
	return t.noted(t.Reader.List(ctx, at, a.Path))
}

func (t *Tools) recentChanges(ctx context.Context, a changesArgs) (Answer, error) {
	at, err := t.version(a.Repo)
	if err != nil {
		return Answer{}, err
	}
	_, answer, err := t.Reader.Changes(ctx, at, t.Window, a.Paths)
	return t.noted(answer, err)
}

func (t *Tools) showChange(ctx context.Context, a showArgs) (Answer, error) {
	at, err := t.version(a.Repo)
	if err != nil {
		return Answer{}, err
	}
	return t.noted(t.Reader.Diff(ctx, at.Repo, a.SHA, a.Path))
}

func (t *Tools) whoOwns(ctx context.Context, a ownerArgs) (Answer, error) {
	at, err := t.version(a.Repo)
	if err != nil {
		return Answer{}, err
	}
	_, answer, err := t.Reader.Owner(ctx, at, a.Path, a.Line)
	return t.noted(answer, err)
}
