package scan

import (
	"os"
	"strings"
	"testing"
)

// A pair is a rule, a sentence that a person typed in a recorded session, and what a reader says about the two.
type pair struct {
	set, project, session, message string
	want                           Verdict
	rule, sentence                 string
}

func readPairs(t *testing.T) (out []pair) {
	t.Helper()
	src, err := os.ReadFile("testdata/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			t.Fatalf("testdata/pairs.tsv: %d fields in %q", len(f), line)
		}
		out = append(out, pair{f[0], f[1], f[2], f[3], Verdict(f[4]), f[5], f[6]})
	}
	return out
}

// The words that compare listens to were chosen on one project ("fit"); the others ("held") say how good it is.
func TestVerdictsOfRecordedSessions(t *testing.T) {
	type score struct{ pairs, given, right, due int }
	got := map[string]*score{"fit": {}, "held": {}}
	for _, p := range readPairs(t) {
		s := got[p.set]
		s.pairs++
		v := compare(p.rule, p.sentence)
		if p.want != neither {
			s.due++
		}
		if v != neither {
			s.given++
		}
		switch {
		case v == p.want && v != neither:
			s.right++
		case v != p.want:
			t.Logf("%s %s %s: %s, not %s: %q for %q", p.set, p.session, p.message, v, p.want, p.sentence, p.rule)
		}
	}
	for set, s := range got {
		precision, recall := float64(s.right)/float64(max(s.given, 1)), float64(s.right)/float64(max(s.due, 1))
		t.Logf("%s: %d pairs, precision %.3f (%d of %d), recall %.3f (%d of %d)", set, s.pairs, precision, s.right, s.given, recall, s.right, s.due)
		if precision < 0.95 || recall < 0.25 {
			t.Errorf("%s: precision %.3f and recall %.3f, want .95 and .25", set, precision, recall)
		}
	}
}
