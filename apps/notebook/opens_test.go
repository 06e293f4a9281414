package notebook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Files of a repository are opened in one place, below its top. Elsewhere names are looked at, and files of git are read that are
// plain and small.
func TestTheNotebookOpensFilesInOnePlace(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(Open|OpenFile|OpenRoot|ReadFile|WriteFile|Create|CreateTemp|Mkdir|MkdirAll|Rename|Remove|RemoveAll|Link|Symlink|Chmod|Truncate|ReadDir|DirFS)\(`)
	names, err := filepath.Glob("*.go")
	more, _ := filepath.Glob("internal/*/*.go")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range append(names, more...) {
		if strings.HasSuffix(name, "_test.go") || name == "worktree.go" {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := opens.Find(src); m != nil {
			t.Errorf("%s says %s", name, m)
		}
	}
}
