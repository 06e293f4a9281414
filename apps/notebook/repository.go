package notebook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/git"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/plainfile"
)

// A repository is where a folder belongs, so that all who work on it share one notebook.
type repository struct {
	Root string // top of the working tree; without git the folder itself
	Name string // name of the folder with git's common directory: the same in all worktrees
	Key  string // the same for all its worktrees, subfolders and clones on this machine
}

// findRepository returns the repository of a folder. The key is a hash of the address of the remote "origin",
// so that clones share a notebook. Without a remote it is a hash of the path of git's common directory, which
// worktrees share; without git, of the folder's path.
func findRepository(dir string) (repository, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return repository{}, fmt.Errorf("find the repository: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		common, err := commonDir(at)
		switch {
		case err == nil:
			return repository{Root: at, Name: nameOf(common), Key: keyOf(common)}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return repository{}, err
		case at == filepath.Dir(at):
			return repository{Root: dir, Name: filepath.Base(dir), Key: hash("folder", dir)}, nil
		}
	}
}

// Size limits of git's files, in bytes.
const (
	mostLine   = 64 << 10
	mostConfig = 4 << 20
)

// commonDir returns git's common directory of the working tree whose top is dir. Without one the error wraps
// fs.ErrNotExist.
func commonDir(dir string) (string, error) {
	name := filepath.Join(dir, ".git")
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return name, err
	}
	text, err := plainfile.Read(name, mostLine)
	if err != nil {
		return "", err
	}
	own, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s: want a line like \"gitdir: PATH\"", name)
	}
	own = from(dir, own)
	text, err = plainfile.Read(filepath.Join(own, "commondir"), mostLine)
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil // a submodule
	}
	return from(own, strings.TrimSpace(string(text))), err
}

// nameOf returns the name of a repository by its common directory. A bare one has the name of that.
func nameOf(common string) string {
	if base := filepath.Base(common); base != ".git" {
		return strings.TrimSuffix(base, ".git")
	}
	return filepath.Base(filepath.Dir(common))
}

// from resolves a path relative to dir.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

var (
	originSection = lazyregexp.New(`(?m)^\s*\[remote "origin"\]\s*$`)
	urlLine       = lazyregexp.New(`(?m)^\s*url\s*=\s*(\S+)\s*$`)
	nextSection   = lazyregexp.New(`(?m)^\s*\[`)
)

// keyOf returns the key of a repository.
func keyOf(common string) string {
	data, err := plainfile.Read(filepath.Join(common, "config"), mostConfig)
	text := string(data)
	if at := originSection.FindStringIndex(text); err == nil && at != nil {
		section := text[at[1]:]
		if end := nextSection.FindStringIndex(section); end != nil {
			section = section[:end[0]]
		}
		if m := urlLine.FindStringSubmatch(section); m != nil {
			return hash("remote", address(m[1]))
		}
	}
	if real, err := filepath.EvalSymlinks(common); err == nil {
		common = real
	}
	return hash("git", common)
}

var (
	scheme   = lazyregexp.New(`^[a-z+]+://`)
	userInfo = lazyregexp.New(`^[^@/]+@`)
)

// address normalizes the address of a remote: without scheme, user, credentials and ".git".
func address(url string) string {
	if !scheme.MatchString(url) && strings.Contains(url, ":") {
		url = strings.Replace(url, ":", "/", 1) // git@host:owner/name
	}
	url = userInfo.ReplaceAllString(scheme.ReplaceAllString(url, ""), "")
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}

func hash(what, name string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + name))
	return hex.EncodeToString(sum[:8])
}

// Tracked returns which of some files git tracks, by their names from the top of the working tree, submodules
// among them. Without git it returns none.
func (r repository) Tracked(ctx context.Context, names []string) (out []string, err error) {
	if _, err := os.Lstat(filepath.Join(r.Root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var asked, tops []string
	for _, name := range names {
		for name = filepath.ToSlash(name); name != "."; name = path.Dir(name) {
			asked = append(asked, name)
		}
		tops = append(tops, ":(icase,literal)"+asked[len(asked)-1])
	}
	c := git.Command(ctx, r.Root, append([]string{"ls-files", "-z", "--"}, slices.Compact(tops)...)...)
	var said bytes.Buffer
	c.Stderr = &said
	list, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) || bytes.Contains(said.Bytes(), []byte("not a git repository")) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask git which files of %s it has: %w: %s", r.Root, err, bytes.TrimSpace(said.Bytes()))
	}
	for has := range strings.SplitSeq(string(list), "\x00") {
		same := func(name string) bool { return strings.EqualFold(name, has) } // the same file where the file system ignores case
		if slices.ContainsFunc(asked, same) {
			out = append(out, has)
		}
	}
	return out, nil
}
