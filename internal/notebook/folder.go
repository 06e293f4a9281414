package notebook

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"github.com/decantdev/decant/internal/plainfile"
)

// errChanged means that a file does not hold any longer what was read of it. Read it again.
var errChanged = errors.New("the file has changed meanwhile")

// mostFile is how many bytes a file of a notebook may have.
const mostFile = 16 << 20

// Read returns a file, and nil if there is none.
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

// read returns a file of a folder, and nil if there is none.
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

// Replace writes a file that holds was; nil: there is none. If it holds something else by now, the error is ErrChanged and
// it stays as it is.
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
	defer dir.Remove(temp) // it is gone if everything went well
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

// write writes a file beside another one, with its permissions.
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
