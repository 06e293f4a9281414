package code

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A patched is what a commit has done to one file.
type patched struct {
	name string // as it is called since
	old  string // as it was called before; empty: it was not there
	gone bool   // it is not there any more
	rows []row
}

// A row is a line of a diff.
type row struct {
	kind     byte // ' ', '+', '-', or '@' of a heading
	text     string
	old, new int // its number before and after; 0: it is not there
}

// hunkHead matches the heading of a part of a diff.
var hunkHead = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parsePatch reads a unified diff of several files as git prints it. What it does not know is passed over.
func parsePatch(text string) (out []patched) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		l := lines[i]
		if strings.HasPrefix(l, "diff --git ") {
			out = append(out, patched{name: nameOf(l)})
			out[len(out)-1].old = out[len(out)-1].name
		}
		if len(out) == 0 {
			i++
			continue
		}
		f := &out[len(out)-1]
		switch {
		case strings.HasPrefix(l, "new file "):
			f.old = ""
		case strings.HasPrefix(l, "deleted file "):
			f.gone = true
		case strings.HasPrefix(l, "rename from "):
			f.old = l[len("rename from "):]
		case strings.HasPrefix(l, "rename to "):
			f.name = l[len("rename to "):]
		case strings.HasPrefix(l, "--- a/"):
			f.old = strings.TrimSuffix(l[len("--- a/"):], "\t")
		case strings.HasPrefix(l, "+++ b/"):
			f.name = strings.TrimSuffix(l[len("+++ b/"):], "\t")
		case strings.HasPrefix(l, "Binary files "):
			f.rows = append(f.rows, row{kind: '@', text: "(It is not text.)"})
		case strings.HasPrefix(l, "@@ "):
			i = f.hunks(lines, i)
			continue
		}
		i++
	}
	return out
}

// nameOf returns the name in a heading such as "diff --git a/x b/x". Where both names differ, later lines say so.
func nameOf(head string) string {
	rest := strings.TrimPrefix(head, "diff --git a/")
	if n := (len(rest) - 3) / 2; n > 0 && len(rest)%2 == 1 && rest[n:n+3] == " b/" {
		return rest[:n]
	}
	return rest
}

// hunks reads the parts of a diff from a line on that is a heading, and returns the line behind them.
func (f *patched) hunks(lines []string, i int) int {
	for i < len(lines) {
		m := hunkHead.FindStringSubmatch(lines[i])
		if m == nil {
			return i + 1
		}
		f.rows = append(f.rows, row{kind: '@', text: lines[i]})
		i = f.hunk(lines, i+1, m)
		if i >= len(lines) || !strings.HasPrefix(lines[i], "@@ ") {
			return i
		}
	}
	return i
}

// hunk reads the lines of one part, as many as its heading says.
func (f *patched) hunk(lines []string, i int, m []string) int {
	old, left := max(1, atoi(m[1], 1)), atoi(m[2], 1)
	now, right := max(1, atoi(m[3], 1)), atoi(m[4], 1)
	for ; i < len(lines) && (left > 0 || right > 0 || strings.HasPrefix(lines[i], `\`)); i++ {
		r := row{kind: ' '}
		if l := strings.TrimSuffix(lines[i], "\r"); l != "" {
			r.kind, r.text = l[0], l[1:]
		}
		switch {
		case r.kind == '\\': // no line feed at the end of the file
			continue
		case r.kind == '-' && left > 0:
			r.old = old
		case r.kind == '+' && right > 0:
			r.new = now
		case r.kind == ' ' && left > 0 && right > 0:
			r.old, r.new = old, now
		default:
			return i
		}
		if r.old > 0 {
			old, left = old+1, left-1
		}
		if r.new > 0 {
			now, right = now+1, right-1
		}
		f.rows = append(f.rows, r)
	}
	return i
}

// atoi returns the number of a match, or other where there is none.
func atoi(s string, other int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return other
}

// heading returns the line that stands over what was done to a file.
func (f *patched) heading() string {
	switch {
	case f.gone:
		return fmt.Sprintf("deleted %s", f.name)
	case f.old == "":
		return fmt.Sprintf("new %s", f.name)
	case f.old != f.name:
		return fmt.Sprintf("renamed %s to %s", f.old, f.name)
	}
	return "changed " + f.name
}
