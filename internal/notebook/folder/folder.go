// Package folder reads and writes the files of a notebook while people edit them.
//
// A file is replaced as a whole, and only while it still holds what was read: what an editor has saved meanwhile is never
// lost. One process writes at a time.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged means that a file does not hold any longer what was read of it. Read it again.
var ErrChanged = errors.New("the file has changed meanwhile")

// mostFile is how many bytes a file of a notebook may have.
const mostFile = 16 << 20

// Read returns a file, and nil if there is none.
func Read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", name)
	case info.Size() > mostFile:
		return nil, fmt.Errorf("%s is larger than %d MB", name, mostFile>>20)
	}
	text, err := os.ReadFile(name)
	if text == nil && err == nil {
		text = []byte{}
	}
	return text, err
}

// Replace writes a file that holds was; nil: there is none. If it holds something else by now, the error is ErrChanged and
// it stays as it is.
func Replace(name string, was, is []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a link stays a link
	}
	temp, err := write(name, is)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // it is gone if everything went well
	if was == nil {
		err := os.Link(temp, name) // fails if there is a file by now
		if errors.Is(err, fs.ErrExist) {
			return ErrChanged
		}
		return err
	}
	have, err := Read(name)
	if err != nil {
		return err
	}
	if have == nil || !bytes.Equal(have, was) {
		return ErrChanged
	}
	return swap(temp, name, was, is)
}

// write writes a file beside another one, with its permissions.
func write(name string, text []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".decant-*")
	if err != nil {
		return "", err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
