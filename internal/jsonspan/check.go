package jsonspan

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is how deep the quick check follows containers into containers. What is nested deeper is for
// the JSON syntax package to judge, which allows much more.
const maxDepth = 512

// The functions below return the end of what they check, or -1 when it is not valid or nested too deep.

func checkValue(src []byte, i, depth int) int {
	if uint(i) >= uint(len(src)) {
		return -1
	}
	switch src[i] {
	case '"':
		return checkString(src, i)
	case '{':
		return checkItems(src, i, depth, '}')
	case '[':
		return checkItems(src, i, depth, ']')
	case 't':
		return checkLiteral(src, i, "true")
	case 'f':
		return checkLiteral(src, i, "false")
	case 'n':
		return checkLiteral(src, i, "null")
	}
	return checkNumber(src, i)
}

// checkItems checks what an array or an object holds, up to end, the byte that closes it.
func checkItems(src []byte, i, depth int, end byte) int {
	if depth == maxDepth {
		return -1
	}
	i = skipSpace(src, i+1)
	if i < len(src) && src[i] == end {
		return i + 1
	}
	for {
		if end == '}' {
			if i = checkName(src, i); i < 0 {
				return -1
			}
		}
		if i = checkValue(src, i, depth+1); i < 0 {
			return -1
		}
		switch i = skipSpace(src, i); {
		case i >= len(src):
			return -1
		case src[i] == ',':
			i = skipSpace(src, i+1)
		case src[i] == end:
			return i + 1
		default:
			return -1
		}
	}
}

// checkName checks a name and a colon and returns where the value begins.
func checkName(src []byte, i int) int {
	if i >= len(src) || src[i] != '"' {
		return -1
	}
	if i = checkString(src, i); i < 0 {
		return -1
	}
	i = skipSpace(src, i)
	if i >= len(src) || src[i] != ':' {
		return -1
	}
	return skipSpace(src, i+1)
}

func checkLiteral(src []byte, i int, lit string) int {
	if end := i + len(lit); end <= len(src) && string(src[i:end]) == lit {
		return end
	}
	return -1
}

// checkNumber checks a number (RFC 8259 section 6).
func checkNumber(src []byte, i int) int {
	if src[i] == '-' {
		i++
	}
	switch start := i; {
	case i < len(src) && src[i] == '0':
		i++
	default:
		if i = skipDigits(src, i); i == start {
			return -1
		}
	}
	if i < len(src) && src[i] == '.' {
		start := i + 1
		if i = skipDigits(src, start); i == start {
			return -1
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		start := i
		if i = skipDigits(src, start); i == start {
			return -1
		}
	}
	return i
}

func skipDigits(src []byte, i int) int {
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	return i
}

// checkString checks the string whose opening quote is at i. It looks at eight bytes at a time,
// twice in each round.
func checkString(src []byte, i int) int {
	for i++; i+16 <= len(src); {
		words := src[i : i+16 : i+16]
		m := special(binary.LittleEndian.Uint64(words))
		if m == 0 {
			i += 8
			m = special(binary.LittleEndian.Uint64(words[8:]))
		}
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		switch c := src[i]; {
		case c == '"':
			return i + 1
		case c != '\\': // a control character
			return -1
		case i+1 < len(src) && src[i+1] != 'u' && escapes[src[i+1]]:
			i += 2
		default:
			if i = checkEscape(src, i+1); i < 0 {
				return -1
			}
		}
	}
	return checkStringEnd(src, i)
}

// checkStringEnd checks a string from offset i on, byte by byte.
func checkStringEnd(src []byte, i int) int {
	for i < len(src) {
		switch c := src[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i = checkEscape(src, i+1); i < 0 {
				return -1
			}
		default:
			i++
		}
	}
	return -1
}

// escapes are the bytes that may follow a backslash.
var escapes = [256]bool{
	'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true, 'u': true,
}

// checkEscape checks what follows a backslash in a string.
func checkEscape(src []byte, i int) int {
	if i >= len(src) || !escapes[src[i]] {
		return -1
	}
	if src[i] != 'u' {
		return i + 1
	}
	if i+4 < len(src) && isHex(src[i+1]) && isHex(src[i+2]) && isHex(src[i+3]) && isHex(src[i+4]) {
		return i + 5
	}
	return -1
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' <= 5
}

// special marks the bytes of a word that are special in a string by their highest bit. The first mark is
// right; behind it there may be marks too many, because the subtractions borrow from the next byte.
func special(w uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}
