package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/agent/tools"
)

// partial is how a folder is called until all of a copy is in it.
const partial = "-copy"

// Copy makes a folder a copy of another one: of its files, folders and links, and of what is kept of changes. Links stay what they are. One that
// is there already stays as it is; where there is nothing to copy, an empty one is made.
func (s *Store) Copy(from, to string) error {
	if _, err := os.Lstat(s.at(to)); err == nil {
		return nil
	}
	if _, err := os.Lstat(s.at(from)); errors.Is(err, fs.ErrNotExist) {
		_, err := s.Files(to)
		return err
	}
	part := to + partial
	err := s.Remove(part)
	for name, most := range map[string]int64{filesName: s.opts.Most.Bytes, keptName: math.MaxInt64 - 1} { // what is kept has a limit of its own
		if err == nil {
			err = copyFolder(filepath.Join(s.at(from), name), filepath.Join(s.at(part), name), most)
		}
	}
	if err == nil {
		err = os.Rename(s.at(part), s.at(to))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("workspace: copy a folder: %w", err), s.Remove(part))
	}
	return nil
}

// copyFolder copies what is in a folder. A folder that is not there is empty.
func copyFolder(from, to string, left int64) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	source, err := os.OpenRoot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	if _, err := tools.Measure(source, tools.Amount{}); err != nil { // it also makes folders readable
		return err
	}
	return fs.WalkDir(source.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return ignoreGone(err)
		}
		return ignoreGone(copyEntry(source, target, name, e, &left))
	})
}

// copyEntry copies one thing. What is neither file, folder nor link stays behind.
func copyEntry(source, target *os.Root, name string, e fs.DirEntry, left *int64) error {
	info, err := source.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return target.Mkdir(name, 0o700)
	case info.Mode().Type() == fs.ModeSymlink:
		to, err := source.Readlink(name)
		if err != nil {
			return err
		}
		return target.Symlink(to, name)
	case !info.Mode().IsRegular():
		return nil
	}
	if info.Mode().Perm()&0o400 == 0 {
		if err := source.Chmod(name, info.Mode().Perm()|0o400); err != nil {
			return err
		}
	}
	f, err := source.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(target, name, f, *left); err != nil {
		return err
	}
	*left -= info.Size()
	return target.Chmod(name, info.Mode().Perm())
}
