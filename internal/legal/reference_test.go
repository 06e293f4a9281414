package legal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tables of rules in docs/reference are what the code checks: every rule, none too many, each with what the API
// demands and what Decant does. Messages of Decant name rules by these ids, so people look for them there.
func TestTheReferenceHasTheRules(t *testing.T) {
	want := constants(t)
	got := append(rows(t, "../../docs/reference/anthropic.md"), rows(t, "../../docs/reference/openai.md")...)
	if len(want) < 20 {
		t.Fatalf("found %d rules in rules.go", len(want))
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("a rule has two rows: %q", got)
	}
	for _, id := range want {
		if !slices.Contains(got, id) {
			t.Errorf("rule %s is in no table of docs/reference", id)
		}
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(id) {
			t.Errorf("rule %q: an id is words in small letters with hyphens", id)
		}
	}
	for _, id := range got {
		if !slices.Contains(want, id) {
			t.Errorf("docs/reference explains rule %s, which there is not", id)
		}
	}
}

// constants returns the values of all constants of the type Rule.
func constants(t *testing.T) (ids []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Rule" {
			id, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// row is a line of a table of rules: the id, what the API demands, what Decant does.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|$")

// rows returns the ids of the section "Rules" of a page.
func rows(t *testing.T, page string) (ids []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Rules\n")
	if !found {
		t.Fatalf("%s has no section Rules", page)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		ids = append(ids, m[1])
	}
	return ids
}
