package fact

import (
	"strings"

	"github.com/decantdev/decant"
)

// A Span is the place of one fact in a text.
type Span struct {
	Start, End int             // bytes, half open
	Kind       decant.FactKind // path, url, identifier, hash, flag, number or error
	Inner      bool            // lies within an earlier span: the name of a file in a path
}

// Scan appends to dst the facts in text that have to be repeated letter by letter: paths, URLs,
// identifiers, hashes, flags, numbers and names of errors. Spans come in rising order of Start;
// an inner one follows the span it lies in. Plain words and short numbers are no facts.
//
// It is one pass over the bytes without regular expressions, because every block of a transcript
// goes through it.
func Scan(dst []Span, text string) []Span {
	for i := 0; i < len(text); {
		c := class[text[i]]
		if c&runByte == 0 {
			switch text[i] {
			case '#':
				dst, i = number(dst, text, i)
			case '\\', '%':
				i += escape(text[i:])
			case '<':
				i += closing(text[i:])
			default:
				i++
			}
			continue
		}
		end, special := run(text, i)
		if end+2 < len(text) && text[end] == ':' && text[end+1] == '/' && text[end+2] == '/' && scheme(text[i:end]) {
			stop := urlEnd(text, end)
			if stop > end+6 {
				dst = append(dst, Span{i, stop, decant.FactURL, false})
				dst = segments(dst, text, end+3, stop)
			}
			i = stop
			continue
		}
		stop := end
		if i > 0 && text[i-1] == '<' && strings.HasPrefix(text[end-1:], "/>") { // an element without content
			stop--
		}
		if special && !(i > 0 && text[i-1] >= 0x80 && end-i < 3) {
			dst = classify(dst, text, i, stop)
		}
		i = end
	}
	return dst
}

// escape returns the length of the escape at the start of s, or 1: "\n", "\u003c" and "%2F" are no parts of
// the names behind them. A tool that prints JSON or a URL within its text shows them so.
func escape(s string) int {
	switch {
	case len(s) >= 3 && s[0] == '%' && hexDigit(s[1]) && hexDigit(s[2]):
		return 3
	case len(s) >= 6 && s[1] == 'u' && hexDigit(s[2]) && hexDigit(s[3]) && hexDigit(s[4]) && hexDigit(s[5]):
		return 6
	case len(s) >= 2 && s[0] == '\\' && strings.IndexByte(`nrt"\/`, s[1]) >= 0:
		return 2
	}
	return 1
}

// closing returns how much of s, which begins with "<", is no name: of the tag that closes an element,
// "</system-reminder>", the slash as well, which makes no path of what follows.
func closing(s string) int {
	if len(s) < 3 || s[1] != '/' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>' && i > 2:
			return 2
		case class[c]&wordByte == 0 && c != '-' && c != '.' && c != ':':
			return 1
		}
	}
	return 1
}

func hexDigit(c byte) bool { return hex(c) || c >= 'A' && c <= 'F' }

// Classes of bytes.
const (
	lower = 1 << iota
	upper
	digit
	under
	link // joins the parts of a path, a file name or a flag
)

const (
	letter   = lower | upper
	wordByte = letter | digit | under
	runByte  = wordByte | link
)

var class = classes()

func classes() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = lower
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '_':
			t[c] = under
		case strings.IndexByte("./-~@+", byte(c)) >= 0:
			t[c] = link
		}
	}
	return t
}

// run returns the end of the run of name bytes that starts at i, and whether it can be more than a
// plain word: it has something besides lower-case letters and one leading capital.
func run(text string, i int) (end int, special bool) {
	seen := uint8(0)
	j := i
	for j < len(text) {
		c := class[text[j]]
		if c&runByte == 0 {
			break
		}
		if j > i {
			seen |= c
		} else {
			seen |= c &^ upper
		}
		j++
	}
	return j, seen&(upper|digit|under|link) != 0
}

func scheme(s string) bool {
	return s == "http" || s == "https" || s == "ssh" || s == "git" || s == "file" || s == "ws" || s == "wss"
}

// urlEnd returns where the URL whose colon is at i ends.
func urlEnd(text string, i int) int {
	j := i
	for j < len(text) && text[j] > ' ' && text[j] < 0x80 && strings.IndexByte("\"'`<>)]}\\|", text[j]) < 0 {
		j++
	}
	for j > i && strings.IndexByte(".,:;!?", text[j-1]) >= 0 {
		j--
	}
	return j
}

// longest is the longest fact in bytes. What is longer is data, not a name that somebody repeats.
const longest = 300

// encoded reports whether s is a stretch of base64 rather than a path: long, without the marks that
// names have, and changing between capitals, small letters and digits all the time.
func encoded(s string) bool {
	if len(s) < 40 {
		return false
	}
	changes, seen := 0, class[s[0]]
	for i := 1; i < len(s); i++ {
		c := class[s[i]]
		if c&under != 0 || s[i] == '.' || s[i] == '-' {
			return false
		}
		if c != class[s[i-1]] {
			changes++
		}
		seen |= c
	}
	return seen&digit != 0 && seen&letter == letter && changes*3 > len(s)
}

// classify appends what the run text[i:end] is.
func classify(dst []Span, text string, i, end int) []Span {
	end = trimEnd(text, i, end)
	if end-i < 4 || end-i > longest || encoded(text[i:end]) {
		return dst
	}
	if strings.HasPrefix(text[i:end], "--") {
		return flag(dst, text, i, end)
	}
	if slash := strings.IndexByte(text[i:end], '/'); slash >= 0 {
		if strings.Contains(text[i:end], gitObjects) {
			return dst
		}
		return pathSpans(dst, text, i, end)
	}
	if isUUID(text[i:end]) {
		return append(dst, Span{i, end, decant.FactHash, false})
	}
	if isDate(text[i:end]) {
		return append(dst, Span{i, end, decant.FactNumber, false})
	}
	if isTicket(text[i:end]) {
		dst = append(dst, Span{i, end, decant.FactIdentifier, false})
		return inner(dst, len(dst), text, i, end)
	}
	for i < end && (text[i] == '-' || text[i] == '+' || text[i] == '~' || text[i] == '@') {
		i++
	}
	if hasExtension(text[i:end]) {
		dst = append(dst, Span{i, end, decant.FactPath, false})
		return inner(dst, len(dst), text, i, end)
	}
	return name(dst, text, i, end)
}

// trimEnd takes off what ends a sentence rather than a name.
func trimEnd(text string, i, end int) int {
	for end > i && class[text[end-1]]&link != 0 {
		end--
	}
	return end
}

// inner appends the names in text[i:end], which lies within a span already found.
func inner(dst []Span, n int, text string, i, end int) []Span {
	dst = name(dst, text, i, end)
	for ; n < len(dst); n++ {
		dst[n].Inner = true
	}
	return dst
}

func flag(dst []Span, text string, i, end int) []Span {
	j := i + 2
	for j < end && (class[text[j]]&(lower|digit) != 0 || text[j] == '-') {
		j++
	}
	if j-i < 5 || class[text[i+2]]&lower == 0 || i > 0 && class[text[i-1]]&wordByte != 0 {
		return dst
	}
	return append(dst, Span{i, j, decant.FactFlag, false})
}

// pathSpans appends the path text[i:end], which holds a slash, and the names within it.
func pathSpans(dst []Span, text string, i, end int) []Span {
	for i < end && (text[i] == '-' || text[i] == '+' || text[i] == '@' && i+1 < end && text[i+1] == '/') {
		i++
	}
	for i+1 < end && text[i] == '/' && text[i+1] == '/' {
		i++
	}
	if end-i < 5 {
		return dst
	}
	if !fraction(text[i:end]) {
		return segments(append(dst, Span{i, end, decant.FactPath, false}), text, i, end)
	}
	n := len(dst)
	dst = segments(dst, text, i, end)
	for ; n < len(dst); n++ {
		dst[n].Inner = false
	}
	return dst
}

// fraction reports whether s is a number like 3/4 or a date like 11/20/2026, which is no path.
func fraction(s string) bool {
	for i := 0; i < len(s); i++ {
		if class[s[i]]&(digit|link) == 0 {
			return false
		}
	}
	return true
}

// segments appends the names between the slashes of text[i:end].
func segments(dst []Span, text string, i, end int) []Span {
	for i < end {
		j := strings.IndexByte(text[i:end], '/')
		if j < 0 {
			j = end - i
		}
		if j >= 4 {
			dst = inner(dst, len(dst), text, i, trimEnd(text, i, i+j))
		}
		i += j + 1
	}
	return dst
}

// name appends the identifiers, hashes, numbers and errors in text[i:end], a run without slashes.
func name(dst []Span, text string, i, end int) []Span {
	for i < end {
		if class[text[i]]&(wordByte) == 0 {
			i++
			continue
		}
		j := i
		for j < end && (class[text[j]]&wordByte != 0 || text[j] == '.' && j+1 < end && class[text[j+1]]&wordByte != 0) {
			j++
		}
		if k, ok := kind(text[i:j]); ok && (k != decant.FactNumber || i == 0 || text[i-1] != '-') {
			dst = append(dst, Span{i, j, k, false})
		}
		i = j
	}
	return dst
}

// number handles "#123": a number with its mark.
func number(dst []Span, text string, i int) ([]Span, int) {
	j := i + 1
	for j < len(text) && class[text[j]]&digit != 0 {
		j++
	}
	if j-i >= 3 && (j == len(text) || class[text[j]]&wordByte == 0) {
		dst = append(dst, Span{i, j, decant.FactNumber, false})
	}
	return dst, j
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !hex(s[i]) {
			return false
		}
	}
	return true
}

// isDate reports whether s is a date like 2026-11-20.
func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if i != 4 && i != 7 && class[s[i]]&digit == 0 {
			return false
		}
	}
	return true
}

// isTicket reports whether s is a name of parts that hyphens join and a number ends: "ABC-12", "app-x7f.3",
// "gpt-5.5". Such are the ids of tasks, tickets and models.
func isTicket(s string) bool {
	dash := strings.LastIndexByte(s, '-')
	if dash < 2 || len(s) > 60 || class[s[0]]&letter == 0 || len(s)-dash < 2 || len(s)-dash > 16 {
		return false
	}
	digits := 0
	for i := range len(s) {
		switch c := class[s[i]]; {
		case c&digit != 0 && i > dash:
			digits++
		case c&wordByte == 0 && s[i] != '-' && s[i] != '.':
			return false
		}
	}
	return digits > 0
}

// gitObjects is in the paths of the files in which git keeps its objects. Nobody names them again.
const gitObjects = ".git/objects/"

func hex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
