package scan

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// The sentences of testdata/held.tsv are not in this repository: it has their hashes. The folder that DECANT_HELD names
// holds the files that they stand in (testdata/README.md says where these come from).
func TestVerdictsOfSessionsElsewhere(t *testing.T) {
	folder := os.Getenv("DECANT_HELD")
	if folder == "" {
		t.Skip("DECANT_HELD names no folder with the recorded prompts")
	}
	known, got := typedElsewhere(t, folder), map[string]*score{}
	for _, p := range readPairs(t, "testdata/held.tsv") {
		hash := p.sentence
		if p.sentence = known[hash]; p.sentence == "" {
			t.Errorf("%s %s %s: no file in %s has the sentence %s", p.project, p.session, p.message, folder, hash)
			continue
		}
		if got[p.set] == nil {
			got[p.set] = &score{}
		}
		got[p.set].add(t, p)
	}
	for set, s := range got {
		t.Logf("%s: %s", set, s)
	}
}

// typedElsewhere returns the sentences of the files in a folder by their hashes.
func typedElsewhere(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(path)
		for _, s := range sentences(string(src)) {
			out[hashOf(s)] = s
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hashOf returns the hash of the letters of a sentence, without addresses.
func hashOf(s string) string {
	var letters strings.Builder
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		for _, r := range w {
			if unicode.IsLetter(r) && !strings.Contains(w, "://") {
				letters.WriteRune(r)
			}
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(letters.String())))[:16]
}
