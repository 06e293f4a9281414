package fact

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/testkit"
)

// TestNamesAreThoseOfTheExpression compares what is taken for a name, and for a sentence in Chinese or Japanese, with what
// the expressions find that say the same.
func TestNamesAreThoseOfTheExpression(t *testing.T) {
	names := regexp.MustCompile("[\\pL\\d./@-]*[\\d_/@][\\pL\\d_./@-]*[\\pL\\d_]|`[^`]{1,60}`")
	east := regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}]{2}`)
	pieces := []string{"a", "b", "é", "1", "٣", "_", "/", "@", ".", "-", "`", " ", "\n", "\xff", "世", "の", "ア", "한", "…", strings.Repeat("w", 29), strings.Repeat("世", 30)}
	pick := rand.New(rand.NewPCG(1, 2))
	for range testkit.Depth(20_000, 1_000_000) {
		var b strings.Builder
		for range pick.IntN(9) {
			b.WriteString(pieces[pick.IntN(len(pieces))])
		}
		s := b.String()
		if got, want := unnamed(s), names.ReplaceAllString(s, "x"); got != want {
			t.Fatalf("%q without names is %q, want %q", s, got, want)
		}
		if got, want := eastern(s), east.MatchString(s); got != want {
			t.Fatalf("%q is eastern: %t, want %t", s, got, want)
		}
	}
}

// TestMostSentencesAreToldApartAtOnce guards the words that an order must have: an expression of which none is known would
// let all sentences pass.
func TestMostSentencesAreToldApartAtOnce(t *testing.T) {
	for s, want := range map[string]bool{"the build is green again": false, "what x did we see there": false, "always run the tests": true} {
		if got := mayOrder(s); got != want {
			t.Errorf("%q may be an order: %t", s, got)
		}
	}
	if s := "the build is green again"; mayRule(s) {
		t.Errorf("%q may be a rule", s)
	}
}
