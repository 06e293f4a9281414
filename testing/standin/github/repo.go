package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/internal/git"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// A repo is a git repository that is served, with its issues.
type repo struct {
	name   string // owner/name
	dir    string
	branch string // the default one

	mu     sync.Mutex
	issues []*issue // and pull requests, in the order of their numbers
}

func openRepo(name, dir string) (*repo, error) {
	if strings.Count(name, "/") != 1 {
		return nil, errors.New("it is called owner/name")
	}
	r := &repo{name: name, dir: dir}
	branch, err := r.git(nil, nil, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		return nil, err
	}
	r.branch = strings.TrimSpace(branch)
	return r, nil
}

// git runs git in the repository.
func (r *repo) git(env []string, in []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := git.Command(ctx, r.dir, append([]string{"--literal-pathspecs"}, args...)...)
	c.Env = append(c.Env, env...)
	c.Stdin = bytes.NewReader(in)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}

var (
	plainRef = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`)
	hexSHA   = lazyregexp.New(`^[0-9a-f]{4,40}$`)
	fullSHA  = lazyregexp.New(`^[0-9a-f]{40}$`)
)

// resolve returns the commit of a reference as GitHub takes it: heads/x, tags/x, a branch, a tag, a SHA or its beginning.
func (r *repo) resolve(ref string) (string, bool) {
	if !plainRef.MatchString(ref) || strings.Contains(ref, "..") {
		return "", false
	}
	tries := []string{"refs/heads/" + ref, "refs/tags/" + ref}
	if strings.HasPrefix(ref, "heads/") || strings.HasPrefix(ref, "tags/") {
		tries = append([]string{"refs/" + ref}, tries...)
	}
	if hexSHA.MatchString(ref) {
		tries = append([]string{ref}, tries...)
	}
	for _, try := range tries {
		if out, err := r.git(nil, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", try+"^{commit}"); err == nil {
			return strings.TrimSpace(out), true
		}
	}
	return "", false
}

// A commitInfo is a commit.
type commitInfo struct {
	sha, tree, message string
	parents            []string
	author, committer  object
}

const infoFormat = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00%x01"

// commits returns commits that git log lists.
func (r *repo) commits(args ...string) (out []commitInfo, err error) {
	text, err := r.git(nil, nil, append([]string{"log", "--no-color", infoFormat}, args...)...)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(text, "\x00\x01") {
		f := strings.Split(strings.TrimPrefix(part, "\n"), "\x00")
		if len(f) != 10 {
			continue
		}
		out = append(out, commitInfo{sha: f[0], tree: f[1], parents: strings.Fields(f[2]), message: strings.TrimRight(f[9], "\n"),
			author: object{"name": f[3], "email": f[4], "date": utc(f[5])}, committer: object{"name": f[6], "email": f[7], "date": utc(f[8])}})
	}
	return out, nil
}

// utc returns a time as GitHub writes it.
func utc(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t.UTC().Format(time.RFC3339)
}

// A diffFile is what a commit has done to a file.
type diffFile struct {
	status, name, old, blob, patch string
	added, removed                 int
}

// diff returns what is between two commits; from empty: the beginning.
func (r *repo) diff(from, to string) (out []diffFile, err error) {
	pair := []string{"--root", to}
	if from != "" {
		pair = []string{from, to}
	}
	text, err := r.git(nil, nil, append([]string{"diff-tree", "-r", "-M", "-z", "--raw", "--no-commit-id", "--abbrev=40"}, pair...)...)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(text, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		head := strings.Fields(parts[i])
		if len(head) != 5 {
			break
		}
		f := diffFile{blob: head[3], name: parts[i+1], status: map[byte]string{'A': "added", 'D': "removed", 'R': "renamed"}[head[4][0]]}
		if f.status == "" {
			f.status = "modified"
		}
		if f.status == "removed" {
			f.blob = head[2]
		}
		if f.status == "renamed" {
			f.old, f.name = parts[i+1], parts[i+2]
			i++
		}
		out = append(out, f)
	}
	if err := r.patches(out, pair); err != nil {
		return nil, err
	}
	return out, nil
}

// patches adds the diff of each file.
func (r *repo) patches(files []diffFile, pair []string) error {
	diff := append([]string{"diff-tree", "-r", "-p", "-M", "--no-commit-id", "--no-ext-diff", "--no-textconv"}, pair...)
	text, err := r.git(nil, nil, diff...)
	if err != nil {
		return err
	}
	// Lines of files begin with a sign, so this line begins the next file. One whose type has changed has two of them.
	texts := strings.Split(strings.TrimSuffix("\n"+text, "\n"), "\ndiff --git ")[1:]
	for i := range files {
		f := &files[i]
		if len(texts) == len(files) {
			f.take(texts[i])
			continue
		}
		text, err := r.git(nil, nil, append(append(slices.Clone(diff), "--"), f.paths()...)...)
		if err != nil {
			return err
		}
		f.take(strings.TrimSuffix(text, "\n"))
	}
	return nil
}

// paths returns the names that a file has and had.
func (f *diffFile) paths() []string {
	if f.old == "" {
		return []string{f.name}
	}
	return []string{f.old, f.name}
}

// take takes over what git writes of a file.
func (f *diffFile) take(text string) {
	_, hunks, ok := strings.Cut(text, "\n@@ ")
	if !ok {
		return
	}
	f.patch = "@@ " + hunks
	for l := range strings.SplitSeq(f.patch, "\n") {
		switch {
		case strings.HasPrefix(l, "+"):
			f.added++
		case strings.HasPrefix(l, "-"):
			f.removed++
		}
	}
}

// An entry is one of a tree.
type entry struct {
	mode, kind, sha, name string
	size                  int
}

// tree returns the entries of a tree.
func (r *repo) tree(sha string, recursive bool) (out []entry, err error) {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if recursive {
		args = append(args, "-r", "-t")
	}
	text, err := r.git(nil, nil, append(args, sha)...)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(text, "\x00") {
		head, name, ok := strings.Cut(part, "\t")
		if f := strings.Fields(head); ok && len(f) == 4 {
			size, _ := strconv.Atoi(f[3])
			out = append(out, entry{mode: f[0], kind: f[1], sha: f[2], name: name, size: size})
		}
	}
	return out, nil
}
