package reduce

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// Trimming says how a long result is cut. Sizes are in characters.
type Trimming struct {
	Over       int // results of at most so many stay whole; zero means 16,000
	Head, Tail int // kept at the beginning and at the end; zero means 4,000
	After      int // only results with at least so many assistant messages after them; zero means every closed one

	// Literal cuts exactly Head and Tail characters and puts "..." between them, even inside a
	// line. It is for presets that promise just that.
	Literal bool
}

// maxLine is the longest line that is never cut, in characters.
const maxLine = 2000

// maxKept bounds the error and summary lines kept from the middle, in bytes.
const maxKept = 2000

func (t Trimming) defaults() Trimming {
	if t.Over == 0 {
		t.Over = 16000
	}
	if t.Head == 0 && t.Tail == 0 {
		t.Head, t.Tail = 4000, 4000
	}
	return t
}

// Trim proposes to cut long results down to their beginning, their end, and the error and summary
// lines between, with an exact count of what is left out.
func Trim(s *Subject, t Trimming) []decant.Decision {
	t = t.defaults()
	after := s.assistants()
	var out []decant.Decision
	for i := range s.results {
		r := &s.results[i]
		if !r.closed || r.size() <= t.Over || after[r.at] < t.After {
			continue
		}
		if d, ok := s.replace(r, decant.Shrink, t.cut(r.clean()), "trim", "long result of "+toolName(r)); ok {
			out = append(out, d)
		}
	}
	return out
}

// clean returns the original text of r, as a terminal shows it when that is how r was shown before.
func (r *result) clean() string {
	if r.verbatim() || r.shrunk.Reduction == "trim" {
		return r.read()
	}
	return clean(r.read())
}

// cut returns text cut down as t says; text itself when it is short enough.
func (t Trimming) cut(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= t.Over || t.Head+t.Tail >= n {
		return text
	}
	if t.Literal {
		return text[:runeOffset(text, t.Head)] + "..." + text[tailOffset(text, t.Tail):]
	}
	return t.cutLines(text)
}

// runeOffset returns the offset of the rune number n of s, its length when it has fewer.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// tailOffset returns the offset at which the last n runes of s begin.
func tailOffset(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// cutLines keeps whole lines at both ends and error and summary lines between.
func (t Trimming) cutLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	head, tail := t.ends(lines)
	var out strings.Builder
	for _, l := range lines[:head] {
		out.WriteString(clipLine(l))
	}
	writeMiddle(&out, lines[head:tail])
	for _, l := range lines[tail:] {
		out.WriteString(clipLine(l))
	}
	return out.String()
}

// ends returns how many lines at the beginning and from which line on stay.
func (t Trimming) ends(lines []string) (head, tail int) {
	room := t.Head
	for head < len(lines) {
		if room -= min(utf8.RuneCountInString(lines[head]), maxLine); room < 0 && head > 0 {
			break
		}
		head++
		if room <= 0 {
			break
		}
	}
	tail, room = len(lines), t.Tail
	for tail > head {
		if room -= min(utf8.RuneCountInString(lines[tail-1]), maxLine); room < 0 {
			break
		}
		tail--
	}
	return head, tail
}

// writeMiddle writes the lines of the middle that say how things went, and a note for every gap.
func writeMiddle(out *strings.Builder, lines []string) {
	kept, lost, chars := 0, 0, 0
	for _, l := range lines {
		text := strings.TrimRight(l, "\r\n")
		if kept+len(text) <= maxKept && len(text) <= maxLine && (tool.IsError(text) || tool.IsSummary(text)) {
			writeGap(out, lost, chars)
			lost, chars = 0, 0
			out.WriteString(l)
			kept += len(l)
			continue
		}
		lost++
		chars += utf8.RuneCountInString(l)
	}
	writeGap(out, lost, chars)
}

func writeGap(out *strings.Builder, lines, chars int) {
	if lines > 0 {
		fmt.Fprintf(out, "[... %s, %s left out ...]\n", amount(lines, "line"), amount(chars, "character"))
	}
}

// clipLine returns the line l, cut at a rune and counted when it is longer than any line that a
// person wrote.
func clipLine(l string) string {
	if len(l) <= maxLine {
		return l
	}
	body := strings.TrimRight(l, "\r\n")
	n := utf8.RuneCountInString(body)
	if n <= maxLine {
		return l
	}
	const half = maxLine / 2
	note := fmt.Sprintf("[... %s left out ...]", amount(n-2*half, "character"))
	return body[:runeOffset(body, half)] + note + body[tailOffset(body, half):] + l[len(body):]
}
