package notebook

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	tree := workTree(t.TempDir())
	name := filepath.Join(string(tree), "a.md")
	if err := tree.Replace("a.md", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := tree.Replace("a.md", nil, []byte("two")); !errors.Is(err, errChanged) {
		t.Errorf("a file that is there by now: %v", err)
	}
	if err := tree.Replace("a.md", []byte("other"), []byte("two")); !errors.Is(err, errChanged) {
		t.Errorf("a file that has changed: %v", err)
	}
	if text, _ := os.ReadFile(name); string(text) != "one" {
		t.Errorf("it holds %q", text)
	}
	if err := tree.Replace("a.md", []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(string(tree))
	if text, _ := os.ReadFile(name); string(text) != "two" || len(entries) != 1 {
		t.Errorf("it holds %q, beside %v, %v", text, entries, err)
	}
}
