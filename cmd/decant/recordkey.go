package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
)

// keySize is the length in bytes of the key that seals records in files.
const keySize = 32

// recordKey returns the key by which this user's Decant recognises its own records in files. It is made in the
// user's settings folder when it is first needed. If that is impossible, recordKey returns nil: then a record that
// is compacted again counts as ordinary text, and a note says so.
func recordKey(s *process.Process) []byte {
	dir, err := userdir.Config(s.Getenv)
	if err == nil {
		var key []byte
		if key, err = keyAt(filepath.Join(dir, "record.key")); err == nil {
			return key
		}
	}
	fmt.Fprintf(s.Err, "note: the settings folder has no usable key, so later runs will not recognise the record in the result as Decant's own: %v\n", err)
	return nil
}

// keyAt returns the key in a file, which is made if it does not exist.
func keyAt(name string) ([]byte, error) {
	key, err := os.ReadFile(name)
	switch {
	case err == nil && len(key) != keySize:
		return nil, fmt.Errorf("%s has %d bytes, want %d: remove it to get a new one", name, len(key), keySize)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	key = make([]byte, keySize)
	rand.Read(key) // never fails, see its documentation
	f, err := os.CreateTemp(filepath.Dir(name), "*.tmp")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(key)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	// A link makes the complete file visible at once, and cannot replace a key that another process has just made.
	if err := os.Link(f.Name(), name); errors.Is(err, fs.ErrExist) {
		return os.ReadFile(name)
	} else if err != nil {
		return nil, err
	}
	return key, nil
}
