package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/trust"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t *testing.T, name string) *trust.File {
	t.Helper()
	f, err := trust.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A yes is for one file at its place with what it says. The same file by another name is the same.
func TestAYesIsForOneFileAsItIs(t *testing.T) {
	dir := t.TempDir()
	book := trust.Book{Dir: filepath.Join(dir, "home", "trusted")}
	name := write(t, filepath.Join(dir, "a", "x.yaml"), "one")
	if f := read(t, name); book.Has(f) {
		t.Fatal("nobody has said yes")
	} else if err := book.Add(f); err != nil || !book.Has(f) {
		t.Fatalf("a yes is not kept: %v", err)
	}
	if book.Has(read(t, write(t, filepath.Join(dir, "b", "x.yaml"), "one"))) {
		t.Error("a yes counts elsewhere")
	}
	if os.Symlink("a", filepath.Join(dir, "link")) == nil && !book.Has(read(t, filepath.Join(dir, "link", "x.yaml"))) {
		t.Error("a yes does not count by another way to the file")
	}
	t.Chdir(filepath.Join(dir, "a"))
	if !book.Has(read(t, "x.yaml")) {
		t.Error("a yes does not count from the folder of the file")
	}
	for _, text := range []string{"one\n", "on", "", "One"} {
		if book.Has(read(t, write(t, name, text))) {
			t.Errorf("a yes counts for %q", text)
		}
	}
	if !book.Has(read(t, write(t, name, "one"))) {
		t.Error("a yes does not count for what it was said to")
	}
}

// A hash stands for files as they are named from their folder, with what they say, and nothing of one can pass for
// another.
func TestHash(t *testing.T) {
	dir := t.TempDir()
	hash := func(at string, files ...string) string {
		t.Helper()
		var all []*trust.File
		for i := 0; i < len(files); i += 2 {
			all = append(all, read(t, write(t, filepath.Join(dir, at, files[i]), files[i+1])))
		}
		h, err := trust.Hash(filepath.Join(dir, at), all...)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	same := hash("one", "a", "x", "b", "y")
	if got := hash("two", "a", "x", "b", "y"); got != same {
		t.Errorf("a copy of a folder has another hash")
	}
	for _, files := range [][]string{{"a", "x"}, {"a", "x", "b", "z"}, {"a", "x", "c", "y"}, {"a", "y", "b", "x"}, {"a", "x\"b\" 1\ny"}} {
		if hash("three", files...) == same {
			t.Errorf("%q has the same hash", files)
		}
	}
}

// What is no file, or has no end, is not read.
func TestWhatIsNotRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := trust.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := trust.Read(dir); err == nil || !strings.Contains(err.Error(), "it is not an ordinary file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := trust.Read(write(t, filepath.Join(dir, "large"), strings.Repeat("x", 1<<20+1))); err == nil || !strings.Contains(err.Error(), "larger than 1024 KB") {
		t.Errorf("a large file: %v", err)
	}
	if os.Symlink("/dev/zero", filepath.Join(dir, "zero")) == nil {
		if _, err := trust.Read(filepath.Join(dir, "zero")); err == nil {
			t.Error("a device is read")
		}
	}
}

// A file lies in a repository by its name, and by where its links lead.
func TestRepository(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "clone", ".git", "HEAD"), "")
	write(t, filepath.Join(dir, "tree", ".git"), "gitdir: elsewhere\n")
	in, out := write(t, filepath.Join(dir, "clone", "a", "x"), ""), write(t, filepath.Join(dir, "x"), "")
	for name, want := range map[string]string{in: "clone", filepath.Dir(in): "clone", filepath.Join(dir, "clone"): "clone", filepath.Join(dir, "tree", "none"): "tree", out: ""} {
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got := trust.Repository(name); got != want {
			t.Errorf("%s lies in %q, want %q", name, got, want)
		}
	}
	link, inner := filepath.Join(dir, "link"), filepath.Join(dir, "clone", "link")
	if os.Symlink(in, link) != nil || os.Symlink(out, inner) != nil {
		t.Skip("no links here")
	}
	if trust.Repository(link) == "" || trust.Repository(inner) == "" {
		t.Error("a link makes a repository's file another's")
	}
}

func TestObeyed(t *testing.T) {
	for name, want := range map[string]bool{
		".git/config": true, "a/.git/hooks/x": true, ".claude/settings.json": true, "AGENTS.md": true, "sub/agents.MD": true, ".vscode": true, ".github/workflows/x.yml": true, "./.envrc": true, "a/../.mcp.json": true,
		"main.go": false, "git/config": false, ".gitignore": false, "docs/AGENTS.md.txt": false, "": false, ".": false, "..": false, "claude/x": false,
	} {
		if got := trust.Obeyed(name); got != want {
			t.Errorf("Obeyed(%q) is %t", name, got)
		}
	}
}
