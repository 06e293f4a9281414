package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// A Text is something to read under a name.
type Text struct{ Name, Text string }

// WriteDiff writes what has to change in before to get after, as a unified diff with a few lines
// around each change. With colour, removed lines are red and added
// ones green.
func WriteDiff(w io.Writer, before, after Text, colour bool) error {
	diff := udiff.Unified(before.Name, after.Name, before.Text, after.Text)
	p := &printer{Writer: w}
	if diff == "" {
		p.line("no difference: %s and %s are the same", before.Name, after.Name)
		return p.err
	}
	for line := range strings.Lines(diff) {
		line = Visible(strings.TrimSuffix(line, "\n"))
		if code := paint(line); colour && code != "" {
			p.styled(fmt.Sprintf("\x1b[%sm%s\x1b[0m", code, line))
			continue
		}
		p.line("%s", line)
	}
	return p.err
}

// paint returns the colour of a line of a unified diff.
func paint(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return "1"
	case strings.HasPrefix(line, "@@"):
		return "36"
	case strings.HasPrefix(line, "-"):
		return "31"
	case strings.HasPrefix(line, "+"):
		return "32"
	}
	return ""
}
