package jsonspan

import "bytes"

// A Scanner reads one valid JSON text from front to back. Its methods consume what they return:
//
//	s := jsonspan.Scan(src, 0)
//	for s.Open(); s.Next(); {
//		switch string(s.Name()) {
//		case "messages":
//			for s.Open(); s.Next(); {
//				spans = append(spans, s.Skip())
//			}
//		default:
//			s.Skip()
//		}
//	}
//
// The loop body must consume the value of each member or element, by [Scanner.Skip] or by a loop of
// its own that runs to its end. The zero Scanner is at the end of an empty text.
type Scanner struct {
	src []byte
	pos int
	// first is set between Open and the first Next, when no comma precedes.
	first bool
	// empty is set by Open when there was nothing to open, so that Next ends the loop at once.
	empty bool
}

// Scan returns a scanner at the value that starts at or after offset at.
func Scan(src []byte, at int) Scanner { return Scanner{src: src, pos: skipSpace(src, at)} }

// Pos returns the offset of the next byte to read. Before a value it is where the value starts, after
// one where it ended.
func (s *Scanner) Pos() int { return s.pos }

// Kind returns the first byte of the value that comes next: '{', '[', '"', 't', 'f', 'n', '-' or a
// digit; 0 at the end of the text.
func (s *Scanner) Kind() byte {
	if s.pos >= len(s.src) {
		return 0
	}
	return s.src[s.pos]
}

// Open goes into the object or array that comes next. A value of another kind is skipped, as if it
// were an empty array: the Next that follows returns false.
func (s *Scanner) Open() {
	if k := s.Kind(); k == '{' || k == '[' {
		s.pos++
		s.first = true
		return
	}
	s.Skip()
	s.empty = true
}

// Next moves to the next member or element and reports whether there is one. If not it has consumed
// the closing bracket.
func (s *Scanner) Next() bool {
	if s.empty {
		s.empty = false
		return false
	}
	s.pos = skipSpace(s.src, s.pos)
	first := s.first
	s.first = false
	if s.pos >= len(s.src) {
		return false
	}
	switch c := s.src[s.pos]; {
	case c == '}' || c == ']':
		s.pos++
		return false
	case c == ',' && !first, c == ':': // a colon: the caller took the object for an array
		s.pos = skipSpace(s.src, s.pos+1)
	}
	return s.pos < len(s.src)
}

// Name consumes a member's name and colon and returns the name without quotes. It is a part of the
// source unless the name is written with escapes. Before an element of an array, which has no name, it
// returns nil and consumes nothing, so that a loop that expects an object runs over an array, too.
func (s *Scanner) Name() []byte {
	start := s.pos
	if s.Kind() != '"' {
		return nil
	}
	s.pos = skipString(s.src, start)
	raw := s.src[start:s.pos]
	if !s.colon() {
		s.pos = start
		return nil
	}
	for _, c := range raw { // names are short
		if c == '\\' {
			return []byte(Unquote(raw))
		}
	}
	return trimQuotes(raw)
}

// colon consumes the colon behind a name and the space around it, and reports whether there is one.
func (s *Scanner) colon() bool {
	s.pos = skipSpace(s.src, s.pos)
	if s.pos >= len(s.src) || s.src[s.pos] != ':' {
		return false
	}
	s.pos = skipSpace(s.src, s.pos+1)
	return true
}

// Skip consumes the next value, whatever it is, and returns where it stands.
func (s *Scanner) Skip() Span {
	start := s.pos
	s.pos = skipValue(s.src, s.pos)
	return Span{start, s.pos}
}

func skipSpace(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\n' || src[i] == '\r' || src[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the end of the value that starts at i. It always moves on unless at the end.
func skipValue(src []byte, i int) int {
	if i >= len(src) {
		return i
	}
	switch src[i] {
	case '"':
		return skipString(src, i)
	case '{', '[':
		return skipNested(src, i)
	}
	for i++; i < len(src) && !endsScalar(src[i]); i++ {
	}
	return i
}

// endsScalar reports whether c cannot belong to a number or a literal.
func endsScalar(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}

// skipNested returns the end of the object or array that starts at i. It counts brackets outside of
// strings, so that depth costs no stack.
func skipNested(src []byte, i int) int {
	for depth := 0; i < len(src); {
		switch src[i] {
		case '"':
			i = skipString(src, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(src)
}

// skipString returns the end of the string whose opening quote is at i. Most strings are short, so the
// first bytes are looked at one by one; from there on it searches for the first quote that an even
// number of backslashes precedes.
func skipString(src []byte, i int) int {
	const short = 24
	start := i + 1
	for i = start; i < len(src) && i < start+short; i++ {
		switch src[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	for i < len(src) {
		n := bytes.IndexByte(src[i:], '"')
		if n < 0 {
			break
		}
		i += n + 1
		if !escaped(src, start, i-1) {
			return i
		}
	}
	return len(src)
}

// escaped reports whether the byte at i belongs to an escape sequence of the string that starts at start.
func escaped(src []byte, start, i int) bool {
	n := 0
	for i--; i >= start && src[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

func trimQuotes(raw []byte) []byte {
	if len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}
