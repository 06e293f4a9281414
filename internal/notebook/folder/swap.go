//go:build !linux

package folder

import "os"

// swap puts a file in place of another one.
func swap(temp, name string, _, _ []byte) error { return os.Rename(temp, name) }
