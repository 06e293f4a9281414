package reduce

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/tool"
)

// Trimming says how a long result is cut. Sizes are in characters.
type Trimming struct {
	Over       int // results of at most so many stay whole; zero means 16,000
	Head, Tail int // kept at the beginning and at the end; both zero mean 4,000; negative means nothing
	After      int // only results with at least so many assistant messages after them; zero means every closed one

	// Off says that no result is cut at first sight, whatever the sizes.
	Off bool

	// Literal cuts exactly Head and Tail characters and puts "..." between them, even inside a
	// line. It is for presets that promise just that.
	Literal bool
}

// maxLine is the longest line that is kept whole or not at all, in characters: a longer one is cut.
const maxLine = 2000

// mostKept is more than any text has of characters, and small enough to be added up.
const mostKept = 1 << 30

// maxKept bounds the error and summary lines kept from the middle, in bytes.
const maxKept = 2000

func (t Trimming) defaults() Trimming {
	if t.Over == 0 {
		t.Over = 16000
	}
	if t.Head == 0 && t.Tail == 0 {
		t.Head, t.Tail = 4000, 4000
	}
	t.Head, t.Tail = min(max(t.Head, 0), mostKept), min(max(t.Tail, 0), mostKept)
	return t
}

// Trim proposes to cut long results down to their beginning, their end, and the error and summary
// lines between, with an exact count of what is left out.
func Trim(s *Subject, t Trimming) []decant.Decision {
	t = t.defaults()
	after := s.assistants()
	var out []decant.Decision
	for r := range s.each() {
		if !r.closed || r.size() <= t.Over || after[r.at] < t.After {
			continue
		}
		if d, ok := s.replace(r, decant.Shrink, t.cut(r.clean()), decant.ReductionTrim, "long result of "+toolName(r)); ok {
			out = append(out, d)
		}
	}
	return out
}

// clean returns the original text of r, as a terminal shows it when that is how r was shown before.
func (r *result) clean() string {
	if r.verbatim() || r.shrunk.Reduction == decant.ReductionTrim {
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
	back := slices.Clone(lines)
	slices.Reverse(back)
	front, rear := fill(lines, t.Head), fill(back, t.Tail)
	if front.lines+rear.lines >= len(lines) {
		return text
	}
	var out strings.Builder
	for _, l := range lines[:front.lines] {
		out.WriteString(l)
	}
	writeBetween(&out, lines[front.lines:len(lines)-rear.lines], front.part, rear.part)
	for _, l := range lines[len(lines)-rear.lines:] {
		out.WriteString(l)
	}
	return out.String()
}

// An end is how much stays of the lines at one end of a text: so many whole ones, and so many characters of
// the one after them.
type end struct{ lines, part int }

// fill returns how much of lines, counted from the first, so many characters hold. A line that is longer than
// any that a person wrote, such as JSON without line breaks, gets the room that is left: tools print whole
// answers so, and nothing of them would be seen.
func fill(lines []string, room int) end {
	for i, l := range lines {
		n := utf8.RuneCountInString(l)
		if n <= room {
			room -= n
			continue
		}
		if n <= maxLine {
			return end{lines: i}
		}
		return end{i, room}
	}
	return end{lines: len(lines)}
}

// writeBetween writes the text between the two ends: the parts that they have room for of the first and of
// the last line, and what the middle says of how things went.
func writeBetween(out *strings.Builder, lines []string, head, tail int) {
	last := len(lines) - 1
	if last == 0 && head+tail > 0 {
		writeLong(out, lines[0], head, tail)
		return
	}
	if head > 0 {
		writeLong(out, lines[0], head, 0)
		lines, last = lines[1:], last-1
	}
	if tail == 0 {
		writeMiddle(out, lines)
		return
	}
	writeMiddle(out, lines[:last])
	writeLong(out, lines[last], 0, tail)
}

// writeLong writes a long line with head characters of its beginning and tail of its end, about: JSON is cut
// between two values, other text between two words. The note says how much there is and how to see it.
func writeLong(out *strings.Builder, line string, head, tail int) {
	body := strings.TrimRight(line, "\r\n")
	n := utf8.RuneCountInString(body)
	if head+tail >= n {
		out.WriteString(line)
		return
	}
	from := between(body, runeOffset(body, head), -1)
	til := between(body, tailOffset(body, tail), 1)
	if tail == 0 {
		til = len(body)
	}
	lost := utf8.RuneCountInString(body[from:til])
	fmt.Fprintf(out, "%s[... %s of %s characters of this line left out: narrow the call, or use an offset, to see them ...]%s%s",
		body[:from], humanize.Thousands(lost), humanize.Thousands(n), body[til:], line[len(body):])
}

// between returns a place near i at which s may be cut, before it or, with a positive step, behind it: after a
// comma in JSON, else at a blank, else i itself.
func between(s string, i, step int) int {
	const near = 400 // bytes
	marks := " \t"
	if t := strings.TrimLeft(s, " \t"); t != "" && (t[0] == '{' || t[0] == '[') {
		marks = ","
	}
	for k := i; k > 0 && k < len(s) && (k-i)*step < near; k += step {
		if strings.IndexByte(marks, s[k-1]) >= 0 &&
			(marks != "," || k == len(s) || strings.IndexByte("\"{[ -0123456789tfn", s[k]) >= 0) {
			return k
		}
	}
	return i
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
