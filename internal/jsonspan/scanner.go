package jsonspan

import (
	"bytes"
	"unicode/utf8"
)

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
	// checks says that nothing is known of the text; see Checked.
	checks, failed bool
	// unnamed means that a checking scanner is before a member whose name was not read yet.
	unnamed bool
	// objects has a bit for each container that is open, the innermost lowest: it is an object.
	objects uint64
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

// Checked returns a scanner at the value of a text that need not be valid: it checks what it reads, by the
// rules of [Validate]. At the first error it comes to the end of the text, and [Scanner.Failed] reports true;
// earlier results stay valid. It also fails where a loop is of the wrong kind, where more than 64 containers
// are open, and where a value that it skips is nested very deep. So its failure says nothing about the text,
// but its success does.
func Checked(src []byte) Scanner { return Scanner{src: src, pos: skipSpace(src, 0), checks: true} }

// Failed reports whether a scanner that checks has found something that is not in order.
func (s *Scanner) Failed() bool { return s.failed }

// End reports whether the scanner is at the end of the text, space aside, and has not failed.
func (s *Scanner) End() bool { return !s.failed && skipSpace(s.src, s.pos) == len(s.src) }

// Jump continues at offset end, where the caller knows that the next value ends, or one that follows it in
// the same container, and that they are valid so far.
func (s *Scanner) Jump(end int) { s.pos, s.first = end, false }

func (s *Scanner) fail() { s.failed, s.pos = true, len(s.src) }

// Open goes into the object or array that comes next. A value of another kind is skipped, as if it
// were an empty array: the Next that follows returns false.
func (s *Scanner) Open() {
	if k := s.Kind(); k == '{' || k == '[' {
		s.pos++
		s.first = true
		if s.checks {
			s.opened(k)
		}
		return
	}
	s.Skip()
	s.empty = true
}

// opened notes that a container is open.
func (s *Scanner) opened(kind byte) {
	if s.unnamed || s.objects>>63 != 0 { // the highest bit is the mark below
		s.fail()
		return
	}
	if s.objects == 0 {
		s.objects = 1 // a mark, so that the number of open containers is known
	}
	s.objects <<= 1
	if kind == '{' {
		s.objects |= 1
	}
}

// Next moves to the next member or element and reports whether there is one. If not it has consumed
// the closing bracket.
func (s *Scanner) Next() bool {
	if s.empty {
		s.empty = false
		return false
	}
	if s.checks {
		return s.checkedNext()
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

// checkedNext is Next for a scanner that checks.
func (s *Scanner) checkedNext() bool {
	s.pos = skipSpace(s.src, s.pos)
	first, end := s.first, byte(']')
	if s.objects&1 != 0 {
		end = '}'
	}
	s.first, s.unnamed = false, false
	switch c := s.Kind(); {
	case c == end && s.objects > 1:
		s.pos++
		s.objects >>= 1
		return false
	case first && c != 0: // what is not a value there fails when it is read
	case c == ',':
		s.pos = skipSpace(s.src, s.pos+1)
	default:
		s.fail()
		return false
	}
	s.unnamed = end == '}'
	return true
}

// Name consumes a member's name and colon and returns the name without quotes. It is a part of the source
// unless the name is written with escapes or is no valid UTF-8. Before an element of an array, which has no
// name, it returns nil and consumes nothing, so that a loop that expects an object runs over an array, too.
func (s *Scanner) Name() []byte {
	start := s.pos
	if s.Kind() != '"' {
		s.expect(false)
		return nil
	}
	if !s.checks {
		s.pos = skipString(s.src, start)
	} else if s.pos = checkString(s.src, start); !s.expect(s.pos >= 0 && s.unnamed) {
		return nil
	}
	s.unnamed = false
	raw := s.src[start:s.pos]
	if !s.colon() {
		s.pos = start
		s.expect(false)
		return nil
	}
	if asWritten(raw) {
		return trimQuotes(raw)
	}
	return []byte(Unquote(raw))
}

// asWritten reports whether a string is what its bytes say: it has no escapes and is valid UTF-8. Names are
// short and mostly ASCII.
func asWritten(raw []byte) bool {
	ascii := true
	for _, c := range raw {
		if c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(raw)
}

// expect fails, if the scanner checks, unless ok is true, which it returns.
func (s *Scanner) expect(ok bool) bool {
	if s.checks && !ok {
		s.fail()
	}
	return ok
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

// Skip consumes the next value of any kind and returns its place. A scanner that has failed returns the zero
// Span.
func (s *Scanner) Skip() Span {
	start := s.pos
	if !s.checks {
		s.pos = skipValue(s.src, start)
	} else if s.pos = checkValue(s.src, start, 0); !s.expect(s.pos >= 0 && !s.unnamed) {
		return Span{}
	}
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
