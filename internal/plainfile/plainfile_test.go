package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/plainfile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.WriteFile(filepath.Join(dir, "a"), make([]byte, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		most int64
		want error  // nil: see text
		text string // of the error; empty: there is none
	}{
		{"a", 2048, nil, ""},
		{"a", 2047, nil, "it is larger than 1 KB"},
		{"none", 1, fs.ErrNotExist, "none"},
		{".", 1, plainfile.ErrKind, "it is not an ordinary file"},
	} {
		_, byName := plainfile.Read(filepath.Join(dir, tt.name), tt.most)
		_, within := plainfile.ReadIn(root, tt.name, tt.most)
		_, ofSystem := plainfile.ReadFS(os.DirFS(dir), tt.name, tt.most)
		for _, err := range []error{byName, within, ofSystem} {
			switch {
			case tt.text == "" && err != nil, tt.text != "" && (err == nil || !strings.Contains(err.Error(), tt.text)), tt.want != nil && !errors.Is(err, tt.want):
				t.Errorf("%s, at most %d bytes: %v", tt.name, tt.most, err)
			}
		}
	}
}
