package sessionfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/decantdev/decant/internal/process"
)

// Rewrite replaces the content of a session's file, of which info was read before its content, and keeps the original file
// beside it. It returns the name of that, which has the time now in it. A file that has changed since then is left alone.
func (f *File) Rewrite(info fs.FileInfo, content []byte, now time.Time) (backup string, err error) {
	if is, err := os.Stat(f.Path); err != nil || is.Size() != info.Size() || !is.ModTime().Equal(info.ModTime()) {
		return "", fmt.Errorf("%s changed meanwhile and was left alone: end the agent first", f.Path)
	}
	if backup, err = backUp(f.Path, now); err != nil {
		return "", err
	}
	err = process.ReplaceFile(f.Path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("write %s: %w", f.Path, err)
	}
	return backup, nil
}

// backUp keeps the original file beside it under a name that no agent takes for a session, and returns that
// name. It copies the content only if the file system cannot give a file two names.
func backUp(path string, now time.Time) (string, error) {
	stamp := path + now.UTC().Format(".20060102T150405Z")
	for n := 1; ; n++ {
		name := stamp + ".bak"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.bak", stamp, n)
		}
		err := os.Link(path, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = copyFile(path, name)
		}
		switch {
		case err == nil:
			return name, nil
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("back up: %w", err)
		}
	}
}

// copyFile copies a file to a new file.
func copyFile(from, to string) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	return errors.Join(err, f.Close())
}
