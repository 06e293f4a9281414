package notebook

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mostSwaps is how often a file is put back that another process wrote meanwhile.
const mostSwaps = 100

// swap replaces a file by another one. It exchanges both atomically and then looks at the old file: if that
// is not what was read, an editor saved it meanwhile, and swap puts it back.
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
			expected, is = is, out // put it back, in place of what is there now
		case n == 0:
			return nil
		default:
			return errChanged
		}
	}
	return errors.New("another process keeps writing it")
}
