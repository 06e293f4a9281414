package summary

import "strings"

// A passage is what of a segment is quoted together: a line with what is indented below it, or sentences of a long one.
type passage struct {
	under string // the headings above it, outermost first
	text  string // unchanged lines, without their common indent

	first, last int // of the lines of the segment
}

// Sizes of passages in bytes.
const (
	passageBytes = 500  // lines that belong together and are longer are quoted one by one
	codeBytes    = 1000 // code is quoted whole up to here, or not at all
	headBytes    = 100  // a line that others are indented below is their heading up to here
)

// A written is one line of a segment with its depth, or all lines of a block of code.
type written struct {
	depth       int
	text        string
	code        bool
	gap         bool // an empty line stands before it
	first, last int  // of the lines of the segment
}

// passages returns the passages of a text in their order.
func passages(text string) (out []passage) { return gathered(nil, "", deep(text)) }

// deep returns the lines of a text with their depths: headings above all others, the items of a list and code below the
// line before them.
func deep(text string) (out []written) {
	fenced := false
	at := -1
	for ln := range strings.Lines(text) {
		at++
		ln = strings.ReplaceAll(strings.TrimRight(ln, " \t\r\n"), "\t", "    ")
		body := strings.TrimLeft(ln, " ")
		switch {
		case strings.HasPrefix(body, "```"):
			if fenced = !fenced; fenced {
				out = append(out, written{depth: inFence, code: true, first: at, last: at})
			}
		case fenced:
			code := &out[len(out)-1]
			code.text += ln + "\n"
			code.last = at
		case says(body):
			out = append(out, written{depth: depth(body, len(ln)-len(body)), text: ln, first: at, last: at})
		}
	}
	return out
}

// depth returns the depth of a line with an indent.
func depth(body string, indent int) int {
	marks := len(body) - len(strings.TrimLeft(body, "#"))
	switch {
	case marks > 0 && strings.HasPrefix(body[marks:], " "):
		return marks - headDepth
	case strings.HasPrefix(body, "**") && strings.HasSuffix(strings.TrimRight(body, ":"), "**") && len(body) <= headBytes:
		return 2*indent - 1
	case item(body):
		return 2*indent + 1
	}
	return 2 * indent
}

const (
	headDepth = 10      // more than a heading has marks
	inFence   = 1 << 20 // below every line of prose
)

// item reports whether a line is an item of a list.
func item(s string) bool {
	for _, mark := range [...]string{"- ", "* ", "• ", "– "} {
		if strings.HasPrefix(s, mark) {
			return true
		}
	}
	return false
}

// gathered appends the passages of lines under headings.
func gathered(out []passage, under string, ls []written) []passage {
	for len(ls) > 0 {
		n := 1
		for n < len(ls) && ls[n].depth > ls[0].depth {
			n++
		}
		out = gathering(out, under, ls[:n])
		ls = ls[n:]
	}
	return out
}

// gathering appends the passages of a line and of the lines below it. A heading with nothing below it says
// nothing, and long code is no summary.
func gathering(out []passage, under string, ls []written) []passage {
	first, below := ls[0], ls[1:]
	size := 0
	for _, l := range ls {
		size += len(l.text)
	}
	switch {
	case len(below) == 0 && (first.depth < 0 || strings.HasSuffix(first.text, ":") || first.code && size > codeBytes):
		return out
	case first.depth < 0 || len(below) > 0 && len(first.text) <= headBytes && (size > passageBytes || title(first.text)):
		return gathered(out, joined(under, first.text), below)
	case size <= passageBytes || first.code:
		return append(out, passage{under, flush(ls), first.first, ls[len(ls)-1].last})
	}
	for _, s := range packed(strings.TrimSpace(first.text)) {
		out = append(out, passage{under, s, first.first, first.last})
	}
	return gathered(out, under, below)
}

// title reports whether a line that others are indented below is a heading by its form: "2. Errors and fixes:".
func title(s string) bool {
	s = strings.ReplaceAll(s, "**", "")
	number, rest, ok := strings.Cut(s, ". ")
	return strings.HasSuffix(s, ":") && ok && strings.Trim(number, "0123456789") == "" && !strings.Contains(rest, ". ")
}

// joined adds a heading, without its marks, to those above it.
func joined(under, head string) string {
	head = strings.TrimLeft(strings.TrimSpace(head), "#*-•– ")
	head = strings.TrimSpace(strings.TrimRight(strings.ReplaceAll(head, "**", ""), ":：. "))
	if number, rest, ok := strings.Cut(head, ". "); ok && strings.Trim(number, "0123456789") == "" {
		head = rest
	}
	if under == "" || head == "" {
		return under + head
	}
	return under + headJoint + head
}

// flush returns lines without the indent that they share.
func flush(ls []written) string {
	var lines []string
	shared := -1
	for _, l := range ls {
		for _, s := range strings.Split(strings.TrimRight(l.text, "\n"), "\n") {
			lines = append(lines, s)
			if own := len(s) - len(strings.TrimLeft(s, " \t")); s != "" && (shared < 0 || own < shared) {
				shared = own
			}
		}
	}
	for i, s := range lines {
		lines[i] = s[min(max(shared, 0), len(s)):]
	}
	return strings.Join(lines, "\n")
}

// packed returns the sentences of a line, neighbours together while they are short; all of it.
func packed(ln string) (out []string) {
	if len(ln) <= passageBytes {
		return []string{ln}
	}
	for _, s := range apart(ln) {
		if k := len(out) - 1; k >= 0 && len(out[k])+len(s) < widest {
			out[k] += " " + s
			continue
		}
		out = append(out, s)
	}
	return out
}
