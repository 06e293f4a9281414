package scan

import (
	"fmt"
	"math"
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

func readPairs(t *testing.T, file string) (out []pair) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			t.Fatalf("%s: %d fields in %q", file, len(f), line)
		}
		out = append(out, pair{f[0], f[1], f[2], f[3], Verdict(f[4]), f[5], f[6]})
	}
	return out
}

// A score says how often compare was right about pairs.
type score struct {
	pairs     int
	confirmed tally
	opposed   tally
}

// A tally says of one verdict how often it was given, how often that was right, and how often it was due.
type tally struct{ given, right, due int }

// add judges a pair.
func (s *score) add(t *testing.T, p pair) {
	t.Helper()
	s.pairs++
	v := compare(p.rule, p.sentence)
	s.confirmed.add(v == Confirms, p.want == Confirms)
	s.opposed.add(v == Contradicts, p.want == Contradicts)
	if v != p.want {
		t.Logf("%s %s %s: %s, not %s: %q for %q", p.set, p.session, p.message, v, p.want, p.sentence, p.rule)
	}
}

func (c *tally) add(given, due bool) {
	for n, is := range map[*int]bool{&c.given: given, &c.due: due, &c.right: given && due} {
		if is {
			*n++
		}
	}
}

func (c *tally) precision() float64 { return float64(c.right) / float64(max(c.given, 1)) }
func (c *tally) recall() float64    { return float64(c.right) / float64(max(c.due, 1)) }

// String says what was counted and what it proves: the interval is Wilson's of 95 %.
func (c *tally) String() string {
	n, p, z := float64(max(c.given, 1)), c.precision(), 1.96
	mid, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return fmt.Sprintf("precision %.3f (%d of %d; %.3f to %.3f), recall %.3f (%d of %d)", p, c.right, c.given,
		(mid-half)/(1+z*z/n), (mid+half)/(1+z*z/n), c.recall(), c.right, c.due)
}

func (s *score) String() string {
	return fmt.Sprintf("%d pairs; confirmations: %s; contradictions: %s", s.pairs, &s.confirmed, &s.opposed)
}

// The words that compare listens to were chosen on one set ("fit"); the other ("held") says how good it is.
func TestVerdictsOfRecordedSessions(t *testing.T) {
	got := map[string]*score{"fit": {}, "held": {}}
	for _, p := range readPairs(t, "testdata/pairs.tsv") {
		got[p.set].add(t, p)
	}
	for set, s := range got {
		t.Logf("%s: %s", set, s)
		if c := s.confirmed; c.precision() < 0.95 || c.recall() < 0.25 {
			t.Errorf("%s: want precision .95 and recall .25, got %s", set, &c)
		}
		if s.opposed.right < s.opposed.given {
			t.Errorf("%s: a contradiction that is none: %s", set, &s.opposed)
		}
	}
}
