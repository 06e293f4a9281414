package reduce

import (
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// Terminal proposes to show results as a terminal would have shown them in the end: without colour
// codes and without what a progress bar overwrote. What stayed on the screen stays.
func Terminal(s *Subject) []decant.Decision {
	var out []decant.Decision
	for r := range s.each() {
		if !r.closed && !r.fresh || !r.verbatim() {
			continue
		}
		text := r.read()
		cleaned := clean(text)
		if len(cleaned) == len(text) {
			continue
		}
		d := decant.Decision{
			Kind: decant.Shrink, Reduction: decant.ReductionTerminal,
			Reason: "control sequences in a result of " + toolName(r),
		}
		if d, ok := s.decide(r.block, text, cleaned, d); ok {
			out = append(out, d)
		}
	}
	return out
}

// clean returns what a terminal shows once text has been written to it; text itself when it holds
// no control characters that matter.
func clean(text string) string {
	if !needsTerminal(text) {
		return text
	}
	t := screen{lines: [][]byte{nil}}
	for len(text) > 0 {
		text = text[t.write(text):]
	}
	return t.String()
}

// needsTerminal reports whether text has escape sequences, backspaces or carriage returns that
// do not just end a line.
func needsTerminal(text string) bool {
	if strings.IndexByte(text, 0x1B) >= 0 || strings.IndexByte(text, '\b') >= 0 {
		return true
	}
	for {
		i := strings.IndexByte(text, '\r')
		if i < 0 || i+1 == len(text) {
			return false
		}
		if text[i+1] != '\n' {
			return true
		}
		text = text[i+1:]
	}
}

// screen is an endlessly wide and long terminal. A line is kept in bytes; col is the byte offset of
// the cursor in its line, always at the start of a rune or at the end.
type screen struct {
	lines [][]byte
	row   int
	col   int
}

// String returns the lines joined by newlines.
func (t *screen) String() string {
	var out strings.Builder
	for i, l := range t.lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.Write(l)
	}
	return out.String()
}

// write takes in what text starts with and returns its length.
func (t *screen) write(text string) int {
	switch text[0] {
	case '\n':
		t.row, t.col = t.row+1, 0
		if t.row == len(t.lines) {
			t.lines = append(t.lines, nil)
		}
		return 1
	case '\r':
		t.col = 0
		return 1
	case '\b':
		t.back()
		return 1
	case 0x1B:
		return t.escape(text)
	}
	n := strings.IndexAny(text, "\n\r\b\x1b")
	if n < 0 {
		n = len(text)
	}
	t.put(text[:n])
	return n
}

// put writes s at the cursor over the present text, rune by rune.
func (t *screen) put(s string) {
	line := t.lines[t.row]
	if t.col == len(line) {
		t.lines[t.row] = append(line, s...)
		t.col = len(line) + len(s)
		return
	}
	over := t.col
	for range utf8.RuneCountInString(s) {
		if over == len(line) {
			break
		}
		_, n := utf8.DecodeRune(line[over:])
		over += n
	}
	rest := string(line[over:])
	line = append(line[:t.col], s...)
	t.col = len(line)
	t.lines[t.row] = append(line, rest...)
}

// back moves the cursor one rune to the left.
func (t *screen) back() {
	_, n := utf8.DecodeLastRune(t.lines[t.row][:t.col])
	t.col -= n
}

// escape obeys the escape sequence that text starts with, as far as progress displays use them, and
// returns its length. What it does not know it leaves out.
func (t *screen) escape(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		return t.control(text)
	case ']', 'P', '_', '^':
		return stringEnd(text)
	case '(', ')', '#':
		return min(3, len(text))
	}
	_, n := utf8.DecodeRuneInString(text[1:])
	return 1 + n
}

// stringEnd returns the length of an operating system command or another string sequence, which
// ends with BEL or ESC \. One that never ends is only its introduction, so that no text is lost.
func stringEnd(text string) int {
	for i := 2; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == 0x07:
			return i + 1
		case strings.HasPrefix(text[i:], "\x1b\\"):
			return i + 2
		case text[i] == 0x1B:
			return 2
		}
	}
	return 2
}

// control obeys a control sequence, ESC [ parameters final.
func (t *screen) control(text string) int {
	i, n := 2, 0
	for ; i < len(text) && 0x20 <= text[i] && text[i] < 0x40; i++ {
		if '0' <= text[i] && text[i] <= '9' && n < 10000 {
			n = n*10 + int(text[i]-'0')
		}
	}
	if i == len(text) {
		return i
	}
	if text[i] < 0x40 || text[i] > 0x7E {
		return i // not a sequence after all
	}
	switch text[i] {
	case 'A', 'F':
		t.move(-max(n, 1), text[i] == 'F')
	case 'B', 'E':
		t.move(max(n, 1), text[i] == 'E')
	case 'G':
		if n <= 1 {
			t.col = 0
		}
	case 'K':
		t.erase(n)
	case 'J':
		if n == 0 {
			t.erase(0)
			t.lines = t.lines[:t.row+1]
		}
	}
	return i + 1
}

// move moves the cursor n lines down, up when n is negative, to the start of the line when home is
// set. It stays within the lines that there are.
func (t *screen) move(n int, home bool) {
	t.row = min(max(t.row+n, 0), len(t.lines)-1)
	line := t.lines[t.row]
	t.col = min(t.col, len(line))
	if home {
		t.col = 0
	}
	for t.col > 0 && t.col < len(line) && !utf8.RuneStart(line[t.col]) {
		t.col--
	}
}

// erase clears the line from the cursor on (0), up to it (1), or all of it (2).
func (t *screen) erase(mode int) {
	line := t.lines[t.row]
	switch mode {
	case 0:
		t.lines[t.row] = line[:t.col]
	case 2:
		t.lines[t.row], t.col = line[:0], 0
	}
}
