package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// KeepIn keeps what files are in another folder from now on, as Options.Keep does: that of the session that the tools work for next. What its
// model has read, and what its calls have changed, is what counts then. After an error nothing is kept, and so no file is changed.
func (s *Set) KeepIn(dir string) error {
	s.change.Lock()
	defer s.change.Unlock()
	if err := s.keep.use(dir); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	return nil
}

// CopyKept copies what was kept in one folder into another one, for a session that begins with what was said in that of the first. Where nothing
// was kept, nothing is copied.
func CopyKept(from, to string) error {
	log, err := os.ReadFile(filepath.Join(from, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(to, blobsName), 0o700)
	}
	var blobs []fs.DirEntry
	if err == nil {
		blobs, err = os.ReadDir(filepath.Join(from, blobsName))
	}
	for i := 0; i < len(blobs) && err == nil; i++ {
		err = linked(filepath.Join(from, blobsName, blobs[i].Name()), filepath.Join(to, blobsName, blobs[i].Name()))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(to, logName), log, 0o600) // last: what it names is there
	}
	if err != nil {
		return fmt.Errorf("tools: copy what files were: %w", err)
	}
	return nil
}

// linked gives what was kept a second name, since nobody changes it, or copies it where it can have only one.
func linked(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// room makes room for n more bytes: what was kept first goes first. The keep is locked.
func (k *keep) room(n int64) error {
	if k.held >= 0 && k.held+n <= k.most {
		k.held += n
		return nil
	}
	var all []fs.FileInfo
	entries, err := os.ReadDir(filepath.Join(k.dir, blobsName))
	if err != nil {
		return err
	}
	k.held = n
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			all = append(all, info)
			k.held += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for i := 0; i < len(all) && k.held > k.most; i++ {
		if err := os.Remove(filepath.Join(k.dir, blobsName, all[i].Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		k.held -= all[i].Size()
	}
	return nil
}
