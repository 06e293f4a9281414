// Package recorded reads the real sessions of the repository's testdata, for tests.
package recorded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/decantdev/decant/wire"
)

// The sessions that there are, by the names of their files in testdata, whose README says where they come from.
const (
	Claude = "claude-code-session.jsonl.gz"
	Codex  = "codex-session.jsonl.gz"
)

// File returns the path of a session's file, from whichever package the test is in.
func File(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", name)
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatalf("no go.mod above the test: where is testdata/%s?", name)
		}
		dir = above
	}
}

// Source returns what a session's file says, unpacked.
func Source(t testing.TB, name string) []byte {
	t.Helper()
	src, err := source(File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func source(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return wire.Read(f)
}

// Read returns the session of any file, packed or not.
func Read(path string) (*wire.Document, error) {
	src, err := source(path)
	if err != nil {
		return nil, err
	}
	return wire.Parse(src)
}

// Session returns a session, which the caller may change.
func Session(t testing.TB, name string) *wire.Document {
	t.Helper()
	doc, err := Read(File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
