package code

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/source"
)

// What a frame says leads to a file of the repository or to none, whatever it says.
func FuzzLocate(f *testing.F) {
	for _, name := range []string{"/app/src/x.py", "/app/../../etc/passwd", "webpack:///./src/a.ts?1", `C:\app\x.cs`, "github.com/acme/shop@v1/x.go", "file:///app/x.js"} {
		f.Add(name, "/app/", "src")
	}
	f.Fuzz(func(t *testing.T, given, from, to string) {
		r := &Reader{repos: []Repo{{Name: "a", Paths: []Mapping{{From: from, To: to}, {From: "github.com/acme/shop"}}}}}
		repo, name, ok := r.Locate(source.Frame{File: given})
		if ok && (repo != "a" || !fs.ValidPath(name) || name == ".") {
			t.Errorf("%q is %q", given, name)
		}
		newTree([]file{{name: "src/x.py"}, {name: "x.go"}}).bySuffix(plainName(given))
	})
}

// What may be asked of git as a tag or a SHA is never an option, and leads out of refs/tags to nowhere.
func FuzzRelease(f *testing.F) {
	for _, release := range []string{"shop@1.2.3+42", "--all", "v1^{commit}", "a..b", "@{-1}", "refs/../x", "0123abc"} {
		f.Add(release, "v{release}")
	}
	f.Fuzz(func(t *testing.T, release, tag string) {
		for _, r := range []Repo{{}, {Tag: tag}} {
			for _, name := range r.names(release) {
				if strings.HasPrefix(name, "-") || strings.Contains(name, "..") || strings.ContainsAny(name, "^~:?*[ \\@{\n\x00") {
					t.Errorf("%q is asked for as %q", release, name)
				}
			}
		}
	})
}

// An answer is never longer than it may be, and shows only lines that stand in it.
func FuzzAnswer(f *testing.F) {
	f.Add("a\nb\n", "", 400)
	f.Add(strings.Repeat("line\n", 500), "Nobody knows the release.", 1000)
	f.Fuzz(func(t *testing.T, text, notice string, most int) {
		if most < 400 || most > 10_000 || len(notice) > 100 {
			return
		}
		p := page{at: Version{Repo: "a", SHA: strings.Repeat("0", 40), Notice: notice}, title: "x", most: most, rest: func([]line) string { return "Ask." }}
		lines := splitLines([]byte(text))
		for i, l := range lines {
			p.lines = append(p.lines, numbered(p.at.SHA, "x", i+1, ":", l, 1))
		}
		a := p.answer()
		if n := len([]rune(a.Text)); n > most {
			t.Errorf("%d characters of %d", n, most)
		}
		for _, s := range a.Shown {
			for i, l := range strings.Split(s.Text, "\n") {
				if !strings.HasPrefix(lines[s.FromLine+i-1], l) || !strings.Contains(a.Text, l) {
					t.Errorf("line %d is not %q", s.FromLine+i, l)
				}
			}
		}
	})
}

func FuzzArchive(f *testing.F) {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	files.WriteHeader(&tar.Header{Name: "a/x", Size: 2, Mode: 0o644, Typeflag: tar.TypeReg})
	files.Write([]byte("x\n"))
	files.Close()
	zipped.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := readArchive(bytes.NewReader(data))
		if err != nil {
			return
		}
		for sha, text := range a.byBlob {
			if blobSHA(text) != sha {
				t.Errorf("%s is not the SHA of %q", sha, text)
			}
		}
	})
}

func FuzzRunbook(f *testing.F) {
	f.Add("---\nclasses: [A, \"B*\"]\n---\ntext", "b::c")
	f.Fuzz(func(t *testing.T, text, class string) {
		if b, err := parseRunbook("a.md", text); err == nil {
			b.For(class, "")
		}
	})
}
