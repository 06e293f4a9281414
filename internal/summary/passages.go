package summary

import "strings"

// A passage is what of a segment is quoted together: a line with what is indented below it, or sentences of a long one.
type passage struct {
	under string // the headings above it, outermost first
	text  string // lines as they stand, without the indent that they share

	first, last int // of the lines of the segment
}

// Sizes of passages in bytes.
const (
	passageBytes = 500 // lines that belong together and are longer are quoted one by one
	headBytes    = 100 // a line that others are indented below is their heading up to here
)

// A written is one line of a segment with how deep it stands.
type written struct {
	depth int
	text  string
	at    int
}

// passages returns the passages of a text in their order.
func passages(text string) (out []passage) { return gathered(nil, "", deep(text)) }

// deep returns the lines of a text with their depths: headings above all others, and the items of a list below the line
// before the list.
func deep(text string) (out []written) {
	fenced, at := false, -1
	for ln := range strings.Lines(text) {
		at++
		ln = strings.ReplaceAll(strings.TrimRight(ln, " \t\r\n"), "\t", "    ")
		body := strings.TrimLeft(ln, " ")
		depth := 2 * (len(ln) - len(body))
		switch {
		case strings.HasPrefix(body, "```"):
			fenced = !fenced
			continue
		case !says(body):
			continue
		case fenced:
			depth = inFence
		case strings.HasPrefix(body, "#") && strings.HasPrefix(strings.TrimLeft(body, "#"), " "):
			depth = len(body) - len(strings.TrimLeft(body, "#")) - headDepth
		case strings.HasPrefix(body, "**") && strings.HasSuffix(strings.TrimRight(body, ":"), "**") && len(body) <= headBytes:
			depth--
		case item(body):
			depth++
		}
		out = append(out, written{depth, ln, at})
	}
	return out
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

// gathered appends the passages of lines that stand under headings.
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

// gathering appends the passages of a line and of what stands below it.
func gathering(out []passage, under string, ls []written) []passage {
	first, below := ls[0], ls[1:]
	size := 0
	for _, l := range ls {
		size += len(l.text)
	}
	switch {
	case first.depth < 0 || len(below) > 0 && len(first.text) <= headBytes && (size > passageBytes || title(first.text)):
		return gathered(out, joined(under, first.text), below)
	case size <= passageBytes:
		return append(out, passage{under, flush(ls), first.at, ls[len(ls)-1].at})
	}
	for _, s := range packed(strings.TrimSpace(first.text)) {
		out = append(out, passage{under, s, first.at, first.at})
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

// flush returns lines without the indent of the first.
func flush(ls []written) string {
	shared := len(ls[0].text) - len(strings.TrimLeft(ls[0].text, " "))
	var out []string
	for _, l := range ls {
		own := len(l.text) - len(strings.TrimLeft(l.text, " "))
		out = append(out, l.text[min(shared, own):])
	}
	return strings.Join(out, "\n")
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
