package analyst

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A patch is written only for a function whose beginning and package were shown, and git takes it.
func TestMend(t *testing.T) {
	const source = "package price\n\n// A T has N.\ntype T struct{ N int }\n\nfunc years(c *T) int {\n\treturn c.N\n}\n"
	for _, tt := range []struct {
		name, source string
		from, line   int
		patch        bool
	}{
		{"a function", source, 1, 6, true},
		{"at the end of what was shown", strings.TrimSuffix(source, "}\n"), 1, 6, true},
		{"the package was not shown", source, 3, 6, false},
		{"a struct is returned", strings.Replace(source, ") int", ") T", 1), 1, 6, false},
		{"two parameters", strings.Replace(source, "c *T", "c *T, n int", 1), 1, 6, false},
		{"a method", strings.Replace(source, "func years(c *T)", "func (c *T) years()", 1), 1, 6, false},
		{"no function", source, 1, 4, false},
	} {
		f := &file{path: "internal/price/years.go", lines: map[int]string{}}
		for i, l := range strings.Split(strings.TrimSuffix(tt.source, "\n"), "\n") {
			if i+1 >= tt.from {
				f.lines[i+1] = l
			}
		}
		patch := mend(f, tt.line)
		if (patch != "") != tt.patch {
			t.Errorf("%s: %q", tt.name, patch)
		}
		if patch == "" {
			continue
		}
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "internal/price"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.path), []byte(tt.source), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(patch), append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", tt.name, err, out, patch)
		}
	}
}
