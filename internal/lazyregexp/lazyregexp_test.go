package lazyregexp

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/testkit"
)

// expressions are of all kinds whose words differ: with alternatives, classes, ends, repetitions, and without case.
var expressions = []string{
	`abc`, `^abc`, `^(?:abc|b+c)(?:$|[^\pL])`, `(?:^|[^\pL])(?:ab|c(?:a|b)? c|é )(?:$|[^\pL])`, `[abc]{2,3}b`, `a.*c`, `(?i)abk|\bcSé`, `(?i)ék`,
	`(?m)^ab$`, `^a|b$`, `^a|^bc`, `(?:ab)?c`, `(?:ab)*`, `a*`, `[ab]+é|[^ab]c`, `(?s)a.b`, "\ufffda", `x{0}`, `(a)(b)|(c)`, `^[bc]?a`, `^\s*ab`, `\pLa`, `[^a]`, `$`, `(?:)`,
}

// TestFilterChangesNothing compares what expressions find in texts with what they find without their words.
func TestFilterChangesNothing(t *testing.T) {
	const letters = "aaabbbccc kK\u212asSſéÉ\n1"
	pick := rand.New(rand.NewPCG(1, 2))
	runes := []rune(letters)
	for _, e := range expressions {
		with, without := New(e), regexp.MustCompile(e)
		may := MayMatch(with, New(`\x{10ffff}`))
		for range testkit.Depth(2000, 50000) {
			var b strings.Builder
			for range pick.IntN(8) {
				if pick.IntN(20) == 0 {
					b.WriteByte(0xff)
				}
				b.WriteRune(runes[pick.IntN(len(runes))])
			}
			s := b.String()
			if with.MatchString(s) && !may(s) {
				t.Fatalf("%q matches %q, and is told apart among several", e, s)
			}
			for _, c := range []struct {
				name      string
				got, want any
			}{
				{"MatchString", with.MatchString(s), without.MatchString(s)},
				{"FindString", with.FindString(s), without.FindString(s)},
				{"FindAllString", with.FindAllString(s, -1), without.FindAllString(s, -1)},
				{"FindStringSubmatchIndex", with.FindStringSubmatchIndex(s), without.FindStringSubmatchIndex(s)},
				{"ReplaceAllString", with.ReplaceAllString(s, "x"), without.ReplaceAllString(s, "x")},
				{"Split", with.Split(s, 2), without.Split(s, 2)},
				{"Split into none", with.Split(s, 0), without.Split(s, 0)},
			} {
				if !reflect.DeepEqual(c.got, c.want) {
					t.Fatalf("%s of %q by %q: %v, without a filter %v", c.name, s, e, c.got, c.want)
				}
			}
		}
	}
}

// TestFilterKeepsExpressionsFromWork checks that texts without a word do not reach the expression.
func TestFilterKeepsExpressionsFromWork(t *testing.T) {
	for _, c := range []struct {
		expression, text string
		passes           bool
	}{
		{`(?:^|[^\pL])(?:always|never|for (?:all|every) [a-z]+)(?:$|[^\pL])`, "what is the newest of all", false},
		{`(?:^|[^\pL])(?:always|never|for (?:all|every) [a-z]+)(?:$|[^\pL])`, "it is for all of them", true},
		{`^(?:it|he|she)(?:$|[^\pL])`, "tell it", false},
		{`^(?:it|he|she)(?:$|[^\pL])`, "it tells", true},
		{`(?i)warning: \d+`, "no word of it", false},
		{`(?i)warning: \d+`, "WARNING: 1", true},
		{`[\pL\d./@-]*[\d_/@][\pL\d_./@-]*`, "words only", false},
		{`\pL+`, "", true},
	} {
		if got := New(c.expression).may(c.text); got != c.passes {
			t.Errorf("%q may match %q: %t", c.expression, c.text, got)
		}
	}
}
