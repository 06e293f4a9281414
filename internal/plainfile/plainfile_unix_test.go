//go:build unix

package plainfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/decantdev/decant/internal/plainfile"
)

// A pipe that nobody writes to would be waited for.
func TestReadOpensNeitherPipesNorDevices(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link, "/dev/zero"} {
		if _, err := plainfile.Read(name, 1<<10); !errors.Is(err, plainfile.ErrKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
