package decant_test

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/decantdev/decant"

// storey returns where a folder belongs: core, agent, apps or testing, from the ground up, or above them: the command, which plays
// the sandbox, and other programs.
func storey(dir string) string {
	switch top, _, _ := strings.Cut(dir, "/"); top {
	case "agent", "apps", "testing":
		return top
	case "cmd":
		return "command"
	case "examples", "scripts":
		return "programs"
	default:
		return "core"
	}
}

// below has the storeys that a package may import from. Tests may import testing, whatever they belong to.
var below = map[string][]string{
	"core":     {"core"},
	"agent":    {"core", "agent"},
	"apps":     {"core", "agent", "apps"},
	"testing":  {"core", "agent", "apps", "testing"},
	"command":  {"core", "agent", "apps", "testing"},
	"programs": {"core", "agent", "apps", "programs"},
}

func TestImportsRunDownwards(t *testing.T) {
	for dir, imports := range packages(t) {
		for _, imp := range imports {
			if rel, ours := folder(imp); ours && !slices.Contains(below[storey(dir)], storey(rel)) {
				t.Errorf("package %s (%s) imports %s (%s)", dir, storey(dir), rel, storey(rel))
			}
		}
	}
}

// What only one app uses is internal to it: beside the app itself and its commands, only what others import is not.
func TestAppsPromiseNothing(t *testing.T) {
	all := packages(t)
	app := func(dir string) string { return strings.Join(strings.SplitN(dir, "/", 3)[:2], "/") }
	for dir := range all {
		if storey(dir) != "apps" || dir == app(dir) || strings.HasSuffix(dir, "cmd") || strings.Contains(dir, "/internal/") {
			continue
		}
		used := false
		for other, imports := range all {
			used = used || slices.Contains(imports, module+"/"+dir) && !strings.HasPrefix(other, app(dir))
		}
		if !used {
			t.Errorf("nothing outside of %s imports %s: move it to %[1]s/internal", app(dir), dir)
		}
	}
}

func TestVocabularyImportsStandardLibraryOnly(t *testing.T) {
	for _, imp := range packages(t)["."] {
		if strings.Contains(imp, ".") {
			t.Errorf("the root package imports %s", imp)
		}
	}
}

// folder returns the folder of a package of this module.
func folder(imp string) (dir string, ours bool) {
	rel, ours := strings.CutPrefix(imp, module)
	return cmp.Or(strings.TrimPrefix(rel, "/"), "."), ours
}

// The words of the glossary stand in docs/GLOSSARY.md and in the package comment, in one order.
func TestOneGlossary(t *testing.T) {
	words := func(file, pattern string) (out []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
		return out
	}
	docs, code := words("docs/GLOSSARY.md", `(?m)^\| \*\*([^*]+)\*\* \| `), words("doc.go", `(?m)^//   - ([^:]+): `)
	if len(docs) < 20 || docs[0] != "pour" || !slices.Equal(docs, code) {
		t.Errorf("docs/GLOSSARY.md explains %q, doc.go %q", docs, code)
	}
}

// SECURITY.md names tests for what it promises, and each is there.
func TestPromisesHaveTheirTests(t *testing.T) {
	text, err := os.ReadFile("docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	if err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := os.ReadFile(name)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(src, -1) {
			there[string(m[1])] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("docs/SECURITY.md names %s, and there is none", m[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("docs/SECURITY.md names %d tests", len(named))
	}
}

// What measures must not be what chooses, nor the other way round: the ruler
// imports nothing of the module, and what decides what is kept does not reach the ruler.
func TestTheRulerIsIndependent(t *testing.T) {
	const ruler = module + "/internal/ruler"
	imports := packages(t)
	for _, imp := range imports["internal/ruler"] {
		if strings.HasPrefix(imp, module) || strings.Contains(imp, ".") {
			t.Errorf("internal/ruler imports %s; it may import the standard library only", imp)
		}
	}
	for _, dir := range []string{"internal/fact", "internal/summary", "internal/reduce"} {
		for imp := range reached(imports, dir) {
			if imp == ruler {
				t.Errorf("%s reaches internal/ruler, which measures what it keeps", dir)
			}
		}
	}
}

// reached returns all packages that a package of this module imports, whatever lies between.
func reached(imports map[string][]string, dir string) map[string]bool {
	out := map[string]bool{}
	var visit func(string)
	visit = func(dir string) {
		for _, imp := range imports[dir] {
			if out[imp] {
				continue
			}
			out[imp] = true
			if rel, ours := strings.CutPrefix(imp, module+"/"); ours {
				visit(rel)
			}
		}
	}
	visit(dir)
	return out
}

func TestEveryPackageHasOnePackageComment(t *testing.T) {
	for dir := range packages(t) {
		comments := 0
		for _, file := range sources(t, dir) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				comments++
			}
		}
		if comments != 1 {
			t.Errorf("package %s has %d package comments, want 1", dir, comments)
		}
	}
}

// packages returns the imports of every package's code, tests left out, by directory.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (base == "testdata" || strings.HasPrefix(base, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Clean(filepath.ToSlash(filepath.Dir(name)))
		out[dir] = append(out[dir], []string{}...)
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			out[dir] = append(out[dir], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sources returns the Go files of a package, tests left out.
func sources(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if n := e.Name(); strings.HasSuffix(n, ".go") && !strings.HasSuffix(n, "_test.go") {
			out = append(out, filepath.Join(dir, n))
		}
	}
	return out
}

func TestModuleHasNoReplaceLines(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mod), "\nreplace ") {
		t.Error("go.mod has a replace line: a program that imports the module would not get what was tested")
	}
}

// Modules that go.mod marks as those of tests are in no program: only tests import them, and what helps to test a
// store.
func TestModulesOfTestsAreMarked(t *testing.T) {
	src, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, marked, ok := strings.Cut(string(src), "// In tests only.\nrequire (\n")
	marked, _, closed := strings.Cut(marked, ")")
	if !ok || !closed {
		t.Fatal("go.mod does not mark the modules of tests")
	}
	for line := range strings.Lines(marked) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		for dir, imports := range packages(t) {
			if dir == "testing/storetest" {
				continue
			}
			for _, imp := range imports {
				if imp == name || strings.HasPrefix(imp, name+"/") {
					t.Errorf("package %s imports %s, which go.mod marks as a module of tests", dir, imp)
				}
			}
		}
	}
}

// papers are references to what a reader of the repository cannot open: plans, reviews, findings and rows of their
// tables. They are taken apart, so that this file does not match.
var (
	papers = regexp.MustCompile(`(?i)\bseed` + ` ?0\d\d|\bseed` + `'s\b|\bseeds` + `'|\bthe seeds` + `\b|\baudit` + ` \d|\bmission` + ` \w?\d|` +
		`\bdesign` + `(\.md)?, section|\busers'?` + ` U\d|\bAC` + `-\d|\b00\d` + `-\d\d\b|(//|#) .*\b(issue|review|finding)` + ` #?\d|Test\w*Seed` + `s?\d`)
	label      = regexp.MustCompile(`^[A-Z]` + `\d{1,2}(, [\w-]+)*: `) // what a comment begins with
	paperWords = []string{"seed", "audit", "mission", "design", "users", "ac" + "-", "issue", "review", "finding", "00"}
)

// Code and pages explain themselves: they cite no paper that is not in the repository, and no file is named after one.
func TestNothingCitesPapersFromElsewhere(t *testing.T) {
	seen := 0
	for name, text := range written(t) {
		seen++
		if strings.Contains(name, "seed"+"0") {
			t.Errorf("%s is named after a paper: name it for what it holds", name)
		}
		for line := range strings.Lines(text) {
			if found := cited(line); found != "" {
				t.Errorf("%s cites %q, which is not in this repository: say what it says", name, found)
			}
		}
	}
	if seen < 500 {
		t.Errorf("looked at %d files: want 500 or more, or this test looks in the wrong place", seen)
	}
}

// cited returns the reference to a paper in a line. Few lines have one of the words, so few are matched.
func cited(line string) string {
	if _, comment, ok := strings.Cut(line, "// "); ok && label.MatchString(comment) {
		return comment
	}
	lower := strings.ToLower(line)
	if !slices.ContainsFunc(paperWords, func(word string) bool { return strings.Contains(lower, word) }) {
		return ""
	}
	return papers.FindString(line)
}

// written returns the Go, Markdown, YAML and shell files of the repository by name, without recordings and samples.
func written(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if base == "testdata" || base == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		src, err := os.ReadFile(name)
		switch path.Ext(base) {
		case ".go", ".md", ".yaml", ".yml", ".sh":
		default:
			if !strings.HasPrefix(string(src), "#!") {
				return err
			}
		}
		out[filepath.ToSlash(name)] = string(src)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
