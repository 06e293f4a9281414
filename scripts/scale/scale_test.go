package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session is cut in front of its line, and the client's summary is the one behind that.
func TestWhereASessionIsCut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	lines := `{"isCompactSummary":true,"message":{"content":"the one before"}}
{"message":{"content":"work"}}
{"type":"system"}
{"isCompactSummary":true,"message":{"content":[{"type":"text","text":"what was done"}]}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	before, behind, err := session{File: file, Line: 3}.read()
	if err != nil || strings.Count(string(before), "\n") != 2 || clientSummary(behind) != "what was done" {
		t.Errorf("%q, %q, %v", before, behind, err)
	}
	if before, behind, err = (session{File: file}).read(); err != nil || string(before) != lines || len(behind) > 0 {
		t.Errorf("without a cut: %q, %q, %v", before, behind, err)
	}
	if _, _, err := (session{File: file, Line: 9}).read(); err == nil {
		t.Error("it is cut behind its end")
	}
}

// What readers get does not say whose a record is, and the key does.
func TestReadersDoNotSeeTheForm(t *testing.T) {
	dir := t.TempDir()
	records := []record{{"new", 1, "# User\nm1 Do it."}, {"old", 1, "# User\nDo it."}, {"client", 1, "The user wants it done."}}
	if err := write(dir, records, 7); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(dir, "key.csv"))
	if err != nil || strings.Count(string(key), "\n") != 4 {
		t.Fatalf("%q, %v", key, err)
	}
	for _, name := range []string{"01.md", "02.md", "03.md", "marks.csv", "anchors.md"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(data) == 0 {
			t.Fatal(err)
		}
		for _, form := range []string{"new", "old", "client"} {
			if name != "anchors.md" && strings.Contains(string(data), form) {
				t.Errorf("%s names %s", name, form)
			}
		}
	}
}
