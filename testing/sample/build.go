package sample

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/git"
	"github.com/decantdev/decant/internal/lazyregexp"
)

var (
	plainName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
	plainTag  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+/-]*$`)
)

// build makes a repository of patches, or finds it where it was made before.
func (s *Sample) build(folder string, r repo) (string, error) {
	names, err := fs.Glob(s.files, path.Join(r.Patches, "*.patch"))
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", fmt.Errorf("there are no patches in %s", r.Patches)
	}
	hash := sha256.New()
	var patches [][]byte
	for _, name := range names {
		data, err := fs.ReadFile(s.files, name)
		if err != nil {
			return "", err
		}
		patches = append(patches, data)
		fmt.Fprintf(hash, "%d\x00%s", len(data), data)
	}
	fmt.Fprint(hash, r.Tags) // maps are printed in the order of their keys
	dir := filepath.Join(folder, strings.ReplaceAll(r.Name, "/", "-")+"-"+hex.EncodeToString(hash.Sum(nil))[:12])
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(folder, "making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	if err := apply(made, names, patches, r.Tags); err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil {
		if _, there := os.Stat(filepath.Join(dir, ".git")); there != nil {
			return "", err
		} // somebody else has made it meanwhile
	}
	return dir, nil
}

// apply makes a repository in an empty folder.
func apply(dir string, names []string, patches [][]byte, tags map[string]int) error {
	if _, err := runGit(dir, nil, "init", "-q", "--initial-branch=main", "--template="); err != nil {
		return err
	}
	var commits []string
	for i, p := range patches {
		if _, err := runGit(dir, p, "am", "--quiet", "--committer-date-is-author-date", "--no-gpg-sign", "--keep-cr"); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		sha, err := runGit(dir, nil, "rev-parse", "HEAD")
		if err != nil {
			return err
		}
		commits = append(commits, sha)
	}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		n := tags[tag]
		if n < 1 || n > len(commits) {
			return fmt.Errorf("the tag %s stands behind patch %d of %d", tag, n, len(commits))
		}
		if _, err := runGit(dir, nil, "update-ref", "refs/tags/"+tag, commits[n-1]); err != nil {
			return err
		}
	}
	return nil
}

// runGit runs git in a folder, without any settings but these.
func runGit(dir string, in []byte, args ...string) (string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", errors.New("the programs of a sample are git repositories, and git is not installed")
	}
	c := git.Command(context.Background(), dir, append([]string{"-c", "core.autocrlf=false", "-c", "core.symlinks=false"}, args...)...)
	c.Env = append(c.Env, "GIT_COMMITTER_NAME=Sample", "GIT_COMMITTER_EMAIL=sample@example.com")
	c.Stdin = bytes.NewReader(in)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git %s: %s", args[0], cmp.Or(said, strconv.Quote(err.Error())))
	}
	return strings.TrimSpace(string(out)), nil
}
