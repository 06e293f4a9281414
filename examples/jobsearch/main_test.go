package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The project has three rounds of 27,000 tokens or so, in files that a result has room for, each with its own values.
func TestWrite(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "search"), filepath.Join(t.TempDir(), "search")
	for _, folder := range []string{one, two} {
		if err := write(folder); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(one, "round[123][abc].txt"))
	if err != nil || len(files) != rounds*pages {
		t.Fatalf("files %q, error %v", files, err)
	}
	for _, file := range append(files, filepath.Join(one, "search-prompt.txt")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "https://jobs.example.com/"); strings.Contains(file, "round") && (n != jobs || len(b) < 35_000 || len(b) > 40_000) {
			t.Errorf("%s has %d bytes and %d addresses", filepath.Base(file), len(b), n)
		}
		if other, err := os.ReadFile(filepath.Join(two, filepath.Base(file))); err != nil || strings.Contains(file, "round") && string(other) == string(b) {
			t.Errorf("%s is the same in another project, or is not there: %v", filepath.Base(file), err)
		}
	}
	if write(one) == nil {
		t.Error("a folder that is there is written into")
	}
}
