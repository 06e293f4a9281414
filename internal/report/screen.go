package report

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Screen is a terminal of so many columns, 0 when nobody knows. What this package writes to one fits it: tables leave out
// columns, and lines that are too long go on, indented, on the next one. Whatever is written to it comes out
// as [Visible] has it, so that no text can move the cursor, change colours or hide. It may be used by
// several goroutines.
type Screen struct {
	Terminal io.Writer
	Columns  int

	mu   sync.Mutex
	rest []byte // the beginning of a character, whose other bytes are still to come
}

// Write writes text, made visible.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(s.rest, text...)
	n := whole(all)
	s.rest = append([]byte(nil), all[n:]...)
	if _, err := io.WriteString(s.Terminal, Visible(string(all[:n]))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// whole returns how many bytes of b come before a character that is cut off at its end.
func whole(b []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(b); k++ {
		if i := len(b) - k; utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// Control writes text as it is: colours and movements of the cursor that are the program's own.
func (s *Screen) Control(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(text)
}

// Flush writes what is left of a character that was cut off.
func (s *Screen) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush("")
}

// flush writes what is left of a character, and what follows it.
func (s *Screen) flush(text string) error {
	text = Visible(string(s.rest)) + text
	s.rest = nil
	if text == "" {
		return nil
	}
	_, err := io.WriteString(s.Terminal, text)
	return err
}

// onScreen reports whether p writes to a terminal.
func (p *printer) onScreen() bool {
	_, ok := p.Writer.(*Screen)
	return ok
}

// columns returns the columns of the screen that p writes to, 0 when it is none.
func (p *printer) columns() int {
	if s, ok := p.Writer.(*Screen); ok {
		return s.Columns
	}
	return 0
}

// folded returns a text with lines of at most n columns, broken between words; 0 is no limit. What
// comes after a break is indented further than the line.
func folded(text string, n int) string {
	if n == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if columnsOf(l) > n {
			lines[i] = foldedLine(l, n)
		}
	}
	return strings.Join(lines, "\n")
}

func foldedLine(l string, n int) string {
	body := strings.TrimLeft(l, " ")
	indent := min(len(l)-len(body), n/2)
	var b strings.Builder
	at := 0 // columns of the line that is being written
	b.WriteString(l[:len(l)-len(body)])
	at = len(l) - len(body)
	for i, w := range strings.Fields(body) {
		switch size := columnsOf(w); {
		case i == 0:
			at += size
		case at+1+size > n:
			b.WriteString("\n" + strings.Repeat(" ", indent+2))
			at = indent + 2 + size
		default:
			b.WriteByte(' ')
			at += 1 + size
		}
		b.WriteString(w)
	}
	return b.String()
}

// fit returns which columns of a table are shown on a screen of n columns, 0 for no limit: those that may
// be left out go from the right, and then cells of words are cut.
func fit(widths []int, align string, n int) (shown []bool) {
	total := 0
	shown = make([]bool, len(widths))
	for i, w := range widths {
		shown[i] = true
		total += w + 2
	}
	for i := len(widths) - 1; i >= 0 && n > 0 && total-2 > n; i-- {
		if unicode.IsUpper(rune(align[i])) {
			shown[i] = false
			total -= widths[i] + 2
		}
	}
	if n == 0 {
		return shown
	}
	for over := total - 2 - n; over > 0; {
		i := widest(widths, align, shown)
		if i < 0 {
			break
		}
		cut := min(over, widths[i]-leastCell)
		widths[i] -= cut
		over -= cut
	}
	return shown
}

// leastCell is the fewest columns that a cell is cut to.
const leastCell = 8

// widest returns the widest column of words that is shown and can be cut, -1 when there is none.
func widest(widths []int, align string, shown []bool) int {
	best := -1
	for i := range widths {
		if shown[i] && unicode.ToLower(rune(align[i])) == 'l' && widths[i] > leastCell && (best < 0 || widths[i] > widths[best]) {
			best = i
		}
	}
	return best
}

// table writes rows in columns, the first as their heads: l for cells that begin together, r for ones
// that end together, f for ones that begin together and are never cut, such as ids; capital letters for
// columns that a narrow screen may do without.
func (p *printer) table(rows [][]string, align string) {
	if p.onScreen() {
		rows = visibleCells(rows)
	}
	p.styledTable(rows, align)
}

// visibleCells returns rows with each cell made visible.
func visibleCells(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = make([]string, len(row))
		for k, cell := range row {
			out[i][k] = Visible(cell)
		}
	}
	return out
}

// styledTable writes rows whose cells may have colours and are visible.
func (p *printer) styledTable(rows [][]string, align string) {
	widths := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columnsOf(cell))
		}
	}
	shown := fit(widths, align, p.columns())
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if !shown[i] {
				continue
			}
			if columnsOf(cell) > widths[i] {
				cell = cut(cell, widths[i])
			}
			space := strings.Repeat(" ", widths[i]-columnsOf(cell))
			if unicode.ToLower(rune(align[i])) == 'r' {
				b.WriteString(space + cell + "  ")
			} else {
				b.WriteString(cell + space + "  ")
			}
		}
		p.styled(strings.TrimRight(b.String(), " "))
	}
}

// WriteTable writes rows in columns, the first as their heads: l for cells that begin together, r for
// ones that end together, f for ones that begin together and are never cut; a capital letter where a
// narrow screen may do without the column, see [Screen].
func WriteTable(w io.Writer, rows [][]string, align string) error {
	p := &printer{Writer: w}
	p.table(rows, align)
	return p.err
}

// columnsOf returns about how many columns of a terminal s takes; colours take none.
func columnsOf(s string) (n int) {
	inside := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			inside = true
		case inside:
			inside = r != 'm'
		default:
			n++
		}
	}
	return n
}

// cut shortens s to at most n columns, the last of which then says that there was more. Colours that are
// on there end.
func cut(s string, n int) string {
	if columnsOf(s) <= n {
		return s
	}
	inside, left, end := false, n-1, ""
	for i, r := range s {
		switch {
		case r == '\x1b':
			inside, end = true, "\x1b[0m"
		case inside:
			inside = r != 'm'
		case left <= 0:
			return s[:i] + "…" + end
		default:
			left--
		}
	}
	return s
}
