package secret

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dataEnv names a folder of recorded sessions, JSON or JSON lines, packed or not.
const dataEnv = "DECANT_DATA"

// TestFalseAlarms counts how many lines of real sessions are masked. They hold almost no credentials, so
// what is masked is mostly a false alarm: go test -v prints each, to be judged by a person.
func TestFalseAlarms(t *testing.T) {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		t.Skip(dataEnv + " names no folder")
	}
	texts := realTexts(t, dir)
	lines, masked := 0, 0
	for _, text := range texts {
		lines += strings.Count(text, "\n") + 1
		at := -1
		for _, m := range Find(text) {
			if start := strings.LastIndexByte(text[:m.Start], '\n'); start != at || masked == 0 {
				masked++
				at = start
			}
			from, to := max(0, m.Start-60), min(len(text), m.End+30)
			t.Logf("%s: %q >%s< %q", m.Kind, text[from:m.Start], clipped(text[m.Start:m.End]), text[m.End:to])
		}
	}
	const line = 5000 // of so many lines one may be masked
	t.Logf("%d texts, %d lines, %d masked: one in %d", len(texts), lines, masked, lines/max(1, masked))
	if lines < 100_000 {
		t.Errorf("%d lines in %s: want 100,000 or more", lines, dir)
	}
	if masked*line > lines {
		t.Errorf("%d of %d lines are masked, want at most one in %d", masked, lines, line)
	}
}

func clipped(s string) string { return s[:min(len(s), 100)] }

// realTexts returns all strings in the files of a folder, each once.
func realTexts(t *testing.T, dir string) (texts []string) {
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		dec := json.NewDecoder(bufio.NewReader(bytes.NewReader(content(t, name))))
		for {
			var v any
			if err := dec.Decode(&v); err != nil {
				return nil // the end, or what is no JSON
			}
			each(v, func(s string) {
				if !seen[s] {
					seen[s] = true
					texts = append(texts, s)
				}
			})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// content returns what is in a file, unpacked.
func content(t *testing.T, name string) []byte {
	b, err := os.ReadFile(name)
	if err == nil && filepath.Ext(name) == ".gz" {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// each calls f with every string in a value of JSON, names aside.
func each(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			each(e, f)
		}
	case map[string]any:
		for _, e := range v {
			each(e, f)
		}
	}
}
