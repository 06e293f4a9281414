package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v89/github"
)

// A Repo is a repository whose code may have run.
type Repo struct {
	Name   string    `yaml:"name"`             // owner/name where it is on GitHub; else what answers call it
	Dir    string    `yaml:"dir,omitempty"`    // of a local clone; empty: it is read from GitHub
	Branch string    `yaml:"branch,omitempty"` // that stands for code whose commit nobody knows; empty: the repository's own
	Tag    string    `yaml:"tag,omitempty"`    // how its tags name a release, such as "orders-v{release}"; empty: as events do, with or without "v"
	Paths  []Mapping `yaml:"paths,omitempty"`  // where the files of stack traces are in it
	Remote string    `yaml:"remote,omitempty"` // owner/name on GitHub of a local clone, for links; empty: there are none

	// How a patch is tried. Both are a program with its arguments, and run at the top of the repository.
	Build     []string `yaml:"build,omitempty"`
	Test      []string `yaml:"test,omitempty"`
	Toolchain []string `yaml:"toolchain,omitempty"` // folders that they may read beside the commit and the programs of the machine; "~/" is the home folder
	Confined  *bool    `yaml:"confined,omitempty"`  // false: they run even where they cannot be confined
}

// A Mapping says where files of a stack trace are in a repository: From, the beginning of their names in traces, is To there.
type Mapping struct {
	From string `yaml:"from"`         // such as "/app/" or "github.com/acme/shop/"
	To   string `yaml:"to,omitempty"` // such as "services/shop/"; empty: the top of the repository
}

// Options configures a Reader. Repos is required.
type Options struct {
	Repos  []Repo
	GitHub *github.Client // for repositories without a local clone; nil: there are none
	Cache  *Cache         // that other readers may share; nil: one of its own

	// Mask takes out of a text what the model must not see, such as secrets. It must keep the number of lines. Nil: nothing is taken out.
	Mask func(text string) string

	// Whole lets answers be as long as what they show, up to a bound far above the limits of this package: what tools do that know no
	// limits.
	Whole bool
}

// A Reader reads the repositories. It is safe for concurrent use.
type Reader struct {
	repos []Repo
	from  map[string]origin
	cache *Cache
	mask  func(string) string
	whole bool
}

// New returns a reader. An error names the repository that is wrong.
func New(o Options) (*Reader, error) {
	r := &Reader{repos: slices.Clone(o.Repos), from: map[string]origin{}, cache: o.Cache, mask: o.Mask, whole: o.Whole}
	if r.cache == nil {
		r.cache = NewCache(CacheOptions{})
	}
	for _, repo := range o.Repos {
		from, err := r.open(repo, o.GitHub)
		if err != nil {
			return nil, fmt.Errorf("repository %q: %w", repo.Name, err)
		}
		r.from[repo.Name] = from
	}
	return r, nil
}

// open returns where a repository is read from.
func (r *Reader) open(repo Repo, client *github.Client) (origin, error) {
	switch {
	case repo.Name == "" || strings.ContainsAny(repo.Name, "@ \t\n"):
		return nil, errors.New("a repository needs a name without spaces and @, such as acme/shop")
	case r.from[repo.Name] != nil:
		return nil, errors.New("there are two of this name")
	case repo.Dir != "":
		return openLocal(repo.Dir)
	case client == nil:
		return nil, errors.New("there is neither dir, a local clone, nor a GitHub token to read it with")
	}
	owner, name, ok := strings.Cut(repo.Name, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return nil, errors.New("on GitHub a repository is called owner/name")
	}
	return &hub{client: client, owner: owner, name: name, cache: r.cache}, nil
}

// Repos returns the repositories.
func (r *Reader) Repos() []Repo { return slices.Clone(r.repos) }

// Link returns the address of a line on GitHub; empty where the repository is not known to be there: it is where it is read from GitHub, and where a
// local clone names its Remote.
func (r *Reader) Link(repo, sha, name string, line int) string {
	config, _, err := r.lookup(repo)
	if err != nil || config.Dir != "" && config.Remote == "" {
		return ""
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return fmt.Sprintf("https://github.com/%s/blob/%s/%s#L%d", cmp.Or(config.Remote, config.Name), sha, strings.Join(parts, "/"), line)
}

// Stats returns how often the cache of the reader had what was asked for.
func (r *Reader) Stats() Stats { return r.cache.stats() }

// An origin is where the commits of one repository are read from. Commits are full SHAs. What does not exist is fs.ErrNotExist.
type origin interface {
	// head returns the branch that stands for unknown commits, where none is named, and its commit.
	head(ctx context.Context, branch string) (name, sha string, err error)

	// commit returns the commit of a tag, or of a SHA, full or its beginning.
	commit(ctx context.Context, name string) (sha string, err error)

	// tree returns the files of a commit, by name.
	tree(ctx context.Context, sha string) (*tree, error)

	// blobs calls f with the contents of files, in any order.
	blobs(ctx context.Context, sha string, files []file, f func(file, []byte) error) error

	searcher
	historian
}

// A searcher says which files of a commit hold a string.
type searcher interface {
	// narrow returns those of files that can hold a string, or all of them, and what must be said about them.
	narrow(ctx context.Context, sha, literal string, files []file) (out []file, notice string, err error)
}

// A historian knows what has changed.
type historian interface {
	// changes returns commits that touch one of paths, the newest first.
	changes(ctx context.Context, w Window, head string, paths []string, most int) (out []Change, more bool, err error)

	// diff returns what a commit has changed in a file, as a unified diff; with an empty path, in all of them.
	diff(ctx context.Context, sha, path string) (*change, error)

	// last returns who has changed a line of a file last, or the file where lines are not known.
	last(ctx context.Context, sha, path string, line int) (c Change, exact bool, err error)
}

// lookup returns the repository of a name and where it is read from.
func (r *Reader) lookup(name string) (*Repo, origin, error) {
	i := slices.IndexFunc(r.repos, func(repo Repo) bool { return repo.Name == name })
	if i < 0 {
		var names []string
		for _, repo := range r.repos {
			names = append(names, repo.Name)
		}
		return nil, nil, fmt.Errorf("there is no repository %q: there are %s", name, strings.Join(names, ", "))
	}
	return &r.repos[i], r.from[name], nil
}
