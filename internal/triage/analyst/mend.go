package analyst

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// taker matches a function of Go with one parameter, a pointer, and one result: name, parameter and result.
var taker = lazyregexp.New(`^func ([A-Za-z_]\w*)\((\w+) \*[\w.]+\) ([\w.*\[\]]+) \{$`)

// zeros are what functions return of types whose zero is plain.
var zeros = map[string]string{"int": "0", "int64": "0", "float64": "0", "string": `""`, "bool": "false", "error": "nil"}

// mend writes the patch for a function of Go whose only parameter may be nil: it returns zero, and a new test calls it so. It is empty where the line is no such
// function, or what was shown is not enough to write one.
func mend(f *file, line int) string {
	m := taker.FindStringSubmatch(f.lines[line])
	zero, plain := "", false
	if m != nil {
		zero, plain = zeros[m[3]]
	}
	name := packageOf(f)
	if !plain || name == "" || strings.HasSuffix(f.path, "_test.go") {
		return ""
	}
	fix := fmt.Sprintf("\tif %s == nil {\n\t\treturn %s\n\t}", m[2], zero)
	test := fmt.Sprintf("package %s\n\nimport \"testing\"\n\nfunc Test%sOfNil(t *testing.T) {\n\tif got := %s(nil); got != %s {\n\t\tt.Errorf(\"%s(nil) is %%v\", got)\n\t}\n}",
		name, strings.ToUpper(m[1][:1])+m[1][1:], m[1], zero, m[1])
	return insert(f, line, fix) + create(path.Join(path.Dir(f.path), strings.ToLower(m[1])+"_nil_test.go"), test)
}

// packageOf returns the name of the package of a file of Go, empty where its beginning was not shown.
func packageOf(f *file) string {
	for n := 1; n <= len(f.lines); n++ {
		if name, ok := strings.CutPrefix(codeOf(f.lines[n]), "package "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// insert returns the patch that puts text behind a line, with up to three lines on each side as they were shown: fewer where the file, or what was shown of it,
// ends. It is empty where a line in front was not shown, or the next one.
func insert(f *file, line int, text string) string {
	const around = 3
	first, last := max(line-around+1, 1), line+around
	var hunk []string
	for n := first; n <= last; n++ {
		shown, ok := f.lines[n]
		if !ok {
			if n <= line+1 {
				return ""
			}
			last = n - 1
			break
		}
		hunk = append(hunk, " "+shown)
	}
	at := line - first + 1
	added := signed(text)
	hunk = slices.Insert(hunk, at, added...)
	old := last - first + 1
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d,%[3]d +%[2]d,%[4]d @@\n%[5]s\n", f.path, first, old, old+len(added), strings.Join(hunk, "\n"))
}

// create returns the patch that makes a file.
func create(name, text string) string {
	lines := signed(text)
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n%[3]s\n", name, len(lines), strings.Join(lines, "\n"))
}

// signed returns the lines of a text as a patch adds them.
func signed(text string) (out []string) {
	for line := range strings.Lines(text) {
		out = append(out, "+"+strings.TrimSuffix(line, "\n"))
	}
	return out
}
