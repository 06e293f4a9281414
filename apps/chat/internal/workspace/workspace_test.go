package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/chat/internal/workspace"
)

func open(t *testing.T) (*workspace.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := workspace.Open(workspace.Options{Dir: dir, Service: "test", Most: tools.Amount{Bytes: 1000, Files: 10}})
	if err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(dir, "decant-test")
}

// A copy has all that is in a folder, as it is, and nothing that happens to either reaches the other.
func TestCopy(t *testing.T) {
	s, dir := open(t)
	from, to := workspace.NewName(), workspace.NewName()
	if _, _, err := s.Put(from, "a/b", strings.NewReader("text")); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, from, "files")
	for _, err := range []error{
		os.Chmod(filepath.Join(files, "a", "b"), 0o750), os.Symlink("/etc/passwd", filepath.Join(files, "link")), os.Mkdir(filepath.Join(files, "empty"), 0o700),
		os.MkdirAll(filepath.Join(dir, from, "kept", "files"), 0o700), os.WriteFile(filepath.Join(dir, from, "kept", "files", "x"), []byte("was"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Copy(from, to); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(from, "a/b", strings.NewReader("changed")); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(from, to); err != nil { // it is there already
		t.Fatal(err)
	}
	there := filepath.Join(dir, to, "files")
	b, err := os.ReadFile(filepath.Join(there, "a", "b"))
	info, fault := os.Stat(filepath.Join(there, "a", "b"))
	if err != nil || fault != nil || string(b) != "text" || info.Mode().Perm() != 0o750 {
		t.Errorf("the copy holds %q, %v, %v, %v", b, info.Mode(), err, fault)
	}
	if link, err := os.Readlink(filepath.Join(there, "link")); link != "/etc/passwd" {
		t.Errorf("the link leads to %q, %v", link, err)
	}
	if _, err := os.Stat(filepath.Join(there, "empty")); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, to, "kept", "files", "x")); string(b) != "was" {
		t.Errorf("kept is %q, %v", b, err)
	}
	if _, _, err := s.Get(to, "link"); !errors.Is(err, workspace.ErrKind) {
		t.Errorf("a link in a copy: %v", err)
	}
}

// What is refused leaves nothing behind.
func TestPutIsAllOrNothing(t *testing.T) {
	s, _ := open(t)
	name := workspace.NewName()
	if _, _, err := s.Put(name, "a", strings.NewReader("short")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Put(name, "a", strings.NewReader(strings.Repeat("x", 1001))); !errors.Is(err, tools.ErrTooMuch) {
		t.Errorf("too much: %v", err)
	}
	for _, path := range []string{"..", "../x", "/x", "a/../../x", "a/b", "", ".", "x\x00"} {
		if _, _, err := s.Put(name, path, strings.NewReader("x")); !errors.Is(err, workspace.ErrPath) && !errors.Is(err, workspace.ErrKind) {
			t.Errorf("%q: %v", path, err)
		}
	}
	files, sum, err := s.List(name)
	if err != nil || len(files) != 1 || files[0].Size != 5 || sum != (tools.Amount{Bytes: 5, Files: 1}) {
		t.Errorf("%+v, %+v, %v", files, sum, err)
	}
	if err := s.Delete(name, "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("delete what is not there: %v", err)
	}
}

// Only what nobody names is collected, and nothing where the names cannot be read.
func TestCollect(t *testing.T) {
	s, dir := open(t)
	for _, name := range []string{"USED", "LEFT"} {
		if _, err := s.Files(name); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("the database cannot be read")
	if err := s.Collect(func() (map[string]bool, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	late := func() (map[string]bool, error) {
		_, err := s.Files("LATE") // a session begins meanwhile
		return map[string]bool{"USED": true}, err
	}
	if err := s.Collect(late); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "LATE" || entries[1].Name() != "USED" {
		t.Errorf("%v, %v", entries, err)
	}
	for _, bad := range []string{"", "..", "a/b", "../../x"} {
		if err := s.Remove(bad); err == nil {
			t.Errorf("removed %q", bad)
		}
	}
}
