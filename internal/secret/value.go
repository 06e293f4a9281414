package secret

import "strings"

// A value is the text behind a name.
type value struct {
	text       string
	start, end int
	how        writing
	env        bool // directly behind NAME= in capital letters
	yaml       bool // behind NAME: in capital letters
	next       byte // what follows it, 0 at the end of the text or of an XML element
}

// A writing is how a value is written.
type writing int

const (
	bare    writing = iota
	quoted          // between quotes
	ownLine         // on the line after the name, alone
)

// longestValue is the most bytes of a value that are looked at.
const longestValue = 1024

// value returns the value that begins at i, behind spaces, a quote and the name of a scheme.
func (s *scanner) value(i int, env bool) value {
	i = s.skip(i, " \t>*")
	how := bare
	if k := s.nextLine(i); k > i {
		i, how = k, ownLine
	}
	v, ok := s.inQuotes(i)
	if !ok {
		i = s.skip(i, "\"'`\\*")
		v = value{start: i, how: how}
		s.skipScheme(&v.start, len(s.text))
		v.end = s.bareEnd(v.start)
		if v.end < len(s.text) && !strings.HasPrefix(s.text[v.end:], "</") {
			v.next = s.text[v.end]
		}
	}
	v.text, v.env = s.text[v.start:v.end], env
	return v
}

// skip returns where what is in set ends, at most four bytes on.
func (s *scanner) skip(i int, set string) int {
	for end := i + 4; i < end && i < len(s.text) && strings.IndexByte(set, s.text[i]) >= 0; {
		i++
	}
	return i
}

// skipScheme moves i behind the name of a scheme of HTTP, if there is one and something follows.
func (s *scanner) skipScheme(i *int, end int) {
	for _, scheme := range [...]string{"Bearer ", "bearer ", "Basic ", "basic ", "Digest ", "token ", "Token "} {
		if *i < end && strings.HasPrefix(s.text[*i:end], scheme) {
			*i += len(scheme)
			return
		}
	}
}

// nextLine returns where the next line's text begins, when i is the end of a line and the next one is
// indented; else i.
func (s *scanner) nextLine(i int) int {
	rest := s.text[i:min(len(s.text), i+64)]
	for _, end := range [...]string{"\n", "\r\n", `\n`} {
		if line, ok := strings.CutPrefix(rest, end); ok {
			if body := strings.TrimLeft(line, " \t"); len(body) < len(line) {
				return i + len(rest) - len(body)
			}
		}
	}
	return i
}

// inQuotes returns the value between the quote at i and the next one of its kind in the same line. Quotes
// in a string of JSON have a backslash before them, and so have those that end it.
func (s *scanner) inQuotes(i int) (v value, ok bool) {
	q := s.skip(i, `\`)
	if q == len(s.text) || strings.IndexByte("\"'`", s.text[q]) < 0 {
		return v, false
	}
	slashes, j := 0, q+1
	for ; j < len(s.text) && j < q+longestValue; j++ {
		c := s.text[j]
		if c == '\n' || c == 'n' && slashes == 1 || c == s.text[q] && (slashes%2 == 0 || q > i) {
			break
		}
		if slashes++; c != '\\' {
			slashes = 0
		}
	}
	s.work += j - q
	if j == len(s.text) || s.text[j] != s.text[q] || q > i && slashes == 0 {
		return v, false
	}
	v = value{start: q + 1, end: j, how: quoted}
	if q > i {
		v.end -= slashes
	}
	if j+1 < len(s.text) {
		v.next = s.text[j+1]
	}
	s.skipScheme(&v.start, v.end)
	return v, true
}

// mostTries is how many values that end together are looked at: "a=b=c=d".
const mostTries = 4

// bareEnd returns where the value without quotes ends that begins at i.
func (s *scanner) bareEnd(i int) int {
	if i >= s.bare.start && i < s.bare.end {
		if s.tried++; s.tried > mostTries {
			return i
		}
		return s.bare.end
	}
	s.tried = 0
	j := i
	for j < len(s.text) && j < i+longestValue && !s.endsValue(j) {
		j++
	}
	s.work += j - i
	s.bare = span{i, j}
	return j
}

// endsValue reports whether text[i] ends a value without quotes: a space, a bracket, a separator of
// lists, an escape, the next parameter of a query.
func (s *scanner) endsValue(i int) bool {
	switch c := s.text[i]; {
	case isAlnum(c):
		return false
	case c <= ' ', strings.IndexByte("\"'`,;()[]{}<>|", c) >= 0:
		return true
	case c == '\\':
		return i+1 == len(s.text) || strings.IndexByte("nrt\"'\\ \n\r", s.text[i+1]) >= 0
	case c == ':':
		return i+1 == len(s.text) || isSpace(s.text[i+1])
	case c == '&':
		n := wordLength(s.text[i+1:min(len(s.text), i+1+longestName)], token)
		return n > 0 && i+1+n < len(s.text) && s.text[i+1+n] == '='
	}
	return false
}
