//go:build unix

package plainfile

import (
	"os"
	"syscall"
)

// OfOther reports whether a file or folder that is there belongs to another user than that of this process, root apart.
// It does not follow a link.
func OfOther(name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Getuid()
}
