package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/layer"
	"github.com/decantdev/decant/internal/triage/sample"
)

// reader returns the repositories: those of a sample, those that are named, those of the settings, or the one here.
func (f *triageFlags) reader(taken *sample.Sample, room *triageRoom) (*code.Reader, error) {
	if taken != nil {
		dir, err := samples()
		if err != nil {
			return nil, err
		}
		repos, err := taken.Repos(dir)
		if err != nil {
			return nil, inputError{err}
		}
		return f.read(room, repos)
	}
	var repos []code.Repo
	for _, text := range f.Repo {
		name, dir, named := strings.Cut(text, "=")
		if !named {
			name, dir = "", text
		}
		if dir = cloneOf(dir); dir == "" {
			return nil, inputError{fmt.Errorf("--repo %s: it is no git repository", text)}
		}
		if name == "" {
			name = filepath.Base(dir)
		}
		repos = append(repos, code.Repo{Name: name, Dir: dir})
	}
	if len(f.Repo) == 0 {
		repos = room.set.Repos
	}
	if len(repos) == 0 {
		if dir := cloneOf("."); dir != "" {
			repos = append(repos, code.Repo{Name: filepath.Base(dir), Dir: dir})
		}
	}
	if len(repos) == 0 {
		return nil, usageError{errors.New("name a clone of the repository whose code runs: --repo DIR")}
	}
	return f.read(room, repos)
}

// samples returns the folder in which the repositories of samples are made.
func samples() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for what can be made again: %w", err)
	}
	return filepath.Join(dir, "decant", "samples"), nil
}

// read returns a reader of repositories.
func (f *triageFlags) read(r *triageRoom, repos []code.Repo) (*code.Reader, error) {
	o := code.Options{Repos: repos, Mask: r.masker.Code, Whole: !r.set.Off.On(layer.Caps), Cache: code.NewCache(code.CacheOptions{Off: !r.set.Off.On(layer.CodeCache)})}
	if token := cmp.Or(f.variable("GITHUB_TOKEN"), f.variable("GH_TOKEN")); token != "" {
		var err error
		if o.GitHub, err = code.GitHub(token, f.variable("GITHUB_API_URL"), r.pacer); err != nil {
			return nil, usageError{err}
		}
	}
	reader, err := code.New(o)
	if err != nil {
		return nil, inputError{err}
	}
	return reader, nil
}

// cloneOf returns the top folder of the repository that a folder is in; empty: it is in none.
func cloneOf(dir string) string {
	out, err := exec.Command("git", "-C", dir, "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
