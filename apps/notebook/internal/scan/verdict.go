package scan

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/secret"
)

// A Verdict is what a session says about a rule.
type Verdict string

// The verdicts.
const (
	Confirms    Verdict = "confirms"
	Contradicts Verdict = "contradicts"
	neither     Verdict = "neither"
)

// Judge reports whether the person's own words in a session confirm or contradict a rule, and where. It is
// strict, because a false confirmation makes an unwanted rule: a sentence must ask for something, have most
// words of the rule, and forbid or ask for the same. A session that does both contradicts the rule, so that
// the person is asked.
func Judge(rule string, s *Session) (Verdict, []Evidence) {
	verdict := neither
	var found []Evidence
	for _, said := range s.said {
		v := compare(rule, said.Text)
		if v == neither || v == Confirms && verdict == Contradicts {
			continue
		}
		if v != verdict {
			verdict, found = v, nil
		}
		found = append(found, Evidence{s.ID, s.File, said.ID, said.Message, said.Time, secret.Mask(said.Text)})
	}
	return verdict, found
}

// Same reports whether two sentences of a person ask for the same.
func Same(a, b string) bool {
	return negates(a) == negates(b) && alike(about(a), about(b)) || compare(a, b) == Confirms
}

// compare says whether one sentence confirms or contradicts a rule.
func compare(rule, sentence string) Verdict {
	if !heard(sentence) || !directs(sentence) && !orders(sentence) {
		return neither
	}
	r, w := about(rule), about(sentence)
	n := overlap(r, w)
	if !covers(n, len(r), len(w)) || n == 2 && !acts(rule, sentence, shared(r, w), len(r) == 2) || sequence.MatchString(rule) && !sequence.MatchString(sentence) {
		return neither
	}
	if values(rule, sentence) {
		return neither
	}
	if agree(rule, sentence, shared(r, w)) {
		return Confirms
	}
	if n*10 >= len(r)*8 && opposes(rule, sentence, shared(r, w)) {
		return Contradicts
	}
	return neither
}

// covers reports whether a sentence of w words says most of a rule of r words and not much else, when both
// share n words.
func covers(n, r, w int) bool {
	switch {
	case n == 1 && r == 1:
		return w == 1
	case n < 2 || n*4 < w:
		return false
	case n == 2:
		return r == 2 || r == 3 && w <= 4
	}
	return n*10 >= r*7
}

// sequence are words for what comes first.
var sequence = lazyregexp.New(`(?i)\b(first|before|tdd|zuerst|vorher|bevor|avant|antes)\b|先|之前|前に`)

// value is a colour, a number or a version.
var value = lazyregexp.New(`(?i)(?:^|\s)(#?[0-9a-f]*\d[0-9a-f]{2,}|v?\d+(\.\d+)+)\b`)

// values reports whether a sentence has a value that the rule lacks: then it is about one case.
func values(rule, sentence string) bool {
	for _, m := range value.FindAllStringSubmatch(sentence, -1) {
		if !strings.Contains(strings.ToLower(rule), strings.ToLower(m[1])) {
			return true
		}
	}
	return false
}
