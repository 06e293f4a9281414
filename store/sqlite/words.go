package sqlite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/secret"
)

// A term is one thing that a query asks for.
type term struct {
	text  string
	exact bool // in quotes: must occur as it is, letter case aside
}

// parseTerms takes a query apart: words, and phrases in double quotes. There is no other syntax, so
// that any text may be searched for.
func parseTerms(query string) []term {
	var out []term
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			if strings.TrimSpace(part) != "" {
				out = append(out, term{text: part, exact: true})
			}
			continue
		}
		for _, w := range strings.Fields(part) {
			out = append(out, term{text: w})
		}
	}
	return out
}

// matchExpression returns what FTS5 is asked for: every term as a quoted phrase, whose last word may go
// on, in each way to spell it. It is empty when no term has a letter or digit, which the index knows
// nothing of.
func matchExpression(terms []term) string {
	var out []string
	for _, t := range terms {
		if strings.IndexFunc(t.text, isToken) < 0 {
			continue
		}
		var ways []string
		for _, s := range spellings(t.text) {
			ways = append(ways, `"`+strings.ReplaceAll(spread(s), `"`, `""`)+`" *`)
		}
		out = append(out, "("+strings.Join(ways, " OR ")+")")
	}
	return strings.Join(out, " AND ")
}

// spellings returns text with ß and with ss: capital letters and some countries have no ß, and the index
// tells them apart.
func spellings(text string) []string {
	out := []string{text}
	lower := strings.ToLower(text)
	for _, other := range []string{strings.ReplaceAll(lower, "ß", "ss"), strings.ReplaceAll(lower, "ss", "ß")} {
		if other != lower {
			out = append(out, other)
		}
	}
	return out
}

func isToken(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// spread returns text with the letters of scripts that are written without spaces set apart. The
// tokenizer would take a whole run of them for one word; so each is a word, and a phrase of them is
// found wherever it occurs, even if it has one letter only. Zero bytes, which would end an
// expression, become spaces.
func spread(text string) string {
	text = strings.ReplaceAll(text, "\x00", " ")
	i := strings.IndexFunc(text, isUnspaced)
	if i < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	b.WriteString(text[:i])
	for _, r := range text[i:] {
		if !isUnspaced(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteByte(' ')
		b.WriteRune(r)
		b.WriteByte(' ')
	}
	return b.String()
}

func isUnspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// indexFold returns where sub occurs in s first, whatever the case of the letters, and ß as ss: the byte
// range in s, or -1 and 0.
func indexFold(s, sub string) (start, end int) {
	want := folded(sub)
	if len(want) == 0 {
		return 0, 0
	}
	for i, r := range s {
		if fold(r) != want[0] && !(want[0] == 's' && isEszett(r)) {
			continue
		}
		if n := prefixFold(s[i:], want); n >= 0 {
			return i, i + n
		}
	}
	return -1, 0
}

// prefixFold returns how many bytes of s are want, which is folded, or -1.
func prefixFold(s string, want []rune) int {
	n := 0
	for len(want) > 0 {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case size == 0:
			return -1
		case fold(r) == want[0]:
			want = want[1:]
		case isEszett(r) && want[0] == 's' && (len(want) == 1 || want[1] == 's'):
			want = want[min(2, len(want)):]
		default:
			return -1
		}
		n += size
	}
	return n
}

// folded returns s in small letters, with ss for ß.
func folded(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if isEszett(r) {
			out = append(out, 's', 's')
			continue
		}
		out = append(out, fold(r))
	}
	return out
}

func isEszett(r rune) bool { return r == 'ß' || r == 'ẞ' }

func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

// holds reports whether text has all the terms, whatever the case.
func holds(text string, terms []term) bool {
	for _, t := range terms {
		if i, _ := indexFold(text, t.text); i < 0 {
			return false
		}
	}
	return true
}

// around is how many bytes of text a snippet shows on either side of a match.
const around = 80

// snippet returns the text around the first term that occurs, on one line and without credentials, and where
// that is. A term within a credential is shown as the placeholder of the whole credential.
func snippet(text string, terms []term) (string, [2]int) {
	start, end := 0, 0
	for _, t := range terms {
		if i, n := indexFold(text, t.text); i >= 0 {
			start, end = i, n
			break
		}
	}
	text, start, end = near(text, start, end)
	found := secret.Find(text)
	for _, m := range found {
		if m.Start < end && start < m.End {
			start, end = min(start, m.Start), max(end, m.End)
		}
	}
	from, to := max(0, start-around), min(len(text), max(end, start+1)+around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	before, match, after := masked(text, from, start, found), masked(text, start, end, found), masked(text, end, to, found)
	before, after = strings.TrimLeft(before, " "), strings.TrimRight(after, " ")
	return before + match + after, [2]int{len(before), len(before) + len(match)}
}

// secretReach is how many bytes on each side of a term are looked through for credentials. None is as long.
const secretReach = 64 << 10

// near returns the part of a text in which credentials near text[start:end] stand, and where that is in it.
func near(text string, start, end int) (string, int, int) {
	from := max(0, start-secretReach)
	return text[from:min(len(text), end+secretReach)], start - from, end - from
}

// masked returns text[from:to] on one line, with a placeholder for each credential that the range touches.
func masked(text string, from, to int, found []secret.Match) string {
	var b strings.Builder
	for _, m := range found {
		if m.Start < to && from < m.End {
			b.WriteString(text[from:max(from, m.Start)] + m.String())
			from = m.End
		}
	}
	return oneLine(b.String() + text[min(from, to):to])
}

// oneLine returns s with each run of white space and control characters as one space.
func oneLine(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}
