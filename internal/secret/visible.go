package secret

import (
	"strings"
	"unicode"
)

// MaskVisible returns the first bytes of a text, at most most of them, without credentials and invisible characters:
// that could hide a credential, or words that only a model reads.
func MaskVisible(text string, most int) string {
	last := rune(0)
	return Mask(strings.Map(func(r rune) rune {
		joins := (r == '\u200c' || r == '\u200d') && last >= '\u0600' && !unicode.IsSpace(last) // Persian, Hindi and others are spelled with them
		if unseen(r) && !joins {
			return -1
		}
		last = r
		return r
	}, strings.ToValidUTF8(text[:min(len(text), most)], "")))
}

// unseen reports whether a character is drawn as nothing: it turns the direction of writing, joins, tags or selects.
func unseen(r rune) bool {
	return r >= 0xad && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// OneLine returns s in a form for headers and logs: without unprintable characters and without credentials.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, Mask(s))
	return s[:min(len(s), 300)]
}
