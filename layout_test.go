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

// layers says what each package may import of this module besides the leaves, which are the packages under internal/
// that do not stand here: "." is the root.
var layers = map[string][]string{
	".":                           {},
	"token":                       {"."},
	"preset":                      {"."},
	"internal/fact":               {"."},
	"internal/cost":               {".", "token"},
	"internal/cost/costtest":      {".", "token", "internal/cost"},
	"internal/reduce":             {"."},
	"internal/summary":            {".", "internal/fact"},
	"wire/internal/source":        {"."},
	"wire/internal/render":        {".", "wire/internal/source"},
	"wire/internal/request":       {".", "wire/internal/source", "wire/internal/render"},
	"wire/internal/session":       {".", "wire/internal/source", "wire/internal/render", "wire/internal/request"},
	"wire":                        {".", "wire/internal/source", "wire/internal/request", "wire/internal/session"},
	"legal":                       {".", "token", "internal/cost"},
	"dialect":                     {".", "token", "wire"},
	"dialect/anthropic":           {".", "token", "wire", "dialect"},
	"dialect/openai":              {"token", "dialect"},
	"dialect/index":               {"dialect", "dialect/anthropic"},
	"dialect/dialecttest":         {".", "wire", "dialect"},
	"memory":                      {"."},
	"store":                       {".", "memory"},
	"store/seal":                  {},
	"store/sqlite":                {".", "memory", "store", "store/seal"},
	"store/storetest":             {".", "memory", "store"},
	"provider":                    {".", "token", "store", "budget", "internal/cost"},
	"provider/anthropic":          {".", "token", "provider", "dialect/anthropic"},
	"provider/openai":             {".", "token", "wire", "provider"},
	"provider/sandbox":            {".", "wire", "token"},
	"policy":                      {".", "token", "preset", "store", "wire", "legal", "internal/fact", "internal/cost", "internal/reduce", "internal/summary"},
	"summarize":                   {".", "token", "preset", "dialect/anthropic", "policy", "provider", "internal/fact", "internal/cost", "internal/summary"},
	"archive":                     {".", "token", "wire", "policy", "dialect", "dialect/index", "store"},
	"engine/internal/match":       {".", "dialect", "store", "token", "wire"},
	"budget":                      {"store"},
	"engine/internal/plan":        {".", "store", "token", "policy", "internal/cost", "engine/internal/match", "internal/cause", "budget", "preset", "dialect", "provider", "legal"},
	"engine/internal/book":        {".", "policy", "store", "wire", "internal/cost", "internal/fact", "engine/internal/plan", "engine/internal/match", "internal/cause"},
	"engine":                      {".", "engine/internal/plan", "engine/internal/book", "budget", "token", "preset", "wire", "legal", "policy", "dialect", "dialect/index", "archive", "store", "internal/fact", "internal/cost", "engine/internal/match", "provider", "internal/cause"},
	"internal/flush":              {".", "dialect", "engine", "internal/fact", "memory", "provider", "store"},
	"transport":                   {".", "budget", "preset", "dialect", "dialect/index", "store", "engine"},
	"gateway/keyring":             {".", "store"},
	"gateway/tracing":             {".", "dialect", "store", "policy", "engine", "transport"},
	"gateway":                     {".", "budget", "provider", "preset", "dialect", "dialect/index", "dialect/openai", "store", "policy", "engine", "transport", "gateway/keyring", "gateway/tracing", "internal/cause"},
	"internal/replay":             {".", "token", "preset", "wire", "legal", "policy", "dialect/anthropic", "internal/fact", "internal/cost", "internal/cause"},
	"internal/report":             {".", "token", "store", "internal/fact", "internal/cost", "internal/replay", "internal/cause"},
	"internal/lookup":             {".", "memory", "token", "wire", "policy", "archive", "store", "internal/fact", "internal/report", "internal/cause", "internal/cost"},
	"internal/notice":             {".", "budget", "engine", "internal/flush"},
	"internal/doctor":             {"token", "store", "gateway", "internal/report"},
	"embedded":                    {"*"},
	"agent":                       {".", "token", "preset", "store", "budget", "internal/cost", "wire", "legal", "provider", "engine"},
	"internal/whatif":             {".", "agent", "archive", "internal/fact", "preset", "provider", "store", "wire"},
	"agent/permission":            {"agent"},
	"agent/tools":                 {"agent"},
	"internal/receipt":            {".", "agent", "internal/fact"},
	"internal/chat":               {".", "agent", "agent/team", "agent/remember", "archive", "budget", "embedded", "engine", "internal/lookup", "internal/notice", "internal/report", "preset", "provider", "store", "store/sqlite", "token", "internal/whatif", "memory", "internal/receipt"},
	"internal/chat/console":       {".", "agent", "engine", "internal/chat", "internal/report", "internal/whatif", "internal/receipt"},
	"agent/agenttest":             {".", "token", "wire", "legal", "provider", "engine", "embedded"},
	"agent/remember":              {"memory", "store", "agent"},
	"agent/tracing":               {".", "provider", "agent"},
	"agent/mcp":                   {"agent"},
	"agent/team":                  {"token", "preset", "store", "provider", "agent"},
	"cmd/decant":                  {"*"},
	"internal/triage/source":      {"provider"},
	"internal/triage/code":        {"agent"},
	"internal/triage/sample":      {"internal/triage/code", "internal/triage/source"},
	"internal/triage/analyst":     {".", "provider/sandbox"},
	"internal/triage/investigate": {".", "token", "preset", "store", "provider", "engine", "agent", "internal/triage/code"},
	"internal/triage/deliver":     {".", "agent", "agent/tools", "internal/triage/code", "internal/triage/investigate", "provider"},
	"internal/triage":             {"store", "agent", "internal/triage/code", "internal/triage/investigate", "internal/triage/deliver", "internal/triage/source", ".", "dialect", "engine", "internal/cost", "provider", "token"},
	"internal/cause":              {".", "internal/cost", "token"},
	"internal/mcpserver":          {".", "archive", "internal/notebook", "internal/lookup", "memory", "store"},
	"internal/notebook":           {"internal/fact", "internal/notebook/scan", "memory", "store", "token"},
	"internal/notebook/scan":      {".", "internal/fact"},
	"internal/standin/services":   {"internal/triage/sample", "provider/sandbox"},
	"scripts/plugin":              {},
	"scripts/recall":              {".", "token", "wire"},
	"internal/workspace":          {"agent", "agent/tools"},
	"internal/enginetest":         {"engine"},
	"internal/recorded":           {"wire"},
	"internal/killtest":           {"store"},
	"internal/sandboxtest":        {".", "provider", "provider/anthropic", "provider/sandbox"},
	"internal/chatserver":         {".", "preset", "memory", "store", "provider", "archive", "engine", "gateway/keyring", "agent", "agent/remember", "internal/whatif", "internal/receipt", "agent/permission", "agent/tools", "internal/workspace", "budget", "token"},
	"examples/agent":              {"*"},
	"examples/approval":           {"*"},
	"examples/customtool":         {"*"},
	"examples/jobsearch":          {"*"},
	"examples/team":               {"*"},
	"scripts/cost":                {},
	"scripts/cost/inside":         {".", "store", "store/sqlite", "engine", "gateway", "embedded"},
	"scripts/sbom":                {},
}

// leaf reports whether a package is one that others use without a place in the drawing.
func leaf(dir string) bool {
	return strings.HasPrefix(dir, "internal/") && layers[dir] == nil
}

func TestImportsFollowTheLayers(t *testing.T) {
	for dir, imports := range packages(t) {
		if leaf(dir) {
			continue
		}
		allowed, known := layers[dir]
		if !known {
			t.Errorf("package %s is not in the table of layers", dir)
			continue
		}
		for _, imp := range imports {
			rel, ours := strings.CutPrefix(imp, module)
			rel = strings.TrimPrefix(rel, "/")
			if rel == "" {
				rel = "."
			}
			switch {
			case !ours && dir == "." && strings.Contains(imp, "."):
				t.Errorf("the root package imports %s; it may import the standard library only", imp)
			case ours && !leaf(rel) && !slices.Contains(allowed, rel) && !slices.Contains(allowed, "*"):
				t.Errorf("package %s imports %s; it may import %v", dir, rel, allowed)
			case ours && dir == ".":
				t.Errorf("the root package imports %s", imp)
			}
		}
	}
}

// The drawing in docs/INTERNALS.md is what the imports are: every package stands in it, below all that it imports.
func TestTheDrawingOfTheLayersHolds(t *testing.T) {
	text, err := os.ReadFile("docs/INTERNALS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, _ := strings.Cut(string(text), "## Layers")
	drawing, _, _ = strings.Cut(drawing, "A package imports")
	floors := map[string]int{}
	for floor, line := range strings.Split(drawing, "\n") {
		for _, word := range strings.Fields(line[:min(len(line), 45)]) {
			if word == "decant" {
				word = "."
			}
			floors[word] = floor
		}
	}
	for dir, imports := range packages(t) {
		if leaf(dir) || strings.HasPrefix(dir, "scripts/") {
			continue
		}
		if floors[dir] == 0 {
			t.Errorf("package %s is not in the drawing", dir)
		}
		for _, imp := range imports {
			rel, ours := strings.CutPrefix(imp, module)
			if rel = cmp.Or(strings.TrimPrefix(rel, "/"), "."); ours && floors[rel] >= floors[dir] && !leaf(rel) {
				t.Errorf("package %s imports %s, which the drawing has beside it or below", dir, rel)
			}
		}
	}
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

func TestLeavesImportTheVocabularyOnly(t *testing.T) {
	for dir, imports := range packages(t) {
		if !leaf(dir) {
			continue
		}
		for _, imp := range imports {
			if rel, ours := strings.CutPrefix(imp, module+"/"); ours && !leaf(rel) {
				t.Errorf("%s imports %s; a leaf may import the root and other leaves", dir, imp)
			}
		}
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
			if dir == "store/storetest" {
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
