//go:build unix

package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
)

// fuzzed returns tools on a project with a secret beside it and links that lead there.
func fuzzed(f *testing.F) *Set {
	f.Helper()
	top, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	dir := filepath.Join(top, "project")
	for name, text := range map[string]string{"secret": "SECRET", "project/a/b": "text\n", "project/.env": "SECRET"} {
		name = filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	for link, to := range map[string]string{"up": "..", "a/up": "../..", "file": "../secret", "env": ".env", "self": ".", "abs": top} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			f.Fatal(err)
		}
	}
	s, err := New(Options{Dir: dir, Hidden: []string{"**/.env"}, Shell: Shell{Off: true}, Fetch: Fetch{Off: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	return s
}

// call calls a tool. It returns nothing where it fails.
func (s *Set) call(t *testing.T, tool string, args any) string {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Skip("no call has such arguments")
	}
	for _, have := range s.Tools() {
		if have.Name == tool {
			r, err := have.Run(context.Background(), &agent.Call{ID: "c", Tool: tool, Arguments: b})
			if err != nil {
				return ""
			}
			return r.Text
		}
	}
	t.Fatalf("there is no tool %s", tool)
	return ""
}

// Whatever a path is, nothing outside of the project is read, nothing that is hidden, and nothing is written outside.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"a/b", "../secret", "up/secret", "a/up/secret", "file", "env", ".env", "self/self/.env", "abs/secret", "/proc/self/root", "a//../up/./secret", ".ENV", "a\\b"} {
		f.Add(p)
	}
	s := fuzzed(f)
	top := filepath.Dir(s.files.real)
	f.Fuzz(func(t *testing.T, path string) {
		for tool, args := range map[string]any{"read": readArgs{FilePath: path}, "grep": grepArgs{Pattern: ".", Path: path, OutputMode: "content"}} {
			if got := s.call(t, tool, args); strings.Contains(got, "SECRET") {
				t.Errorf("%s of %q gives %q", tool, path, got)
			}
		}
		name, err := s.files.name(path)
		if err != nil {
			return
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(s.files.real, name)); err == nil && !below(real, s.files.real) {
			t.Errorf("%q is %q, which is %q", path, name, real)
		}
		s.call(t, "write", writeArgs{FilePath: path, Content: "x"})
		if entries, err := os.ReadDir(top); err != nil || len(entries) != 2 {
			t.Fatalf("%q: outside there are %v, %v", path, entries, err)
		}
		if b, err := os.ReadFile(filepath.Join(top, "secret")); err != nil || string(b) != "SECRET" {
			t.Fatalf("%q: the file outside is %q, %v", path, b, err)
		}
	})
}

// Whatever is in a file, what the model is given is text, and not more than an answer holds.
func FuzzRead(f *testing.F) {
	f.Add([]byte("one\r\ntwo\n\xff\xfe"), 1, 1, 10)
	f.Add([]byte("\xef\xbb\xbfx"), 2, 1, 1)
	f.Add([]byte("\r\r\n\n"), 1, 2, 3)
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, data []byte, offset, column, limit int) {
		if err := os.WriteFile(filepath.Join(s.files.real, "a", "b"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		got := s.call(t, "read", readArgs{FilePath: "a/b", Offset: offset % 100, Column: column % 100, Limit: limit % 100})
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > mostPage+200 {
			t.Errorf("%d characters, text %t", utf8.RuneCountInString(got), utf8.ValidString(got))
		}
		s.call(t, "grep", grepArgs{Pattern: "o", Path: "a", OutputMode: "content", Context: column % 5})
		s.call(t, "edit", editArgs{FilePath: "a/b", OldString: "o", NewString: "p", ReplaceAll: true})
	})
}
