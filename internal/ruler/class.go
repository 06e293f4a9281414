package ruler

import (
	"unicode"
	"unicode/utf8"
)

// Classes of bytes. Those from 0x80 on are of none.
const (
	word   = 1 << iota // a letter, a digit or an underscore
	lower              // a to z
	upper              // A to Z
	digit              // 0 to 9
	hex                // 0 to 9, a to f
	part               // what a part of a path is made of
	route              // what a path begins with
	figure             // what a number begins with
)

var class = [256]uint8{}

func init() {
	set := func(from, to byte, c uint8) {
		for b := from; b <= to; b++ {
			class[b] |= c
		}
	}
	set('a', 'z', word|lower|part)
	set('A', 'Z', word|upper|part)
	set('0', '9', word|digit|hex|part)
	set('a', 'f', hex)
	set('_', '_', word|part)
	for _, b := range []byte(".@+-") {
		class[b] |= part
	}
	for b := range class {
		if c := class[b]; c&part != 0 || b == '~' || b == '/' {
			class[b] |= route
		}
		if c := class[b]; c&digit != 0 || b == 'v' || b == '#' {
			class[b] |= figure
		}
	}
}

// is reports whether the byte at i is an ASCII character of a class.
func is(s string, i int, c uint8) bool {
	return i >= 0 && i < len(s) && class[s[i]]&c != 0
}

// run returns the end of the ASCII characters of a class from i on.
func run(s string, i int, c uint8) int {
	for i < len(s) && class[s[i]]&c != 0 {
		i++
	}
	return i
}

// begin returns the first place from i on where something can begin: a character of a class, or one outside of ASCII.
func begin(s string, i int, c uint8) int {
	for i < len(s) && s[i] < utf8.RuneSelf && class[s[i]]&c == 0 {
		i++
	}
	return i
}

// wordRune reports whether r is a letter, a digit or an underscore in any script.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return class[r]&word != 0
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// wordAt returns the size of the word character at i, or 0.
func wordAt(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	if s[i] < utf8.RuneSelf {
		return int(class[s[i]] & word)
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if wordRune(r) {
		return n
	}
	return 0
}

// wordEnd returns the end of the word characters from i on.
func wordEnd(s string, i int) int {
	for {
		i = run(s, i, word)
		if i == len(s) || s[i] < utf8.RuneSelf || wordAt(s, i) == 0 {
			return i
		}
		i += wordAt(s, i)
	}
}

// wordBefore reports whether a word character precedes i.
func wordBefore(s string, i int) bool {
	if i == 0 {
		return false
	}
	if c := s[i-1]; c < utf8.RuneSelf {
		return class[c]&word != 0
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return wordRune(r)
}

// byteBefore reports whether one of the bytes, all under 0x80, precedes i.
func byteBefore(s string, i int, bytes string) bool {
	if i == 0 {
		return false
	}
	for k := range len(bytes) {
		if s[i-1] == bytes[k] {
			return true
		}
	}
	return false
}

// step returns the size of the character at i.
func step(s string, i int) int {
	if s[i] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return n
}
