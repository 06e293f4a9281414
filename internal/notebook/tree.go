package notebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Tree is a working tree, by its top; names in it are relative to that. Whoever commits to a repository may put links and pipes where a
// notebook has its files. So no link is followed, also none that stays within the tree: git's own files are there, and programs.
type workTree string

// ErrLink means that a link is in the place of a file or a folder.
var ErrLink = errors.New("it is a link, which the notebook does not follow: put a file or a folder in its place")

// path returns a name for people.
func (t workTree) path(name string) string { return filepath.Join(string(t), name) }

// told returns an error that names the file as people do.
func (t workTree) told(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", t.path(name), err)
}

// open returns the folder that a file is in, and what the file is called there. Without the folder the error is fs.ErrNotExist.
func (t workTree) open(name string) (dir *os.Root, base string, err error) {
	dir, err = t.walk(filepath.Dir(name), 0)
	return dir, filepath.Base(name), err
}

// walk opens a folder. What is missing of it is made, unless the mode is 0.
func (t workTree) walk(name string, mode fs.FileMode) (*os.Root, error) {
	dir, err := os.OpenRoot(string(t))
	if err != nil {
		return nil, err
	}
	at := ""
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(name)), "/") {
		at = path.Join(at, part)
		next, err := enter(dir, part, mode)
		dir.Close()
		if err != nil {
			return nil, t.told(at, err)
		}
		dir = next
	}
	return dir, nil
}

// enter opens a folder in another one.
func enter(dir *os.Root, part string, mode fs.FileMode) (*os.Root, error) {
	info, err := dir.Lstat(part)
	if mode != 0 && errors.Is(err, fs.ErrNotExist) {
		if err = dir.Mkdir(part, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = dir.Lstat(part)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, ErrLink
	case !info.IsDir():
		return nil, errors.New("it is not a folder")
	}
	return dir.OpenRoot(part)
}

// Has reports whether there is a file or a folder. It is an error if a link is in its place.
func (t workTree) Has(name string) (bool, error) {
	dir, base, err := t.open(name)
	if err == nil {
		defer dir.Close()
		var info fs.FileInfo
		if info, err = dir.Lstat(base); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = ErrLink
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, t.told(name, err)
}

// Mkdir makes a folder and those that it lies in, where they are missing.
func (t workTree) Mkdir(name string, mode fs.FileMode) error {
	dir, err := t.walk(name, mode)
	if err != nil {
		return err
	}
	return dir.Close()
}

// Remove deletes a file.
func (t workTree) Remove(name string) error {
	dir, base, err := t.open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return t.told(name, dir.Remove(base))
}
