package notebook

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/internal/plainfile"
)

// A workTree is the top of a working tree; names are relative to it. Whoever commits to a repository can put
// links and pipes in place of a notebook's files. So no link is followed, not even within the tree: git's own
// files and programs are there.
//
// A file is replaced as a whole, and only if it still has the text that was read: what an editor saved
// meanwhile is never lost. One process writes at a time, see Lock.
type workTree string

// ErrLink means that a link is in the place of a file or a folder.
var ErrLink = errors.New("it is a link, which the notebook does not follow: put a file or a folder in its place")

// path returns the full path of a file, for messages.
func (t workTree) path(name string) string { return filepath.Join(string(t), name) }

// told adds the file to an error.
func (t workTree) told(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", t.path(name), err)
}

// open opens the folder of a file and returns the file's name in it. Without the folder the error is fs.ErrNotExist.
func (t workTree) open(name string) (dir *os.Root, base string, err error) {
	dir, err = t.walk(filepath.Dir(name), 0)
	return dir, filepath.Base(name), err
}

// walk opens a folder. It makes missing ones with a mode, unless that is 0.
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

// Has reports whether a file or a folder exists. A link in its place is an error.
func (t workTree) Has(name string) (bool, error) {
	dir, base, err := t.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer dir.Close()
	info, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		err = ErrLink
	}
	return err == nil, t.told(name, err)
}

// Mkdir makes a folder and its missing parents.
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

// errChanged means that a file is no longer what was read. Read it again.
var errChanged = errors.New("the file has changed meanwhile")

// mostFile is the size limit of a file, in bytes.
const mostFile = 16 << 20

// Read returns a file, or nil if there is none.
func (t workTree) Read(name string) ([]byte, error) {
	dir, base, err := t.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	text, err := read(dir, base)
	return text, t.told(name, err)
}

// read returns a file of a folder, or nil if there is none.
func read(dir *os.Root, base string) ([]byte, error) {
	info, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, ErrLink
	}
	return plainfile.ReadIn(dir, base, mostFile)
}

// Replace replaces was, the text of a file, by is; nil means that there is no file yet. If the file has
// another text by now, it stays as it is and the error is errChanged.
func (t workTree) Replace(name string, was, is []byte) error {
	dir, base, err := t.open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = replace(dir, base, was, is)
	if err == errChanged {
		return err
	}
	return t.told(name, err)
}

func replace(dir *os.Root, base string, was, is []byte) error {
	have, err := read(dir, base)
	if err != nil {
		return err
	}
	temp, err := write(dir, base, is)
	if err != nil {
		return err
	}
	defer dir.Remove(temp) // after a success it is gone already
	if was == nil {
		err := dir.Link(temp, base) // fails if there is a file by now
		if errors.Is(err, fs.ErrExist) {
			return errChanged
		}
		return err
	}
	if have == nil || !bytes.Equal(have, was) {
		return errChanged
	}
	return swap(dir, temp, base, was, is)
}

// write writes a temporary file with the permissions of another one.
func write(dir *os.Root, base string, text []byte) (string, error) {
	temp := ".decant-" + rand.Text()
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	mode := fs.FileMode(0o600)
	if info, err := dir.Lstat(base); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, dir.Remove(temp))
	}
	return temp, nil
}
