package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"github.com/decantdev/decant/internal/pace"
)

// A hub is a repository that is read from GitHub.
type hub struct {
	client      *github.Client
	owner, name string
	cache       *Cache
}

// direct is up to how many files are read one by one. For more of them the archive of the commit is read, in one call.
const direct = 8

// missing turns an error of GitHub into fs.ErrNotExist where it says that something is not there. A private repository that the token may not
// read is not there either, as GitHub says it.
func missing(err error) error {
	var e *github.ErrorResponse
	if errors.As(err, &e) && e.Response != nil {
		switch e.Response.StatusCode {
		case http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusConflict:
			return fmt.Errorf("%s: %w", e.Message, fs.ErrNotExist)
		case http.StatusUnauthorized:
			return errors.New("GitHub refuses the token: it is wrong or has expired")
		}
	}
	return plainError(err)
}

// plainError returns an error of the way to GitHub without the URL that was asked for, which may hold a passing key.
func plainError(err error) error {
	var limit *github.RateLimitError
	var busy *github.AbuseRateLimitError
	var link *url.Error
	var full *pace.LimitError
	switch {
	case errors.As(err, &full):
		return fmt.Errorf("GitHub's limit of calls is reached until %s: %w", full.Until.UTC().Format("15:04:05 MST"), ErrLimit)
	case errors.As(err, &limit):
		return fmt.Errorf("GitHub's limit of calls is reached until %s: %w", limit.Rate.Reset.UTC().Format("15:04:05 MST"), ErrLimit)
	case errors.As(err, &busy):
		return fmt.Errorf("GitHub wants fewer calls at a time: %w", ErrLimit)
	case errors.As(err, &link):
		return fmt.Errorf("reach GitHub: %w", link.Err)
	}
	return err
}

// ErrLimit means that GitHub answers no more calls for the moment.
var ErrLimit = errors.New("too many calls")

func (h *hub) head(ctx context.Context, branch string) (name, sha string, err error) {
	if branch == "" {
		repo, _, err := h.client.Repositories.Get(ctx, h.owner, h.name)
		if err = missing(err); errors.Is(err, fs.ErrNotExist) {
			return "", "", fmt.Errorf("GitHub has no repository %s/%s that the token may read: check its name, and that the token has the right to read contents", h.owner, h.name)
		}
		if err != nil {
			return "", "", err
		}
		branch = repo.GetDefaultBranch()
	}
	sha, _, err = h.client.Repositories.GetCommitSHA1(ctx, h.owner, h.name, "heads/"+branch, "")
	return branch, sha, missing(err)
}

func (h *hub) commit(ctx context.Context, name string) (string, error) {
	if !plainRef.MatchString(name) {
		return "", fmt.Errorf("%q is no tag: %w", name, fs.ErrNotExist)
	}
	if !shaLike.MatchString(name) {
		sha, _, err := h.client.Repositories.GetCommitSHA1(ctx, h.owner, h.name, "tags/"+name, "")
		return sha, missing(err)
	}
	sha, _, err := h.client.Repositories.GetCommitSHA1(ctx, h.owner, h.name, name, "")
	if err = missing(err); err == nil && !strings.HasPrefix(sha, name) {
		err = fmt.Errorf("%s is a branch: %w", name, fs.ErrNotExist)
	}
	return sha, err
}

func (h *hub) tree(ctx context.Context, sha string) (*tree, error) {
	got, _, err := h.client.Git.GetTree(ctx, h.owner, h.name, sha, true)
	if err != nil {
		return nil, missing(err)
	}
	var files []file
	for _, e := range got.Entries {
		if e.GetType() == "tree" {
			continue
		}
		files = append(files, file{name: e.GetPath(), blob: e.GetSHA(), size: int64(e.GetSize()), link: e.GetType() != "blob" || e.GetMode() == "120000", program: e.GetMode() == "100755"})
	}
	t := newTree(files)
	t.cut = got.GetTruncated()
	return t, nil
}

func (h *hub) blobs(ctx context.Context, sha string, files []file, f func(file, []byte) error) error {
	all, here := peek[*archive](h.cache, h.archiveKey(sha))
	if !here && len(files) > direct {
		var err error
		if all, err = h.archive(ctx, sha); err != nil {
			return err
		}
	}
	for _, file := range files {
		data, ok := all.blob(file.blob)
		if !ok {
			var err error
			if data, _, err = h.client.Git.GetBlobRaw(ctx, h.owner, h.name, file.blob); err != nil {
				return missing(err)
			}
		}
		if err := f(file, data); err != nil {
			return err
		}
	}
	return nil
}

// narrow has the files of a commit searched in its archive. Only where that is too large, GitHub's own search says which files to look at.
func (h *hub) narrow(ctx context.Context, sha, literal string, files []file) ([]file, string, error) {
	if len(files) <= direct {
		return files, "", nil
	}
	all, err := h.archive(ctx, sha)
	switch {
	case err != nil:
		return nil, "", err
	case all.large:
		return h.ask(ctx, literal, files)
	}
	var out []file
	others := 0 // that the archive does not have: their attributes say so
	for _, f := range files {
		if _, ok := all.blob(f.blob); !ok {
			if others++; others > direct {
				continue
			}
		}
		out = append(out, f)
	}
	if others > direct {
		return out, fmt.Sprintf("%d files that the archive of the commit lacks were not searched.", others-direct), nil
	}
	return out, "", nil
}

// ask returns the files in which GitHub's search finds a string. It knows the default branch only, and takes ten questions a minute.
func (h *hub) ask(ctx context.Context, literal string, files []file) ([]file, string, error) {
	if len(literal) < 3 {
		return nil, "", errors.New("the repository is too large to be searched as a whole: let the pattern begin with plain text, or name a directory with few files")
	}
	query := fmt.Sprintf(`"%s" repo:%s/%s`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(literal), h.owner, h.name)
	found, _, err := h.client.Search.Code(ctx, query, &github.SearchOptions{ListOptions: github.ListOptions{PerPage: 50}})
	if err != nil {
		return nil, "", plainError(err)
	}
	named := map[string]bool{}
	for _, f := range found.CodeResults {
		named[f.GetPath()] = true
	}
	var out []file
	for _, f := range files {
		if named[f.name] && len(out) < direct {
			out = append(out, f)
		}
	}
	return out, "The repository is too large to be searched at this commit. GitHub's search, which knows the default branch only, named the files that were searched: " +
		"what is not found may be there all the same.", nil
}

// compared is the most pages of 100 commits that are read to know what is new since a commit.
const compared = 3

func (h *hub) changes(ctx context.Context, w Window, head string, paths []string, most int) ([]Change, bool, error) {
	var since map[string]bool // the commits that count; nil: all
	if w.Good != "" {
		var err error
		if since, w.Since, err = h.since(ctx, w, head); err != nil {
			return nil, false, err
		}
	}
	var all changeList
	for _, path := range paths {
		o := &github.CommitsListOptions{SHA: head, Path: path, Since: w.Since, ListOptions: github.ListOptions{PerPage: most + 1}}
		got, _, err := h.client.Repositories.ListCommits(ctx, h.owner, h.name, o)
		if err != nil {
			return nil, false, missing(err)
		}
		for _, c := range got {
			if len(c.Parents) < 2 && (since == nil || since[c.GetSHA()]) {
				all.add(changeOf(c), path)
			}
		}
	}
	out := all.sorted()
	return out[:min(len(out), most)], len(out) > most, nil
}

// since returns which commits are in front of head and not of a good one; where they are too many to be named, from when on commits count.
func (h *hub) since(ctx context.Context, w Window, head string) (map[string]bool, time.Time, error) {
	out := map[string]bool{}
	for page := 1; ; page++ {
		got, _, err := h.client.Repositories.CompareCommits(ctx, h.owner, h.name, w.Good, head, &github.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, w.Since, missing(err)
		}
		for _, c := range got.Commits {
			out[c.GetSHA()] = true
		}
		switch {
		case len(out) >= got.GetTotalCommits() || len(got.Commits) == 0:
			return out, w.Since, nil
		case page == compared:
			base := got.GetMergeBaseCommit().GetCommit().GetCommitter().GetDate().Time
			if base.After(w.Since) {
				w.Since = base
			}
			return nil, w.Since, nil
		}
	}
}

// changeOf returns a commit of GitHub.
func changeOf(c *github.RepositoryCommit) Change {
	commit := c.GetCommit()
	subject, _, _ := strings.Cut(commit.GetMessage(), "\n")
	out := Change{SHA: c.GetSHA(), Author: commit.GetAuthor().GetName(), Email: commit.GetAuthor().GetEmail(),
		Time: commit.GetCommitter().GetDate().UTC(), Subject: subject}
	if len(c.Parents) > 0 {
		out.parent = c.Parents[0].GetSHA()
	}
	return out
}

// diff reads the whole commit once, whatever file is asked for.
func (h *hub) diff(ctx context.Context, sha, path string) (*change, error) {
	whole, err := remember(ctx, h.cache, key("hub commit", h.owner, h.name, sha), (*change).cost,
		func(ctx context.Context) (*change, error) { return h.whole(ctx, sha) })
	if err != nil || path == "" {
		return whole, err
	}
	one := *whole
	one.files = nil
	for _, f := range whole.files {
		if f.name == path || f.old == path {
			one.files = append(one.files, f)
		}
	}
	return &one, nil
}

// whole reads a commit with what it has done.
func (h *hub) whole(ctx context.Context, sha string) (*change, error) {
	got, resp, err := h.client.Repositories.GetCommit(ctx, h.owner, h.name, sha, &github.ListOptions{PerPage: 300})
	if err != nil {
		return nil, missing(err)
	}
	c := &change{Change: changeOf(got), partial: resp.NextPage != 0}
	for _, f := range got.Files {
		p := patched{name: f.GetFilename(), old: f.GetFilename(), gone: f.GetStatus() == "removed"}
		switch f.GetStatus() {
		case "added":
			p.old = ""
		case "renamed":
			p.old = f.GetPreviousFilename()
		}
		c.Paths = append(c.Paths, p.name)
		if f.GetPatch() == "" && f.GetChanges() > 0 {
			c.partial = true
		}
		p.hunks(strings.Split(f.GetPatch(), "\n"), 0)
		c.files = append(c.files, p)
	}
	return c, nil
}

// last returns who has changed the file last: GitHub's API says of no line who has changed it.
func (h *hub) last(ctx context.Context, sha, path string, _ int) (c Change, exact bool, err error) {
	got, _, err := h.client.Repositories.ListCommits(ctx, h.owner, h.name, &github.CommitsListOptions{SHA: sha, Path: path, ListOptions: github.ListOptions{PerPage: 1}})
	if err == nil && len(got) > 0 {
		c = changeOf(got[0])
	}
	return c, false, missing(err)
}
