package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/decantdev/decant/agent/tools"
)

// Conditions that callers branch on. Test with errors.Is. Where a folder or a file is missing, the error wraps fs.ErrNotExist; where there is no
// room, tools.ErrTooMuch.
var (
	// ErrPath means that a path is not one of a file in the folder.
	ErrPath = errors.New("it is not the path of a file in this folder, such as notes/plan.md")

	// ErrKind means that what stands at a path is no file: a folder, a symbolic link, a pipe, a device.
	ErrKind = errors.New("it is not a file")
)

// A File is a file of a session.
type File struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// open opens the files of a folder.
func (s *Store) open(name string) (*os.Root, error) {
	dir, err := s.Files(name)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// List returns the files of a folder, by their paths, and what all that is in it amounts to. Links are not listed.
func (s *Store) List(name string) (files []File, sum tools.Amount, err error) {
	root, err := s.open(name)
	if err != nil {
		return nil, sum, err
	}
	defer root.Close()
	if sum, err = tools.Measure(root, tools.Amount{}); err != nil {
		return nil, sum, err
	}
	files = []File{}
	err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return ignoreGone(err)
		}
		info, err := e.Info()
		if err == nil {
			files = append(files, File{Path: p, Size: info.Size(), Modified: info.ModTime()})
		}
		return ignoreGone(err)
	})
	return files, sum, err
}

// ignoreGone returns an error, unless it says that something is no longer there.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checked says why a path is none of a file: no part of it may be a link, and what it leads through are folders. What is not there is no error.
func checked(root *os.Root, name string) error {
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q: %w", name, ErrPath)
	}
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EINVAL):
			return fmt.Errorf("%q: %w", name, ErrPath)
		case err != nil:
			return err
		case i < len(name) && !info.IsDir(), i == len(name) && !info.Mode().IsRegular():
			return fmt.Errorf("%s: %w", name[:i], ErrKind)
		}
	}
	return nil
}

// Get opens a file to be read. The caller closes it.
func (s *Store) Get(name, file string) (*os.File, fs.FileInfo, error) {
	root, err := s.open(name)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if err := checked(root, file); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		named, fault := root.Lstat(file)
		if err = fault; err == nil && (!info.Mode().IsRegular() || !os.SameFile(info, named)) { // it was replaced meanwhile, such as by a link
			err = fmt.Errorf("%s: %w", file, ErrKind)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Put makes what r holds a file, at once: until all of it is there, the file stays as it was. It reports whether the file is new.
func (s *Store) Put(name, file string, r io.Reader) (f File, made bool, err error) {
	root, err := s.open(name)
	if err != nil {
		return f, false, err
	}
	defer root.Close()
	if err := checked(root, file); err != nil {
		return f, false, err
	}
	room, made, err := s.room(root, file)
	if err != nil {
		return f, false, err
	}
	if err := root.MkdirAll(path.Dir(file), 0o755); err != nil {
		return f, false, err
	}
	temp := path.Join(path.Dir(file), ".decant-"+rand.Text())
	if err = write(root, temp, r, room); err == nil {
		err = root.Rename(temp, file)
	}
	if err != nil {
		return f, false, errors.Join(err, ignoreGone(root.Remove(temp)))
	}
	info, err := root.Lstat(file)
	if err != nil {
		return f, made, err
	}
	return File{Path: file, Size: info.Size(), Modified: info.ModTime()}, made, nil
}

// room returns how many bytes a file may have, and whether there is none at its path yet.
func (s *Store) room(root *os.Root, file string) (room int64, made bool, err error) {
	sum, err := tools.Measure(root, s.opts.Most)
	if err != nil {
		return 0, false, err
	}
	room = s.opts.Most.Bytes - sum.Bytes
	info, err := root.Lstat(file)
	if err == nil {
		return room + info.Size(), false, nil
	}
	for at := file; at != "."; at = path.Dir(at) {
		if _, err := root.Lstat(at); err != nil {
			sum.Files++
		}
	}
	return room, true, sum.Within(s.opts.Most)
}

// write writes a new file of at most room bytes.
func write(root *os.Root, name string, r io.Reader, room int64) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, room+1))
	if n > room {
		err = fmt.Errorf("%w: the file has more than the %d bytes that are left", tools.ErrTooMuch, room)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// Delete removes a file.
func (s *Store) Delete(name, file string) error {
	root, err := s.open(name)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := checked(root, file); err != nil {
		return err
	}
	return root.Remove(file)
}
