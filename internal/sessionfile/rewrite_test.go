package sessionfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A backup never replaces another one, and holds what was there when it was made.
func TestBackups(t *testing.T) {
	f := &File{Path: filepath.Join(t.TempDir(), "s.jsonl")}
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	if err := os.WriteFile(f.Path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, content := range []string{"two", "three", "four"} {
		info, err := os.Stat(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := f.Rewrite(info, []byte(content), now)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for i, want := range []string{"one", "two", "three"} {
		if got, err := os.ReadFile(names[i]); err != nil || string(got) != want {
			t.Errorf("%s holds %q, want %q: %v", names[i], got, want, err)
		}
	}
	if got, err := os.ReadFile(f.Path); err != nil || string(got) != "four" {
		t.Errorf("the file holds %q: %v", got, err)
	}
}

// A file that has changed since it was read keeps its content, and gets no backup.
func TestAChangedFileIsLeftAlone(t *testing.T) {
	f := &File{Path: filepath.Join(t.TempDir(), "s.jsonl")}
	if err := os.WriteFile(f.Path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path, []byte("one and two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if backup, err := f.Rewrite(info, []byte("less"), time.Now()); err == nil {
		t.Errorf("it was rewritten, and its backup is %s", backup)
	}
	if got, err := os.ReadFile(f.Path); err != nil || string(got) != "one and two" {
		t.Errorf("the file holds %q: %v", got, err)
	}
}
