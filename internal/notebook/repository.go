package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/plainfile"
)

// A Repository is one whose notebook is meant.
type repository struct {
	Root string // the top of the working tree, or the folder itself where there is no git
	Name string // what the folder is called that git's common directory is in: the same for all its worktrees
	Key  string // the same for all its worktrees, subfolders and clones on this machine
}

// findRepository returns the repository of a folder. The key is made of the address of the remote "origin" where there is one, so
// that clones share a notebook, and otherwise of the path of git's common directory, so that worktrees do. Clones that
// have no remote are repositories of their own: nothing says whether they will stay alike. Without git the
// key is made of the folder's path.
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

// What files of git may have in bytes.
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

// nameOf returns what a repository is called, from git's common directory of it. A bare one is named for itself.
func nameOf(common string) string {
	if base := filepath.Base(common); base != ".git" {
		return strings.TrimSuffix(base, ".git")
	}
	return filepath.Base(filepath.Dir(common))
}

// from returns a path as it is seen from dir.
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

// address returns the address of a remote, the same for the ways of writing it: without scheme, user, credentials and
// ".git".
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
