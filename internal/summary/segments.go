package summary

import (
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// Values of a line of a segment for being said, whatever facts are in it.
const (
	writtenValue = .1 // for each of its tokens, in chances
	writtenVoice = 1
)

// A reteller takes in what models wrote about stretches of the messages.
type reteller struct {
	book  *book
	avoid []string // strings whose lines are left out
}

// take takes in the lines of a segment.
func (r *reteller) take(s *decant.Segment) {
	b := r.book
	at := min(s.To, b.src.to) - b.src.from
	fresh := 100 / (100 + float64(max(b.src.messages-at, 0)))
	head := r.head(s)
	groups := map[string]int32{}
	for _, p := range passages(s.Text) {
		if ours(p.under) || slices.ContainsFunc(r.avoid, func(s string) bool { return strings.Contains(p.text, s) }) {
			continue
		}
		g, ok := groups[p.under]
		if !ok {
			g = b.heading(head+under(p.under)+":", s.From)
			groups[p.under] = g
		}
		n := b.lex.line(p.text, true)
		e := entry{sec: secWritten, group: g, text: p.text, line: n, voice: writtenVoice}
		e.value = lineValue + float32(writtenValue*fresh)*b.lex.lines[n].cost
		if int(n) >= b.lines { // no line of the messages is the same
			b.written[n] = make([]bool, len(b.lex.of(n)))
		}
		b.add(e)
	}
}

// head returns the heading of lines of a segment: the messages that it is about, and of which of them it says
// nothing.
func (r *reteller) head(s *decant.Segment) string {
	head := span(s.From, s.To)
	var gaps []string
	for _, g := range s.Gaps {
		gaps = append(gaps, span(g.From, g.To))
	}
	if len(gaps) > 0 {
		head += r.book.say(" without ", "，不含 ") + strings.Join(gaps, ", ")
	}
	return head
}

func span(from, to int) string { return "m" + itoa(from) + "-m" + itoa(to) }

func under(head string) string {
	if head == "" {
		return ""
	}
	return ", " + head
}

// ours reports whether a heading of a segment is of what a record says from the messages alone: what the user said, the
// rules, the request in hand and the files.
func ours(heads string) bool {
	low := strings.ToLower(heads)
	if slices.ContainsFunc([]string{"user message", "user's message", "user request", "primary request",
		"instructions", "用户的话"}, func(w string) bool { return strings.Contains(low, w) }) {
		return true
	}
	top, _, _ := strings.Cut(heads, headJoint)
	return slices.Contains([]section{secUser, secAnswers, secGoal, secRules, secFiles}, sectionNamed(top)) ||
		slices.Contains([]string{alsoHeading, namesHeading, Pinned}, top)
}

// headJoint joins the headings above a line.
const headJoint = ": "

// mostAuthors is how many models the first line of a record names.
const mostAuthors = 3

// authors names the models that wrote segments.
func authors(segments []decant.Segment) string {
	var names []string
	for i := range segments {
		name := strings.Map(plainName, segments[i].Model)
		if name != "" && !slices.Contains(names, name) && len(names) < mostAuthors {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "a model"
	}
	return strings.Join(names, ", ")
}

// plainName drops what is in no name of a model, so that it cannot end the first line of a record.
func plainName(r rune) rune {
	if r < 0x80 && (letter(byte(r)) || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@", r)) {
		return r
	}
	return -1
}
