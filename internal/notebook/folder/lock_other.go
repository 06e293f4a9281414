//go:build !unix

package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// stale is how old a lock is whose process must have been killed.
const stale = 30 * time.Second

// Lock keeps other processes from writing until the returned function is called.
func Lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { f.Close(); os.Remove(name) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > stale {
			os.Remove(name)
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s is held by another process: %w", name, context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}
