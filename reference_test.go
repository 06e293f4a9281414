package decant_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// brokenLine is where a comment goes on in the next line.
	brokenLine = regexp.MustCompile(`\n\s*// ?`)

	// citation is a section of a page of this repository; another section of the same page may follow.
	citation = regexp.MustCompile(`(docs/[\w/.-]+\.md), "([^"]+)"(?:,? and "([^"]+)")?`)

	// elsewhere is what can only be found in papers that are not in this repository. It is taken apart, so that this
	// file does not match.
	elsewhere = regexp.MustCompile(`(?i)(anthropic|openai)` + `-wire|\bdesign` + `, section|\bmeasurements` + ` section|\busers` + `\.md|\(sections?` + ` \d`)
)

// Comments cite what a reader can open: no paper from elsewhere, and of the pages of this repository sections that
// there are.
func TestCommentsCiteWhatIsHere(t *testing.T) {
	cited := 0
	for name, text := range goFiles(t) {
		if found := elsewhere.FindString(text); found != "" {
			t.Errorf("%s cites %q, which is not in this repository: name a section of docs/", name, found)
		}
		for _, m := range citation.FindAllStringSubmatch(text, -1) {
			for _, title := range m[2:] {
				if title == "" {
					continue
				}
				cited++
				if !hasSection(t, m[1], title) {
					t.Errorf("%s cites %s, %q, which has no such section", name, m[1], title)
				}
			}
		}
	}
	if cited < 30 {
		t.Errorf("found %d citations: want 30 or more, or this test looks in the wrong place", cited)
	}
}

// goFiles returns the Go files of the module that people wrote, each line of a comment joined to the one before.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err == nil && !strings.HasPrefix(string(src), "// Code generated ") {
			out[name] = brokenLine.ReplaceAllString(string(src), " ")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hasSection reports whether a page has a heading.
func hasSection(t *testing.T, page, title string) bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Error(err)
		return false
	}
	return regexp.MustCompile(`(?m)^##+ ` + regexp.QuoteMeta(title) + `$`).Match(text)
}

var (
	// named is a test or a benchmark as pages name it.
	named = regexp.MustCompile("`((?:Test|Benchmark)[A-Z]\\w*)`")

	// command is a call of one test in one package.
	command = regexp.MustCompile(`go test (?:-\S+ )*\./(\S+) -run (Test\w+)`)

	declared = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)[A-Z]\w*)\(`)
)

// What pages name as the proof of a figure is there, in the package that they name.
func TestPagesNameTestsThatThereAre(t *testing.T) {
	in := map[string]map[string]bool{} // names by package
	all := map[string]bool{}
	for name, text := range goFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(name))
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			if in[dir] == nil {
				in[dir] = map[string]bool{}
			}
			in[dir][m[1]], all[m[1]] = true, true
		}
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("found the pages %q: %v", pages, err)
	}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if !all[m[1]] {
				t.Errorf("%s names %s, which there is not", page, m[1])
			}
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			if !in[m[1]][m[2]] {
				t.Errorf("%s: there is no %s in ./%s", page, m[2], m[1])
			}
		}
	}
}
