//go:build unix

package notebook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock excludes other processes until the returned function is called. The system releases the lock of a
// killed process.
func (t workTree) Lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := t.lockFile(name)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("%s is held by another process: %w", t.path(name), context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", t.path(name), err)
	}
	return func() { f.Close() }, nil
}

// lockFile opens or creates the file of a lock. A pipe in its place does no harm: nothing is read from it.
func (t workTree) lockFile(name string) (*os.File, error) {
	if _, err := t.Has(name); err != nil {
		return nil, err // a link
	}
	dir, base, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.OpenFile(base, os.O_RDWR|os.O_CREATE|unix.O_NONBLOCK, 0o600)
	return f, t.told(name, err)
}
