//go:build !linux

package notebook

import "os"

// swap replaces a file by another one.
func swap(dir *os.Root, temp, name string, _, _ []byte) error { return dir.Rename(temp, name) }
