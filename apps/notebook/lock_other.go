//go:build !unix

package notebook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// stale is the age from which a lock counts as left by a killed process.
const stale = 30 * time.Second

// Lock excludes other processes until the returned function is called.
func (t workTree) Lock(ctx context.Context, name string) (unlock func(), err error) {
	dir, base, err := t.open(name)
	if err != nil {
		return nil, err
	}
	for {
		f, err := dir.OpenFile(base, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { f.Close(); dir.Remove(base); dir.Close() }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			dir.Close()
			return nil, t.told(name, err)
		}
		if info, err := dir.Lstat(base); err == nil && time.Since(info.ModTime()) > stale {
			dir.Remove(base)
			continue
		}
		select {
		case <-ctx.Done():
			dir.Close()
			return nil, fmt.Errorf("%s is held by another process: %w", t.path(name), context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}
