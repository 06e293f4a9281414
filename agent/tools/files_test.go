//go:build unix

package tools_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/agent/tools"
)

var quiet = tools.Options{Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Off: true}}

// What is not a file of the project is not reached by any tool.
func TestNothingOutsideIsReached(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, quiet)
	b.put("in/a", "x\n")
	for link, to := range map[string]string{
		"out": outside, "file": filepath.Join(outside, "secret"), "rel": "../" + filepath.Base(outside), "dev": "/dev/zero", "proc": "/proc/self",
		"root": "/", "loop": "loop", "nowhere": filepath.Join(outside, "new"), "in/up": "../..", "dangling": "missing",
	} {
		if err := os.Symlink(to, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", "..", "../x", "/etc/passwd", "in/../../x", "in/up/x", outside + "/secret", "out/secret", "file", "rel/secret", "dev", "proc/environ",
		"proc/root/etc/passwd", "root/etc/passwd", "loop", "nowhere", "dangling", "pipe", "in", ".", "/proc/self/root" + b.dir + "/in/a", "/dev/null", "a\x00b", "~/x",
	} {
		if got := b.try("read", args{"file_path": name}); !strings.HasPrefix(got, "error: ") || strings.Contains(got, "SECRET") {
			t.Errorf("read %q: %q", name, got)
		}
		if name == "~/x" {
			continue // a file of that name in a folder ~ may be made
		}
		for tool, a := range map[string]args{
			"write": {"file_path": name, "content": "x"}, "edit": {"file_path": name, "old_string": "SECRET", "new_string": "x"},
		} {
			if got := b.try(tool, a); !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s %q: %q", tool, name, got)
			}
			if got := b.preview(tool, a); !strings.HasPrefix(got, "error: ") {
				t.Errorf("preview of %s %q: %q", tool, name, got)
			}
		}
	}
	for _, a := range []args{{"pattern": "SECRET|root:"}, {"pattern": "SECRET", "path": "out"}, {"pattern": "SECRET", "path": ".."}, {"pattern": "SECRET", "path": "file"}, {"pattern": "SECRET", "path": outside}} {
		if got := b.try("grep", a); strings.Contains(got, "secret") && !strings.HasPrefix(got, "error: ") {
			t.Errorf("grep %v: %q", a, got)
		}
	}
	for _, a := range []args{{"pattern": "**/secret"}, {"pattern": "../**"}, {"pattern": "*", "path": "out"}, {"pattern": outside + "/*"}, {"pattern": "*", "path": "/"}} {
		if got := b.try("glob", a); strings.Contains(got, "secret") && !strings.HasPrefix(got, "error: ") {
			t.Errorf("glob %v: %q", a, got)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
}

// What says what the agent may do, and what git runs, is not written to; what is hidden is neither read nor found.
func TestProtectedAndHidden(t *testing.T) {
	o := quiet
	o.Hidden = []string{"**/.env", "keys/**"}
	b := newBench(t, o)
	for _, name := range []string{".git/config", ".decant/rules.yaml", "sub/.git/hooks/x", ".env", "sub/.env", "keys/a", "a"} {
		b.put(name, "VALUE\n")
	}
	if err := os.Symlink(".env", filepath.Join(b.dir, "alias")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/config", ".git/hooks/pre-commit", ".decant/rules.yaml", "sub/.git/hooks/x", ".GIT/config"} {
		b.try("read", args{"file_path": name})
		b.has(b.try("write", args{"file_path": name, "content": "x"}), "error: ", "is not written to")
	}
	b.has(b.try("read", args{"file_path": ".git/config"}), "VALUE")
	for _, name := range []string{".env", "sub/.env", "keys/a", "alias", "sub/../.env", ".Env", b.dir + "/.env"} {
		b.has(b.try("read", args{"file_path": name}), "error: ", "must not be read")
	}
	if got := b.try("grep", args{"pattern": "VALUE", "output_mode": "count"}); got != ".decant/rules.yaml:1\na:1" {
		t.Errorf("grep: %q", got)
	}
	if got := b.try("glob", args{"pattern": "**"}); strings.Contains(got, "env") || strings.Contains(got, "keys") {
		t.Errorf("glob: %q", got)
	}
}

func TestRead(t *testing.T) {
	b := newBench(t, quiet)
	b.put("a.txt", "one\r\ntwo\nthree")
	b.put("empty", "")
	b.put("bad.txt", "\ufeffok \xff\xfe \x1b[31mred\n")
	b.put("bin", "ab\x00cd")
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"file_path": "a.txt"}, "     1\tone\n     2\ttwo\n     3\tthree\n"},
		{args{"file_path": b.dir + "/a.txt", "offset": 2, "limit": 1}, "     2\ttwo\n(There is more: read on with offset 3.)\n"},
		{args{"file_path": "./a.txt", "offset": 3, "column": 3}, "     3\tree\n"},
		{args{"file_path": "empty"}, "(the file is empty)"},
		{args{"file_path": "bad.txt"}, "     1\tok \ufffd\ufffd \x1b[31mred\n"},
		{args{"file_path": "a.txt", "offset": 9}, "error: a.txt: it has only 3 lines"},
		{args{"file_path": "a.txt", "offset": 4}, "error: a.txt: it has only 3 lines"},
		{args{"file_path": "bad.txt", "offset": 2}, "error: bad.txt: it has only 1 lines"},
		{args{"file_path": "a.txt", "offset": 3, "column": 6}, "error: a.txt: line 3 has fewer than 6 characters"},
		{args{"file_path": "empty", "offset": 2}, "error: empty: it has only 0 lines"},
		{args{"file_path": "a.txt", "offset": 2, "column": 9}, "error: a.txt: line 2 has fewer than 9 characters"},
		{args{"file_path": "a.txt", "offset": -1}, "error: offset, limit and column count from 1"},
		{args{"file_path": "none"}, "error: none does not exist"},
		{args{"file_path": "a.txt", "lines": 3}, "error: the arguments of read do not fit"},
	} {
		if got := b.try("read", c.a); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %q, want %q", c.a, got, c.want)
		}
	}
	b.has(b.try("read", args{"file_path": "bin"}), "error: bin is not text: 5 bytes")
	b.has(b.try("write", args{"file_path": "bin", "content": "x"}), "error: bin was not read") // what was not shown is not known
	b.is("bin", "ab\x00cd")
	b.put("b.txt", "one\n")
	b.try("read", args{"file_path": "b.txt", "offset": 9})
	b.has(b.try("write", args{"file_path": "b.txt", "content": "x"}), "error: b.txt was not read")
}

// Who reads on as each part says has read the whole file, whatever its lines are.
func TestReadingOnGivesTheWholeFile(t *testing.T) {
	b := newBench(t, quiet)
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("aé→\t ")), 0, 40, -1), rapid.Map(rapid.IntRange(1, 70_000), func(n int) string { return strings.Repeat("ü", n) }))
		lines := rapid.SliceOfN(line, 1, 12).Draw(t, "lines")
		want := strings.Join(lines, "\n") + "\n"
		b.put("f", want)
		var got strings.Builder
		at := args{"file_path": "f"}
		for range 100 {
			text := b.try("read", at)
			body, more, again := strings.Cut(text, "(There is more: read on with ")
			for n, l := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
				_, l, _ = strings.Cut(l, "\t")
				if n > 0 {
					got.WriteByte('\n')
				}
				got.WriteString(l)
			}
			if !again {
				break
			}
			var line, column int
			n, _ := parseMore(more, &line, &column)
			at = args{"file_path": "f", "offset": line}
			if n == 2 {
				at["column"] = column
			} else {
				got.WriteByte('\n')
			}
		}
		if got.String()+"\n" != want {
			t.Fatalf("read %d bytes of %d", got.Len()+1, len(want))
		}
	})
}

// A file of any size can be read; one that is larger than what is held can only be read.
func TestALargeFileIsRead(t *testing.T) {
	b := newBench(t, quiet)
	b.put("large", strings.Repeat(strings.Repeat("x", 99)+"\n", 100_000)+"the end\n")
	b.has(b.try("read", args{"file_path": "large", "offset": 100_001}), "100001\tthe end")
	b.has(b.try("edit", args{"file_path": "large", "old_string": "the end", "new_string": "x"}), "error: ", "more than the 8388608 that can be changed")
	b.has(b.try("grep", args{"pattern": "the end"}), "(no files)", "Not searched", "large")
}

func TestWriteAndEdit(t *testing.T) {
	b := newBench(t, quiet)
	b.has(b.preview("write", args{"file_path": "new/a.go", "content": "package a\n"}), "--- /dev/null\n+++ b/new/a.go\n", "+package a\n")
	b.has(b.try("write", args{"file_path": "new/a.go", "content": "package a\n\nvar x = 1\n"}), "new/a.go is made, with 21 bytes")
	edit := args{"file_path": "new/a.go", "old_string": "x = 1", "new_string": "x = 2"}
	b.has(b.preview("edit", edit), "--- a/new/a.go\n+++ b/new/a.go\n@@", "-var x = 1\n+var x = 2\n")
	b.has(b.try("edit", edit), "-var x = 1\n+var x = 2\n")
	b.is("new/a.go", "package a\n\nvar x = 2\n")
	b.put("b", "a b a\n")
	if err := os.Chmod(filepath.Join(b.dir, "b"), 0o751); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		a    args
		want string
	}{
		{"edit", args{"file_path": "b", "old_string": "b", "new_string": "c"}, "error: b was not read: read it before"},
		{"write", args{"file_path": "b", "content": "x"}, "error: b was not read"},
		{"read", args{"file_path": "b"}, "     1\ta b a"},
		{"edit", args{"file_path": "b", "old_string": "a", "new_string": "c"}, "error: b: old_string stands in it 2 times"},
		{"edit", args{"file_path": "b", "old_string": "z", "new_string": "c"}, "error: b: old_string does not stand in it"},
		{"edit", args{"file_path": "b", "old_string": "", "new_string": "c"}, "error: b: old_string is empty"},
		{"edit", args{"file_path": "b", "old_string": "b", "new_string": "b"}, "error: b: old_string and new_string are the same"},
		{"edit", args{"file_path": "none", "old_string": "b", "new_string": "c"}, "error: none: it does not exist"},
		{"edit", args{"file_path": "b", "old_string": "a", "new_string": "c", "replace_all": true}, "Changed:\n"},
		{"write", args{"file_path": "b", "content": strings.Repeat("x", 9<<20)}, "error: b would have 9437184 bytes"},
	} {
		if got := b.try(c.tool, c.a); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %.200v: %q, want %q", c.tool, c.a, got, c.want)
		}
	}
	b.is("b", "c b c\n")
	b.put("b", "by somebody else\n")
	b.has(b.try("edit", args{"file_path": "b", "old_string": "by", "new_string": "c"}), "error: b has changed since it was read")
	if info, err := os.Stat(filepath.Join(b.dir, "b")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*", ".decant-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A new file is one that others may read only where the user's new files are.
func TestANewFileFollowsTheUmask(t *testing.T) {
	b := newBench(t, quiet)
	had := syscall.Umask(0o077)
	defer syscall.Umask(had)
	for name, a := range map[string]args{"new": {"file_path": "new", "content": "x"}, "d/new": {"file_path": "d/new", "content": "x"}} {
		b.has(b.tryAs("call", "write", a), "is made")
		if info, err := os.Stat(filepath.Join(b.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for range 2 { // the files go, and come back
		r, err := b.set.Rewind("call")
		if err == nil {
			_, err = b.set.Rewind(r.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(b.dir, "new")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

// What the model has not seen of a file stays as it is: ends of lines, bytes that are not text, a link's target.
func TestEditKeepsTheRest(t *testing.T) {
	b := newBench(t, quiet)
	b.put("crlf", "a\r\nb\r\nc\r\n")
	b.put("bytes", "\xff\xfe a\n")
	if err := os.Symlink("crlf", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "bytes"} {
		b.try("read", args{"file_path": name})
	}
	b.try("edit", args{"file_path": "link", "old_string": "a\nb", "new_string": "x\ny\nz"})
	b.is("crlf", "x\r\ny\r\nz\r\nc\r\n")
	if info, err := os.Lstat(filepath.Join(b.dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	b.put("crlf", "a\r\nb\r\nc\r\n")
	b.put("mixed", "a\r\nb\nc\r\n")
	b.try("read", args{"file_path": "crlf"})
	b.try("read", args{"file_path": "mixed"})
	b.try("edit", args{"file_path": "crlf", "old_string": "b", "new_string": "b\nbb"}) // the old text has no end of a line
	b.is("crlf", "a\r\nb\r\nbb\r\nc\r\n")
	b.try("edit", args{"file_path": "crlf", "old_string": "c\r\n", "new_string": "d\n"}) // it says which it means
	b.is("crlf", "a\r\nb\r\nbb\r\nd\n")
	b.try("edit", args{"file_path": "mixed", "old_string": "b", "new_string": "x\ny"})
	b.is("mixed", "a\r\nx\ny\nc\r\n")
	b.try("edit", args{"file_path": "bytes", "old_string": "a", "new_string": "b"})
	b.is("bytes", "\xff\xfe b\n")
}

func TestGlob(t *testing.T) {
	b := newBench(t, quiet)
	now := time.Now()
	for i, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/d.ts", ".github/x.go", "node_modules/n.go", ".git/g.go"} {
		b.put(name, "")
		at := now.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(b.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "**/*.go"}, ".github/x.go\nsrc/deep/c.go\nsrc/b.go\na.go"}, {args{"pattern": "*.go"}, "a.go"},
		{args{"pattern": "*.go", "path": "src"}, "src/b.go"}, {args{"pattern": "src/**/*.{go,ts}"}, "src/d.ts\nsrc/deep/c.go\nsrc/b.go"},
		{args{"pattern": "*.go", "path": ".github"}, ".github/x.go"}, {args{"pattern": "**/n.go", "path": "node_modules"}, "node_modules/n.go"},
		{args{"pattern": "**/*.go", "head_limit": 1, "offset": 1}, "src/deep/c.go\n(1 of 4 files: go on with offset 2.)"},
		{args{"pattern": "*.rs"}, "(no files)"}, {args{"pattern": "*.go", "offset": 5}, "(there are only 1 files)"},
		{args{"pattern": "["}, "error: \"[\" is not a pattern such as **/*.go"}, {args{"pattern": "*", "path": "none"}, "error: none does not exist"},
		{args{"pattern": b.dir + "/src/*.go"}, "src/b.go"},
	} {
		if got := b.try("glob", c.a); got != c.want {
			t.Errorf("%v: %q, want %q", c.a, got, c.want)
		}
	}
}

func TestGrep(t *testing.T) {
	b := newBench(t, quiet)
	b.put("a.go", "one\nTwo three\nfour\nfive\nsix\ntwo\n")
	b.put("src/b.txt", "two\r\n\x1b[31mtwo \xff\n")
	b.put("bin", "two\x00")
	b.put("mark", "\ufefffirst\n\n")
	b.put("empty", "")
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "two"}, "a.go\nsrc/b.txt"}, {args{"pattern": "two", "output_mode": "count", "-i": true}, "a.go:2\nsrc/b.txt:2"},
		{args{"pattern": "^two$", "output_mode": "content"}, "a.go:6:two\nsrc/b.txt:1:two"},
		{args{"pattern": "tw", "output_mode": "content", "glob": "*.txt"}, "src/b.txt:1:two\nsrc/b.txt:2:\x1b[31mtwo \ufffd"},
		{args{"pattern": "(?i)two", "output_mode": "content", "path": "a.go", "-C": 1}, "a.go-1-one\na.go:2:Two three\na.go-3-four\n--\na.go-5-six\na.go:6:two"},
		{args{"pattern": "o", "output_mode": "content", "path": "a.go", "-A": 1, "head_limit": 2}, "a.go:1:one\na.go:2:Two three\n(2 of 6 lines: go on with offset 2.)"},
		{args{"pattern": "^first", "output_mode": "content"}, "mark:1:first"}, {args{"pattern": "^$", "output_mode": "content"}, "mark:2:"},
		{args{"pattern": "nothing"}, "(no files)"}, {args{"pattern": "two", "path": "src", "glob": "src/*.txt"}, "src/b.txt"},
		{args{"pattern": "("}, "error: pattern: error parsing regexp: missing closing ): `(?m)(`"},
		{args{"pattern": "x", "output_mode": "y"}, `error: output_mode is content, files_with_matches or count: "y"`}, {args{"pattern": "x", "glob": "["}, "error: glob: "},
	} {
		if got := b.try("grep", c.a); !strings.HasPrefix(got, c.want) || !strings.HasPrefix(c.want, "error") && got != c.want {
			t.Errorf("%v: %q, want %q", c.a, got, c.want)
		}
	}
}

// A number may be as large as numbers are.
func TestTheLargestNumbers(t *testing.T) {
	o := quiet
	o.Shell = tools.Shell{Attended: true}
	b := newBench(t, o)
	b.put("a", "one\ntwo\none\n")
	b.put("b", "one\n")
	for _, c := range []struct {
		tool string
		a    args
		want string
	}{
		{"read", args{"file_path": "a", "offset": 2, "limit": math.MaxInt}, "     2\ttwo\n     3\tone\n"},
		{"read", args{"file_path": "a", "offset": math.MaxInt, "limit": math.MaxInt}, "error: a: it has only 3 lines"},
		{"grep", args{"pattern": "one", "path": "a", "output_mode": "content", "-C": math.MaxInt}, "a:1:one\na-2-two\na:3:one"},
		{"grep", args{"pattern": "one", "offset": 1, "head_limit": math.MaxInt}, "b"},
		{"glob", args{"pattern": "a", "offset": math.MaxInt, "head_limit": math.MaxInt}, "(there are only 1 files)"},
		{"bash", args{"command": "echo x", "timeout": math.MaxInt}, "x\n"},
	} {
		if got := b.try(c.tool, c.a); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.tool, c.a, got, c.want)
		}
	}
}

// parseMore reads how to go on.
func parseMore(more string, line, column *int) (int, error) {
	if strings.Contains(more, "column") {
		return fmt.Sscanf(more, "offset %d and column %d", line, column)
	}
	return fmt.Sscanf(more, "offset %d", line)
}
