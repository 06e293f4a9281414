package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// output writes data to the named file, or to standard output if the name is empty or "-". It replaces a
// file as a whole or not at all, and compresses it if its name ends in .gz. A link stays a link. If the name
// is a device or the like, output writes into it.
func (s *streams) output(name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(s.out)
	}
	if filepath.Ext(name) == ".gz" {
		write = packed(write)
	}
	if err := replaceFile(name, write); err != nil {
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

// replaceFile writes a file so that nobody sees half of it.
func replaceFile(name string, write func(io.Writer) error) error {
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

// sameFile reports whether two names lead to one existing file.
func sameFile(a, b string) bool {
	if a == "" || a == "-" || b == "" || b == "-" {
		return false
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}
