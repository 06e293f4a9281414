package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/decantdev/decant/internal/notebook/folder"
)

func TestReplace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.md")
	if err := folder.Replace(name, nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := folder.Replace(name, nil, []byte("two")); !errors.Is(err, folder.ErrChanged) {
		t.Errorf("a file that is there by now: %v", err)
	}
	if err := folder.Replace(name, []byte("other"), []byte("two")); !errors.Is(err, folder.ErrChanged) {
		t.Errorf("a file that has changed: %v", err)
	}
	if text, _ := os.ReadFile(name); string(text) != "one" {
		t.Errorf("it holds %q", text)
	}
	if err := folder.Replace(name, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if text, _ := os.ReadFile(name); string(text) != "two" || len(entries) != 1 {
		t.Errorf("it holds %q, beside %v, %v", text, entries, err)
	}
}
