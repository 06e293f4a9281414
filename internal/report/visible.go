package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text with what a terminal would obey, and what nobody would see, in signs that can be
// seen: control characters as their pictures (U+2400 and up), other controls and invisible characters as
// their number, "<U+202E>", and bytes that are no UTF-8 as the replacement character. Tabs and ends of
// lines stay.
func Visible(s string) string {
	i := 0
	for i < len(s) && (s[i] >= ' ' && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t') {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for _, r := range s[i:] {
		b.WriteString(sign(r))
	}
	return b.String()
}

// sign returns what stands for a character on a terminal, most often itself.
func sign(r rune) string {
	switch {
	case !hidden(r):
		return string(r)
	case r < ' ':
		return string('\u2400' + r)
	case r == 0x7f:
		return "\u2421"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// hidden reports whether a character is a command for a terminal or cannot be seen: control characters
// but for tabs and ends of lines, separators of lines, what turns the direction of writing, joiners, tags,
// fillers, and selectors, in which whole texts have been hidden.
func hidden(r rune) bool {
	if r < 0x80 {
		return r < ' ' && r != '\t' && r != '\n' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.Is(fillers, r)
}

// fillers are letters and marks that are drawn as nothing.
var fillers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // joins graphemes
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul, as the two below
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}, // selectors of variants, 17 and up
}

// plain returns a line of text without what [Visible] would have to show, with tabs as spaces.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == '\n' || r == utf8.RuneError || hidden(r):
			return -1
		}
		return r
	}, s)
}
