package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/report"
)

// A screen shows lines. Whatever it is given becomes visible signs: nothing that a model, a file or a command says can move the cursor or change
// colours. Lines that are still being said are shown as soon as they are full.
type screen struct {
	w       io.Writer
	columns func() int
	pending string // the line that is being said
}

// line shows a line, or several.
func (s *screen) line(format string, args ...any) {
	s.end()
	text := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	for l := range strings.SplitSeq(text, "\n") {
		s.put(l)
	}
}

// put shows one line, made visible.
func (s *screen) put(l string) { fmt.Fprintln(s.w, report.Visible(strings.TrimRight(l, "\r"))) } // nobody can be told that this failed

// say shows a piece of a text that goes on.
func (s *screen) say(piece string) {
	s.pending += piece
	for {
		l, rest, ended := strings.Cut(s.pending, "\n")
		if first, more, ok := s.full(l); ok {
			s.put(first)
			s.pending = more + s.pending[len(l):]
			continue
		}
		if !ended {
			return
		}
		s.put(l)
		s.pending = rest
	}
}

// full splits a line that is wider than the screen, between words where there are any.
func (s *screen) full(line string) (l, rest string, ok bool) {
	width := max(20, s.columns()-1)
	if utf8.RuneCountInString(line) <= width {
		return "", "", false
	}
	at, n := len(line), 0
	for i := range line {
		if n == width {
			at = i
			break
		}
		n++
	}
	if i := strings.LastIndexByte(line[:at], ' '); i > at/2 {
		return line[:i], line[i+1:], true
	}
	return line[:at], line[at:], true
}

// end shows what is left of the line that was being said.
func (s *screen) end() {
	if s.pending != "" {
		s.put(s.pending)
		s.pending = ""
	}
}

// Write implements io.Writer, for tables and notices.
func (s *screen) Write(b []byte) (int, error) {
	s.line("%s", b)
	return len(b), nil
}
