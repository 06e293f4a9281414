package summary

import (
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/tool"
)

// A layout is the lines of what a tool returned or was given, each with its depth: lines belong to the line above that
// is less deep. Strings inside JSON are texts with lines of their own, below the name of their member.
type layout struct {
	lines  []written
	gap    bool // something was left out, or an empty line stood there, since the last line
	hidden bool // within an addition of the client
	table  bool // the line before is a row of a table
	hunk   bool // within a hunk of a diff
	nested int  // texts in JSON in texts in JSON
}

// Limits of what is looked at inside of JSON.
const (
	mostNested = 4   // texts within texts
	mostLevels = 32  // objects and arrays within each other; what is deeper is left out
	memberLine = 160 // bytes of small members that are one line together
)

// laid returns the lines of a text that say something. A line that is too long to be quoted whole is cut into sentences;
// what has none is left out.
func laid(text string) []written {
	l := layout{}
	l.text(text, 0)
	return l.lines
}

// text takes in a text whose lines are so deep and more.
func (l *layout) text(text string, depth int) {
	if l.json(strings.TrimSpace(text), depth) {
		return
	}
	for ln := range strings.Lines(text) {
		ln = strings.TrimRight(unnumber(ln), " \t\r\n")
		body := strings.TrimLeft(ln, " \t")
		if l.hidden = l.hidden || strings.HasPrefix(body, reminder); l.hidden { // the client's, not the tool's
			l.hidden = !strings.Contains(body, endReminder)
			continue
		}
		switch {
		case body == "" || strings.HasPrefix(body, "…"):
			l.gap, l.table = true, false
		case !says(body), tool.Routine(body):
		case len(body) > widest:
			l.long(body, depth+indentOf(ln))
		default:
			l.add(ln, depth+l.depth(ln, body))
		}
	}
}

// add takes in a line.
func (l *layout) add(ln string, depth int) {
	l.lines = append(l.lines, written{depth: depth, text: ln, gap: l.gap})
	l.gap = false
}

// long takes in a line that is too long to be quoted whole.
func (l *layout) long(ln string, depth int) {
	if at := strings.IndexAny(ln, "{["); at >= 0 && at < headBytes && l.json(ln[at:], depth) {
		return
	}
	for _, s := range sentences(ln) {
		l.add(s, depth)
	}
}

// indentOf returns the width of the blanks before a line.
func indentOf(ln string) (n int) {
	for i := 0; i < len(ln); i++ {
		switch ln[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// depth returns how deep a line is by its indent and by its form: rows of a table are below its first, the lines of a
// hunk below its head, the items of a list below what introduces them.
func (l *layout) depth(ln, body string) int {
	const row = 1 << 10
	switch {
	case strings.HasPrefix(ln, "@@ "):
		l.hunk = true
		return -1
	case strings.HasPrefix(ln, "diff --git "):
		l.hunk = false
		return -2
	case l.hunk && strings.ContainsRune("+- ", rune(ln[0])):
		return 2 * indentOf(ln[1:])
	case body[0] == '|':
		below := l.table
		l.table = true
		if below {
			return row
		}
	default:
		l.table, l.hunk = false, false
	}
	if item(body) {
		return 2*indentOf(ln) + 1
	}
	return 2 * indentOf(ln)
}

// json takes in a JSON text that is an object or an array, and reports whether it is one.
func (l *layout) json(s string, depth int) bool {
	if len(s) < 2 || s[0] != '{' && s[0] != '[' || l.nested == mostNested || jsonspan.Validate([]byte(s)) != nil {
		return false
	}
	l.nested++
	m := members{layout: l, src: []byte(s)}
	scan := jsonspan.Scan(m.src, 0)
	m.container(&scan, depth)
	l.nested--
	return true
}

// A members takes in the members of JSON values.
type members struct {
	*layout
	src    []byte
	levels int
}

// container takes in what the object or array that comes next holds: neighbours that are small on a line together, as
// they are written, and what is large below its name.
func (m *members) container(s *jsonspan.Scanner, depth int) {
	if m.levels == mostLevels {
		s.Skip()
		return
	}
	m.levels++
	defer func() { m.levels-- }()
	from, to := 0, 0 // of the small members that wait
	flush := func() {
		if ln := string(m.src[from:to]); says(ln) {
			m.add(ln, depth)
		}
		from, to = 0, 0
	}
	for s.Open(); s.Next(); {
		start := s.Pos()
		name := s.Name() != nil
		at := s.Pos()
		look := *s
		end := look.Skip().End
		if raw := string(m.src[start:end]); len(raw) <= memberLine && !strings.Contains(raw, "\n") && !strings.Contains(raw, `\n`) {
			s.Skip()
			if to > 0 && (end-from > memberLine || strings.Contains(string(m.src[to:start]), "\n")) {
				flush()
			}
			if to == 0 {
				from = start
			}
			to = end
			continue
		}
		flush()
		if s.Kind() != '"' {
			at++ // with its bracket
		}
		m.value(s, strings.TrimSpace(string(m.src[start:at])), name, depth)
	}
	flush()
	m.gap = true
}

// value takes in a large value below its name.
func (m *members) value(s *jsonspan.Scanner, head string, named bool, depth int) {
	below := depth
	if named {
		m.add(head, depth)
		below += 2
	}
	if s.Kind() == '"' {
		m.text(jsonspan.Unquote(s.Skip().Of(m.src)), below)
		return
	}
	m.container(s, below)
}
