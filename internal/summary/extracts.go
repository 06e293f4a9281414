package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/tool"
)

// An extract is what a person would copy of what a tool returned or was given: a function with its head, a hunk of a
// diff, a failing test with its message, a stack trace, a paragraph, rows of a table, members of a JSON object. Lines
// that say nothing, as a bracket alone, are left out.
type extract struct {
	text  string // unchanged lines, without their common indent below that of the line they are under
	under int    // of the extracts the line that it belongs to; -1: none
	head  bool   // a line that others are under, which is not quoted by itself
	joins bool   // nothing stands between it and the extract before
}

// Sizes of extracts in bytes, as fitted on sessions of one project.
const (
	packBytes  = 90  // neighbours of one depth are quoted together up to here, and at least one of them
	wholeBytes = 260 // a line with all that is below it is quoted together up to here
	scrapBytes = 24  // what is shorter goes with what stands before it, even across an empty line
)

// extracts returns the extracts of a text in their order.
func extracts(text string) []extract {
	x := extractor{}
	x.split(-1, laid(text))
	return x.out
}

// An extractor finds the extracts of lines.
type extractor struct{ out []extract }

// split takes in lines that are under a head: neighbours together, and what is too large for that in parts.
func (x *extractor) split(under int, ls []written) {
	from := 0 // the lines before at that wait to be quoted together
	for at := 0; at < len(ls); {
		end := at + 1
		for end < len(ls) && ls[end].depth > ls[at].depth {
			end++
		}
		waiting, size := bytesOf(ls[from:at]), bytesOf(ls[at:end])
		if from < at && (waiting+size > packBytes || ls[at].gap && waiting > scrapBytes) {
			x.quote(under, ls[from:at])
			from = at
		}
		if size > wholeBytes && end > at+1 {
			x.quote(under, ls[from:at])
			x.large(under, ls[at:end])
			from = end
		}
		at = end
	}
	x.quote(under, ls[from:])
}

// large takes in a line with more below it than is quoted together. One that says what all of it is becomes the head of
// each part; another one, such as the condition of a branch, is the first line of it.
func (x *extractor) large(under int, ls []written) {
	if !leads(&ls[0]) {
		ls[0].depth = ls[1].depth
		x.split(under, ls)
		return
	}
	x.add(under, ls[:1])
	under = len(x.out) - 1
	x.out[under].head = true
	x.split(under, ls[1:])
}

// leads reports whether a line names what is below it: a definition, the head of a hunk or of a table, the name of a
// member, what introduces a list.
func leads(l *written) bool {
	body := strings.TrimSpace(l.text)
	if len(body) > headBytes {
		return false
	}
	if l.depth < 0 || body[0] == '|' || body[0] == '"' && strings.ContainsAny(body[len(body)-1:], "{[:") {
		return true
	}
	if _, sure := tool.Defines(body); sure {
		return true
	}
	first, _, _ := strings.Cut(body, " ")
	return strings.HasSuffix(body, ":") && !slices.Contains(branches, strings.Trim(first, ":"))
}

// branches are the words that begin a branch or a loop where a colon ends its head.
var branches = []string{"if", "elif", "else", "for", "while", "try", "except", "finally", "with", "match", "case", "default"}

// quote takes in lines that are quoted together. A scrap goes with the extract before it.
func (x *extractor) quote(under int, ls []written) {
	if len(ls) == 0 {
		return
	}
	if n := len(x.out) - 1; n >= 0 && bytesOf(ls) < scrapBytes && !ls[0].gap && x.out[n].under == under && !x.out[n].head {
		x.out[n].text += "\n" + x.indented(under, flush(ls))
		return
	}
	x.add(under, ls)
}

func (x *extractor) add(under int, ls []written) {
	x.out = append(x.out, extract{text: x.indented(under, flush(ls)), under: under, joins: !ls[0].gap})
}

// indented returns a text as it stands below its heads.
func (x *extractor) indented(under int, text string) string {
	for ; under >= 0; under = x.out[under].under {
		text = indent + strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	return text
}

func bytesOf(ls []written) (n int) {
	for i := range ls {
		n += len(ls[i].text)
	}
	return n
}
