// Package project reads what a project and its user provide for agents: instructions (AGENTS.md or
// CLAUDE.md), skills, commands and settings.
//
// The project's files are hostile input: they cannot name a file outside of the project, their sizes are
// limited, and they may set less than the user may.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/trust"
)

// Options say where to look.
type Options struct {
	Dir  string // where the agent works, somewhere in the project
	Home string // the user's own folder, such as ~/.config/decant; empty: none

	// Trusted returns why what a file of the project says does not count where it chooses the model or the policy; nil where it does. No function means that it does not.
	Trusted func(*trust.File) error
}

// A Project is what was found.
type Project struct {
	Root string // the folder with .git around Dir; without one: Dir
	Dir  string // absolute

	Instructions []Document // the user's, then those of the project from its root to Dir, each followed by what it imports
	Skills       []Skill    // by name
	Commands     []Command  // by name
	Settings     Settings
	Warnings     []string // what was left out, and why
}

const (
	mostFile = 128 << 10 // bytes of one file
	mostText = 256 << 10 // bytes of all instructions
)

// Load reads a project. It leaves out unusable files with a warning. Unreadable settings are an error, which
// names file and line.
func Load(o Options) (*Project, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir}
	p.Root = p.rootOf(dir)
	own := tree{base: o.Home, user: true}
	theirs := tree{base: p.Root}
	if err := p.settle(own, theirs, o.Trusted); err != nil {
		return nil, err
	}
	p.instruct(own, theirs)
	p.findSkills(own, theirs)
	p.findCommands(own, theirs)
	return p, nil
}

// rootOf returns the folder around dir that has a .git, or dir. A folder above that belongs to somebody else is not the
// root: anybody can put one above, in /tmp for instance, and its instructions would be followed.
func (p *Project) rootOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		if _, err := os.Lstat(git); err == nil {
			if at == dir || !plainfile.OfOther(at) && !plainfile.OfOther(git) {
				return at
			}
			p.warn("%s: it belongs to another user, so what it says is left out; start in that folder to use it", at)
			return dir
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// warn records that something was left out.
func (p *Project) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// A tree is a folder; nothing outside of it can be read through it. Names in it have slashes.
type tree struct {
	base string // empty: there is none
	user bool   // it is the user's own
}

// path returns the full path of a file, for messages.
func (t tree) path(name string) string { return filepath.Join(t.base, filepath.FromSlash(name)) }

// within calls do with the files of the tree; links that lead outside do not open. Without the folder it does
// nothing.
func (t tree) within(do func(fs.FS) error) error {
	if t.base == "" {
		return nil
	}
	root, err := os.OpenRoot(t.base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root.FS())
}

// read returns a text of the tree. The error wraps fs.ErrNotExist if the file does not exist.
func (t tree) read(name string) (text string, err error) {
	found := false
	err = t.within(func(files fs.FS) error {
		found = true
		text, err = readText(files, name)
		return err
	})
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return text, err
}

// readText returns a file as text, within the size limit.
func readText(files fs.FS, name string) (string, error) {
	data, err := plainfile.ReadFS(files, name, mostFile)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // who asks says which file it is
	}
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data):
		return "", errors.New("it is not UTF-8 text")
	}
	return textOf(data), nil
}

// textOf returns a file as text, without what editors on Windows write.
func textOf(data []byte) string {
	text := strings.TrimPrefix(string(data), "\ufeff") // a mark of the encoding
	return strings.ReplaceAll(text, "\r\n", "\n")
}
