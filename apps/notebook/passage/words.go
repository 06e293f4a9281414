package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many bytes a word has at most that is indexed: what is longer is data.
const longest = 80

// words calls yield with the words of a text by which it is found, in small letters: names whole and in their
// parts, and of scripts without spaces each two neighbouring characters.
func words(text string, yield func(string)) {
	for i := 0; i < len(text); {
		n := nameEnd(text, i)
		if n == i {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += max(size, 1)
			continue
		}
		name(strings.TrimRight(text[i:n], joints), yield)
		i = n
	}
}

// joints are the characters that join words to a name.
const joints = "._-/"

// nameEnd returns where the name ends that begins at i, i if none does. Joints are within names only.
func nameEnd(s string, i int) int {
	from := i
	for i < len(s) {
		c := s[i]
		switch {
		case c < utf8.RuneSelf && (isLetter(c) || isDigit(c)), i > from && strings.IndexByte(joints, c) >= 0:
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return i
			}
			i += size
		default:
			return i
		}
	}
	return i
}

// name yields a name whole, and its parts.
func name(w string, yield func(string)) {
	if w == "" {
		return
	}
	parts, whole := 0, !strings.ContainsAny(w, joints)
	for from := 0; from < len(w); {
		to := len(w)
		if k := strings.IndexAny(w[from:], joints); k >= 0 {
			to = from + k
		}
		if to > from {
			part(w[from:to], yield)
			parts++
		}
		from = to + 1
	}
	if !whole && parts > 1 && len(w) <= longest {
		yield(strings.ToLower(w))
	}
}

// part yields a part of a name, and the words that capitals mark in it: of OpenHTTPFile these are Open, HTTP and File.
func part(w string, yield func(string)) {
	if strings.IndexFunc(w, unspaced) >= 0 {
		pairs(w, yield)
		return
	}
	n, from := 0, 0
	for i := 1; i < len(w); i++ {
		if hump(w, i) {
			word(w[from:i], yield)
			n, from = n+1, i
		}
	}
	if n > 0 {
		word(w[from:], yield)
		if len(w) <= longest {
			yield(strings.ToLower(w))
		}
		return
	}
	word(w, yield)
}

// hump reports whether a word begins within a name at i: a capital behind a small letter or a digit, the last
// of several capitals.
func hump(w string, i int) bool {
	if !isUpper(w[i]) {
		return false
	}
	return !isUpper(w[i-1]) || i+1 < len(w) && isLower(w[i+1])
}

// word yields one word.
func word(w string, yield func(string)) {
	if len(w) <= longest {
		yield(stem(strings.ToLower(w)))
	}
}

// stem returns a word without the endings of plurals and verbs, the same for most forms of an English word.
func stem(w string) string {
	if len(w) < 4 || !isLower(w[len(w)-1]) {
		return w
	}
	for _, end := range []struct{ is, becomes string }{{"sses", "ss"}, {"ies", "y"}, {"ings", ""}, {"ing", ""},
		{"ed", ""}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""}} {
		if rest, ok := strings.CutSuffix(w, end.is); ok && len(rest)+len(end.becomes) >= 3 {
			w = rest + end.becomes
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	} else if n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdgmnprt", w[n-1]) >= 0 {
		w = w[:n-1]
	}
	return w
}

// pairs yields each two neighbouring characters of scripts without spaces, single ones without such a
// neighbour, and words of other scripts between them.
func pairs(w string, yield func(string)) {
	for w != "" {
		n := runEnd(w, true)
		if n == 0 {
			n = runEnd(w, false)
			word(w[:n], yield)
			w = w[n:]
			continue
		}
		run := []rune(w[:n])
		if len(run) == 1 {
			yield(w[:n])
		}
		for i := 1; i < len(run); i++ {
			yield(string(run[i-1 : i+1]))
		}
		w = w[n:]
	}
}

// runEnd returns where the run of characters ends with which w begins, that are of such scripts or are not.
func runEnd(w string, of bool) int {
	for i, r := range w {
		if unspaced(r) != of {
			return i
		}
	}
	return len(w)
}

// unspaced reports whether r belongs to a script that is written without spaces.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
