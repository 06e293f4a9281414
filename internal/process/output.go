package process

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Output writes data to the named file, or to standard output if the name is empty or "-". It replaces a
// file as a whole or not at all, and compresses it if its name ends in .gz. A link stays a link. If the name
// is a device or the like, Output writes into it.
func (s *Process) Output(name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(s.Out)
	}
	if filepath.Ext(name) == ".gz" {
		write = packed(write)
	}
	if err := ReplaceFile(s.Path(name), write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// packed returns a function that writes the same data compressed.
func packed(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}

// ReplaceFile writes a file so that nobody sees half of it.
func ReplaceFile(name string, write func(io.Writer) error) error {
	mode := os.FileMode(0o600) // transcripts are private
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return writeInto(name, write)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".decant-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it was renamed if everything went well
	if err := errors.Join(write(f), f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeInto writes into something that exists and cannot be replaced.
func writeInto(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// SameFile reports whether two names lead to one existing file.
func (s *Process) SameFile(a, b string) bool {
	if a == "" || a == "-" || b == "" || b == "-" {
		return false
	}
	x, errA := os.Stat(s.Path(a))
	y, errB := os.Stat(s.Path(b))
	return errA == nil && errB == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}
