// Package plainfile reads files that somebody else may have made, such as those of a repository: ordinary ones alone, and never more of one than
// the reader asked for. A pipe or a device in place of a file could be read for ever, and opening one may already do something.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrKind means that something is not an ordinary file.
var ErrKind = errors.New("it is not an ordinary file")

// Read returns a file of at most so many bytes. A link is followed.
func Read(name string, most int64) ([]byte, error) {
	return read(name, most, os.Stat, os.OpenFile)
}

// ReadIn returns a file below a folder, as Read does. No link leads out of the folder.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	return read(name, most, root.Stat, root.OpenFile)
}

// ReadFS returns a file of a file system, as Read does.
func ReadFS(files fs.FS, name string, most int64) ([]byte, error) {
	return read(name, most, func(name string) (fs.FileInfo, error) { return fs.Stat(files, name) },
		func(name string, _ int, _ fs.FileMode) (fs.File, error) { return files.Open(name) })
}

func read[F fs.File](name string, most int64, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (F, error)) ([]byte, error) {
	info, err := stat(name)
	if err == nil {
		err = fits(name, info, most)
	}
	if err != nil {
		return nil, err
	}
	f, err := open(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		err = fits(name, info, most) // it may be another one by now
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = tooLarge(name, most)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// fits says why a file is not read.
func fits(name string, info fs.FileInfo, most int64) error {
	switch {
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: name, Err: ErrKind}
	case info.Size() > most:
		return tooLarge(name, most)
	}
	return nil
}

func tooLarge(name string, most int64) error {
	return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is larger than %d KB", most>>10)}
}
