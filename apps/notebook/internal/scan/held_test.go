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
	add := func(set string, p pair) {
		if got[set] == nil {
			got[set] = &score{}
		}
		got[set].add(t, p)
	}
	second := secondReader(t)
	for _, p := range readPairs(t, "testdata/held.tsv") {
		other := second(p)
		if p.sentence = known[other.sentence]; p.sentence == "" {
			t.Errorf("%s %s %s: no file in %s has the sentence %s", p.project, p.session, p.message, folder, other.sentence)
			continue
		}
		add(p.set, p)
		if p.set == "held5" {
			p.want = other.want
			add("held5 as the second reader has it", p)
		}
	}
	for set, s := range got {
		t.Logf("%s: %s", set, s)
	}
}

// secondReader returns a function that gives a pair of held.tsv the label of the second reader. It fails the test where what this one
// sees otherwise is no pair of the first.
func secondReader(t *testing.T) func(pair) pair {
	t.Helper()
	unlabelled := func(p pair) pair { p.want = ""; return p }
	first, second := map[pair]Verdict{}, map[pair]Verdict{}
	for _, p := range readPairs(t, "testdata/held.tsv") {
		first[unlabelled(p)] = p.want
	}
	for _, p := range readPairs(t, "testdata/held-second.tsv") {
		if was, ok := first[unlabelled(p)]; !ok || was == p.want {
			t.Errorf("%s %s %s: the first reader has %q, the second %q", p.project, p.session, p.message, was, p.want)
		}
		second[unlabelled(p)] = p.want
	}
	return func(p pair) pair {
		if v, ok := second[unlabelled(p)]; ok {
			p.want = v
		}
		return p
	}
}

// Two readers of held5 agree on nearly all of it: with Cohen's kappa above .95 a figure says something about what is heard,
// and not about who read.
func TestReadersAgree(t *testing.T) {
	second := secondReader(t)
	pairs, agree, due, dueToo := 0., 0., 0., 0.
	for _, p := range readPairs(t, "testdata/held.tsv") {
		if p.set != "held5" {
			continue
		}
		other := second(p)
		pairs++
		agree += truth(p.want == other.want)
		due += truth(p.want == Confirms)
		dueToo += truth(other.want == Confirms)
	}
	chance := due/pairs*dueToo/pairs + (1-due/pairs)*(1-dueToo/pairs)
	if kappa := (agree/pairs - chance) / (1 - chance); pairs != 550 || kappa < .95 {
		t.Errorf("they agree on %.0f of %.0f pairs, kappa %.3f", agree, pairs, kappa)
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
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
