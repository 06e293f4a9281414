package memory

import (
	"slices"
	"strings"
	"unicode"
)

// idle are words that make no difference to what a text says.
var idle = map[string]bool{
	"a": true, "an": true, "the": true, "is": true, "are": true, "was": true, "were": true, "be": true, "been": true,
	"that": true, "also": true, "please": true, "user": true, "user's": true,
}

// significant returns the words that distinguish a text from others: in their order, without punctuation around
// them, in small letters unless they are names, without the s of plurals and verbs. A sign, a number or a negation
// stays, so that texts that say something else are never taken for one.
func significant(text string) (out []string) {
	for _, w := range strings.Fields(text) {
		w = strings.TrimFunc(w, func(r rune) bool { return strings.ContainsRune(".,;:!?\"'`()[]{}*…“”‘’", r) })
		if low := strings.ToLower(w); w != "" && !idle[low] {
			out = append(out, stem(w, low))
		}
	}
	return out
}

// Same reports whether two texts say the same: they differ at most in case, punctuation and words that say nothing.
func Same(a, b string) bool { return slices.Equal(significant(a), significant(b)) }

// stem returns how a word is compared. low is the word in small letters.
func stem(w, low string) string {
	if isName(w) {
		return w
	}
	low = strings.TrimSuffix(low, "'s")
	if len(low) > 3 && strings.HasSuffix(low, "s") && !strings.HasSuffix(low, "ss") {
		low = low[:len(low)-1]
	}
	return low
}

// isName reports whether a word is an identifier, a path or a number, whose letters count as they are.
func isName(w string) bool {
	for i, r := range w {
		switch {
		case unicode.IsDigit(r), !unicode.IsLetter(r) && r != '\'' && r != '’':
			return true
		case i > 0 && unicode.IsUpper(r) && strings.ToUpper(w) != w:
			return true
		}
	}
	return false
}

// joints are the characters that join words to a name.
const joints = "._-/"

func isJoint(r rune) bool { return r == '.' || r == '_' || r == '-' || r == '/' }

// terms returns the words of a text by which it is found: in small letters, names whole and in their parts.
func terms(text string) (out []string) {
	add := func(w string) { low := strings.ToLower(w); out = append(out, stem(low, low)) }
	between := func(r rune) bool { return !isTerm(r) }
	for _, w := range strings.FieldsFunc(text, between) {
		if w = strings.Trim(w, joints); w == "" {
			continue
		}
		add(w)
		for _, part := range strings.FieldsFunc(w, isJoint) {
			if part != w {
				add(part)
			}
			if humps := humps(part); len(humps) > 1 {
				for _, h := range humps {
					add(h)
				}
			}
		}
	}
	return out
}

func isTerm(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || isJoint(r) }

// humps returns the words in a name without joints: of OpenHTTPFile they are Open, HTTP and File.
func humps(name string) (out []string) {
	runes, start := []rune(name), 0
	for i := range runes {
		if i > start && begins(runes, i) {
			out = append(out, string(runes[start:i]))
			start = i
		}
	}
	return append(out, string(runes[start:]))
}

// begins reports whether a word begins at a letter within a name: a capital after a small letter or a digit, the last
// of several capitals, or a letter of a script without spaces.
func begins(runes []rune, i int) bool {
	r := runes[i]
	switch {
	case r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return true
	case !unicode.IsUpper(r):
		return false
	}
	return !unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}
