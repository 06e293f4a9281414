package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A Version is the state of a repository that questions are about.
type Version struct {
	Repo   string `json:"repo"`
	SHA    string `json:"sha"`              // the full one of a commit
	Notice string `json:"notice,omitempty"` // why this may not be the code that ran; empty: it is. It stands in every answer
}

// short returns the version as people and models name it: "acme/shop@1f0e2d3c4b5a".
func (v Version) short() string { return v.Repo + "@" + shortSHA(v.SHA) }

// shortSHA returns the first 12 digits of a SHA.
func shortSHA(sha string) string { return sha[:min(len(sha), 12)] }

// Version returns the version of a repository that a release is: the commit of its tag, or the one that it names by a SHA, in full or by its
// beginning. Where there is none, it is the default branch's, with a notice.
func (r *Reader) Version(ctx context.Context, repo, release string) (Version, error) {
	config, from, err := r.lookup(repo)
	if err != nil {
		return Version{}, err
	}
	for _, name := range config.names(release) {
		sha, err := r.commit(ctx, repo, from, name)
		switch {
		case err == nil:
			return Version{Repo: repo, SHA: sha}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return Version{}, fmt.Errorf("find the release %q in %s: %w", release, repo, err)
		}
	}
	branch, sha, err := r.head(ctx, config, from)
	if err != nil {
		return Version{}, fmt.Errorf("find the default branch of %s: %w", repo, err)
	}
	why := fmt.Sprintf("%s has no commit or tag for the release %q.", repo, Cut(release, 100, "It is too long."))
	if release == "" {
		why = "The event names no release."
	}
	return Version{Repo: repo, SHA: sha, Notice: fmt.Sprintf("%s This is the branch %s at %s, which may differ from the code that ran.",
		why, branch, shortSHA(sha))}, nil
}

// plainRef matches what may be asked for as a tag or as a SHA.
var plainRef = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`)

// shaLike matches a SHA, or what may be the beginning of one.
var shaLike = lazyregexp.New(`^[0-9a-f]{7,40}$`)

// names returns as what a release may be known in the repository, the likeliest first. Sources put a package in front of a
// version ("shop@1.2.3") and a build behind it ("1.2.3+42").
func (r *Repo) names(release string) (out []string) {
	add := func(name string) {
		if plainRef.MatchString(name) && !strings.Contains(name, "..") && !strings.HasSuffix(name, ".lock") && len(name) <= 200 {
			out = append(out, name)
		}
	}
	forms := []string{release}
	if i := strings.LastIndex(release, "@"); i >= 0 {
		forms = append(forms, release[i+1:])
	}
	if v, _, built := strings.Cut(forms[len(forms)-1], "+"); built {
		forms = append(forms, v)
	}
	for _, form := range forms {
		switch {
		case form == "":
		case r.Tag != "":
			add(strings.ReplaceAll(r.Tag, "{release}", form))
			if shaLike.MatchString(form) {
				add(form)
			}
		default:
			add(form)
			if !strings.HasPrefix(form, "v") && !shaLike.MatchString(form) {
				add("v" + form)
			}
		}
	}
	return out
}

// A file is one file of a commit.
type file struct {
	name string
	blob string // the SHA of its contents
	size int64  // less than zero: unknown
	link bool   // a symbolic link, or another repository: it has no text

	program bool // it can be run
}

// A tree is the files of a commit.
type tree struct {
	files []file // by name
	index map[string]int
	cut   bool // there are more: the list is too long for where it came from
}

func newTree(files []file) *tree {
	t := &tree{files: files, index: make(map[string]int, len(files))}
	for i, f := range files {
		t.index[f.name] = i
	}
	return t
}

// file returns the file of a name.
func (t *tree) file(name string) (file, bool) {
	i, ok := t.index[name]
	if !ok {
		return file{}, false
	}
	return t.files[i], true
}

// cost returns how many bytes the tree takes, about.
func (t *tree) cost() (n int64) {
	for _, f := range t.files {
		n += int64(2*len(f.name)) + 150
	}
	return n
}

// tree returns the files of a version.
func (r *Reader) tree(ctx context.Context, at Version) (*tree, error) {
	_, from, err := r.lookup(at.Repo)
	if err != nil {
		return nil, err
	}
	return remember(ctx, r.cache, key("tree", at.Repo, at.SHA), (*tree).cost,
		func(ctx context.Context) (*tree, error) { return from.tree(ctx, at.SHA) })
}

// commit returns the commit of a tag or a SHA.
func (r *Reader) commit(ctx context.Context, repo string, from origin, name string) (string, error) {
	return remember(ctx, r.cache, key("commit", repo, name), func(string) int64 { return 40 },
		func(ctx context.Context) (string, error) { return from.commit(ctx, name) })
}

// head returns the default branch of a repository, and its commit.
func (r *Reader) head(ctx context.Context, config *Repo, from origin) (branch, sha string, err error) {
	both, err := remember(ctx, r.cache, key("head", config.Name), func([2]string) int64 { return 100 },
		func(ctx context.Context) (v [2]string, err error) {
			v[0], v[1], err = from.head(ctx, config.Branch)
			return v, err
		})
	return both[0], both[1], err
}

// key returns the key of something in the cache.
func key(parts ...string) string { return strings.Join(parts, "\x00") }
