package notebook

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mostSwaps is how often a file is put back that somebody else has written meanwhile.
const mostSwaps = 100

// swap puts a file in place of another one. Both change places at one moment, so that what stood there can be looked at:
// if it is not what was read, it is put back.
func swap(dir *os.Root, temp, name string, was, is []byte) error {
	at, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer at.Close()
	expected := was
	for n := range mostSwaps {
		err := unix.Renameat2(int(at.Fd()), temp, int(at.Fd()), name, unix.RENAME_EXCHANGE)
		if n == 0 && (errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS)) {
			return dir.Rename(temp, name) // the file system cannot exchange files
		}
		if err != nil {
			return err
		}
		out, err := read(dir, temp)
		switch {
		case err != nil:
			return err
		case !bytes.Equal(out, expected):
			expected, is = is, out // it goes back, in place of what stands there now
		case n == 0:
			return nil
		default:
			return errChanged
		}
	}
	return errors.New("it is written by somebody else all the time")
}
