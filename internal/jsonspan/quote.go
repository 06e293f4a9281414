package jsonspan

import (
	"bytes"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text of a JSON string, given with its quotes. Half of a surrogate pair and
// invalid UTF-8 become U+FFFD. A value that is not a string is returned as it is written.
func Unquote(raw []byte) string {
	body := trimQuotes(raw)
	i := bytes.IndexByte(body, '\\')
	if i < 0 {
		return validString(body)
	}
	b := scratch.Get().(*[]byte)
	*b = appendUnquote((*b)[:0], raw)
	s := string(*b)
	if cap(*b) <= mostScratch {
		scratch.Put(b)
	}
	return s
}

// scratch has the buffers in which strings are decoded before it is known how long they are.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// mostScratch is the size of the largest buffer that is kept.
const mostScratch = 1 << 20

// validString returns b as a string in which invalid UTF-8 is replaced.
func validString(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string(appendValid(make([]byte, 0, len(b)+8), b))
}

// appendUnquote appends the text of a JSON string to dst. See [Unquote].
func appendUnquote(dst, raw []byte) []byte {
	body := trimQuotes(raw)
	for len(body) > 0 {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			i = len(body)
		}
		dst = appendValid(dst, body[:i])
		if body = body[i:]; len(body) == 0 {
			break
		}
		var n int
		dst, n = appendEscape(dst, body)
		body = body[n:]
	}
	return dst
}

// appendValid appends b with invalid UTF-8 replaced, one replacement for each bad byte as when
// ranging over a string.
func appendValid(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[n:]
	}
	return dst
}

// appendEscape appends the character of the escape sequence at the start of b and returns the sequence's
// length.
func appendEscape(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return utf8.AppendRune(dst, utf8.RuneError), len(b)
	}
	switch b[1] {
	case 'n':
		return append(dst, '\n'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'u':
		r, n := unicodeEscape(b)
		return utf8.AppendRune(dst, r), n
	}
	return append(dst, b[1]), 2 // \" \\ \/
}

// unicodeEscape reads \uXXXX, or a surrogate pair of two of them, and returns the rune and the length.
func unicodeEscape(b []byte) (rune, int) {
	r, ok := hex4(b)
	if !ok {
		return utf8.RuneError, min(len(b), 6)
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(b[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads the four digits of \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

const hexDigits = "0123456789abcdef"

// AppendQuote appends s to dst as a JSON string, quotes included. Only what JSON demands is escaped:
// quotes, backslashes and control characters; everything else keeps its UTF-8 (RFC 8785, section
// 3.2.2.2). Invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0 // start of the bytes that are not yet appended
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[plain:i]...), "\uFFFD"...)
				plain = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = appendEscaped(append(dst, s[plain:i]...), c)
			plain = i + 1
		}
		i++
	}
	return append(append(dst, s[plain:]...), '"')
}

// appendEscaped appends the shortest escape sequence of c.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
