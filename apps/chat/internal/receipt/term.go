package receipt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// Terms are what is looked up of a piece of an answer.
type terms struct {
	strings []string // that must stand somewhere letter by letter: numbers, names, paths, addresses, what is quoted
	words   []string // the others, folded; each once
}

var (
	quoted  = lazyregexp.New("“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»|「([^」\n]{1,200})」|『([^』\n]{1,200})』|\"([^\"\n]{2,200})\"|`([^`\n]{2,200})`")
	numbers = lazyregexp.New(`\d+(?:[.,:]\d+)*`)
	names   = lazyregexp.New(`\p{Lu}[\p{L}\p{M}'’-]+(?: (?:d[aeiou]s? |del |van |von |der |of )?\p{Lu}[\p{L}\p{M}'’-]+)+`)
)

// termsOf returns what is looked up of a piece.
func termsOf(text string) terms {
	var t terms
	taken := make([]bool, len(text))
	take := func(start, end int) {
		s := strings.TrimRight(strings.TrimSpace(text[start:end]), ".,;:!?")
		if s == "" || slices.Contains(taken[start:end], true) {
			return
		}
		for i := start; i < end; i++ {
			taken[i] = true
		}
		if !slices.Contains(t.strings, s) {
			t.strings = append(t.strings, s)
		}
	}
	for _, m := range quoted.FindAllStringSubmatchIndex(text, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				take(m[g], m[g+1])
			}
		}
	}
	for _, s := range fact.Scan(nil, text) {
		if !s.Inner {
			take(s.Start, s.End)
		}
	}
	for _, m := range numbers.FindAllStringIndex(text, -1) {
		if m[1]-m[0] > 1 { // one digit stands everywhere
			take(m[0], m[1])
		}
	}
	for _, m := range names.FindAllStringIndex(text, -1) {
		if m[0] > 0 { // at the beginning the first word is written so in any case
			take(m[0], m[1])
		}
	}
	eachWord(text, func(start, _ int, w string) {
		if !taken[start] && !common[w] && !slices.Contains(t.words, w) {
			t.words = append(t.words, w)
		}
	})
	return t
}

// common are words that say nothing by themselves. What is as frequent in other languages weighs little by its number.
var common = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`the and for are was were been being that this these those with from have has had not but you your yours our ours their its his
		her they them she him who what when where which why how can could will would shall should may might must does did done into onto than then there here also
		just about over under out off all any some each more most such only own same too very one two let here's it's i'm i've you're don't is it in of to on at by as an or
		if so no be do we he me my up us am go`) {
		out[folded(w)] = true
	}
	return out
}()

// eachWord calls f with each word of a text, folded: runs of letters and digits, and of scripts without spaces each two characters.
func eachWord(text string, f func(start, end int, folded string)) {
	start := -1
	end := func(at int) {
		if start >= 0 && utf8.RuneCountInString(text[start:at]) > 1 {
			f(start, at, folded(text[start:at]))
		}
		start = -1
	}
	wide := -1 // where the character before stands, if its script has no spaces
	for i, r := range text {
		switch {
		case unspaced(r):
			end(i)
			if wide >= 0 {
				f(wide, i+utf8.RuneLen(r), text[wide:i+utf8.RuneLen(r)])
			}
			wide = i
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
		wide = -1
	}
	end(len(text))
}

// unspaced reports whether a character is of a script that is written without spaces.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// folded returns a word as it is compared: small, and without the s of a plural.
func folded(w string) string {
	w = strings.ToLower(w)
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		w = w[:len(w)-1]
	}
	return w
}

// small returns a text with small letters, of ASCII only, so that each byte stays at its place.
func small(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

var (
	plain   = lazyregexp.New(`^\d{4,9}$`)
	grouped = lazyregexp.New(`^\d{1,3}(,\d{3})+(\.\d+)?$`)
)

// spellings returns how a string may stand in a text that has small letters: 1,450 as 1450, too, and the other way round.
func spellings(s string) []string {
	s = small(s)
	switch {
	case grouped.MatchString(s):
		return []string{s, strings.ReplaceAll(s, ",", "")}
	case plain.MatchString(s):
		with := s
		for i := len(s) - 3; i > 0; i -= 3 {
			with = with[:i] + "," + with[i:]
		}
		return []string{s, with}
	}
	return []string{s}
}

// find returns where a string stands by itself in a text, not as a part of a longer word or number; -1: nowhere.
func find(text, s string, from int) int {
	for from <= len(text)-len(s) {
		i := strings.Index(text[from:], s)
		if i < 0 {
			return -1
		}
		if i += from; alone(text, i, i+len(s)) {
			return i
		}
		from = i + 1
	}
	return -1
}

// alone reports whether what stands at a place goes on neither before nor behind it.
func alone(text string, start, end int) bool {
	if start > 0 && wordly(text[start]) && (wordly(text[start-1]) || digit(text[start]) && start > 1 && strings.IndexByte(".,", text[start-1]) >= 0 && digit(text[start-2])) {
		return false
	}
	if end >= len(text) || !wordly(text[end-1]) {
		return true
	}
	return !wordly(text[end]) && (!digit(text[end-1]) || end+1 >= len(text) || strings.IndexByte(".,", text[end]) < 0 || !digit(text[end+1]))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordly(c byte) bool {
	return digit(c) || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
