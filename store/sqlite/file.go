package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/decantdev/decant/store"
)

// createFile makes sure that the file exists and, if it is new, that only its owner can read it, at the end of a symbolic
// link, too; SQLite gives its journal files the mode of the database.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if _, err = os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // a link that leads nowhere yet
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// journals are what SQLite keeps beside a database, by the ends of their names.
var journals = [...]string{"-wal", "-shm"}

// seclude takes the files that there are already from everybody but their owner, if all the world may read them. Files
// that only a group shares are left as they are: somebody has wanted that.
func seclude(path string) error {
	if runtime.GOOS == "windows" { // files have no such modes there
		return nil
	}
	var errs []error
	for _, end := range append([]string{""}, journals[:]...) {
		info, err := os.Stat(path + end)
		if err != nil || info.Mode().Perm()&0o007 == 0 {
			continue
		}
		if err := os.Chmod(path+end, info.Mode().Perm()&^0o077); err != nil {
			errs = append(errs, fmt.Errorf("everybody can read %s (mode %o), which holds all transcripts, and that cannot be changed: %w", path+end, info.Mode().Perm(), err))
		}
	}
	return errors.Join(errs...)
}

// An anchorage is the files that a database was opened from: what is written is kept only as long as they stand under
// their names.
type anchorage map[string]fs.FileInfo

// anchoredAt returns the files of an open database.
func anchoredAt(path string) (anchorage, error) {
	a := anchorage{}
	for _, name := range []string{path, path + journals[0]} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) && name != path {
			continue
		}
		if err != nil {
			return nil, err
		}
		os.SameFile(info, info) // on Windows it is found out now which file this is
		a[name] = info
	}
	return a, nil
}

// moved returns an error when one of the files was removed or replaced.
func (a anchorage) moved() error {
	for name, was := range a {
		switch now, err := os.Stat(name); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s was removed: %w", name, store.ErrMoved)
		case err == nil && !os.SameFile(was, now):
			return fmt.Errorf("%s was replaced: %w", name, store.ErrMoved)
		}
	}
	return nil
}

// strangers reports whether another database has its journal where that of this one was.
func (a anchorage) strangers() bool {
	for name, was := range a {
		if !strings.HasSuffix(name, journals[0]) {
			continue
		}
		if now, err := os.Stat(name); err == nil && !os.SameFile(was, now) {
			return true
		}
	}
	return false
}

// Complete reports whether a file is a database of the length that its header says. A file that is still being copied
// is not.
func Complete(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, 100) // the header, see https://www.sqlite.org/fileformat2.html
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(magic)]) != magic {
		return false
	}
	page, pages := int64(binary.BigEndian.Uint16(head[16:])), int64(binary.BigEndian.Uint32(head[28:]))
	if page == 1 {
		page = 1 << 16
	}
	if string(head[24:28]) != string(head[92:96]) { // then the number of pages does not count
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Size() >= page*pages
}
