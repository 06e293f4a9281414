package summary

import (
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/fact"
)

// width is the longest line that is kept whole, in bytes. Longer ones are cut into pieces.
const width = 200

// text takes in the lines of a text.
func (r *reader) text(o origin, text string) {
	r.size += len(text)
	if o.author == byUser || o.author == byModel {
		r.prose += float64(len(text))
	}
	hidden := false
	for len(text) > 0 {
		ln := text
		if k := strings.IndexByte(text, '\n'); k >= 0 {
			ln, text = text[:k], text[k+1:]
		} else {
			text = ""
		}
		if o.author == byTool {
			ln = unnumber(ln)
		}
		tab := ln[:min(len(ln), 1)] == "\t"
		ln = strings.TrimSpace(ln)
		if len(ln) < 4 {
			continue
		}
		if tab && o.author == byCall && tabs {
			ln = `\t` + ln
		}
		if ln[0] == '<' && strings.HasPrefix(ln, "<system-reminder>") {
			hidden = true
		}
		if hidden {
			hidden = !strings.Contains(ln, "</system-reminder>")
			continue
		}
		r.pieces(o, ln)
	}
}

// pieces takes in one line, in pieces when it is long.
func (r *reader) pieces(o origin, ln string) {
	for len(ln) > width {
		n := cutAt(ln, width)
		if p := strings.TrimSpace(ln[:n]); len(p) > 3 {
			r.line(o, p)
		}
		ln = strings.TrimSpace(ln[n:])
	}
	if len(ln) > 3 {
		r.line(o, ln)
	}
}

// cutAt returns a place at or before n, and not far before it, where s may be cut: after a sentence,
// else at a blank, else at a rune.
func cutAt(s string, n int) int {
	for i := n; i > n/3; i-- {
		if s[i] == ' ' && (s[i-1] == '.' || s[i-1] == '?' || s[i-1] == '!' || s[i-1] == ';' || s[i-1] == ':') {
			return i
		}
		if s[i] >= 0xe0 && (strings.HasSuffix(s[:i], "。") || strings.HasSuffix(s[:i], "？") || strings.HasSuffix(s[:i], "！")) {
			return i
		}
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		return i
	}
	for n > 1 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// unnumber takes the number off a line of a file as tools show it: "   123→text" or "123\ttext".
func unnumber(s string) string {
	i := 0
	for i < len(s) && s[i] == ' ' {
		i++
	}
	j := i
	for j < len(s) && s[j] >= '0' && s[j] <= '9' {
		j++
	}
	if j == i {
		return s
	}
	if rest, ok := strings.CutPrefix(s[j:], "→"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(s[j:], "\t"); ok {
		return rest
	}
	return s
}

// line takes in one line or piece.
func (r *reader) line(o origin, s string) {
	n, ok := r.known[s]
	if !ok {
		n = r.addLine(o, s)
	}
	l := &r.lines[n]
	l.message = int32(o.index)
	for _, sp := range r.spans[l.span : l.span+l.spans] {
		r.count(o, sp.atom)
	}
}

// addLine makes a line that was not seen before.
func (r *reader) addLine(o origin, s string) int32 {
	n := int32(len(r.lines))
	r.known[s] = n
	l := line{text: s, group: r.groupOf(o, s), span: int32(len(r.spans)), word: int32(len(r.words))}
	if strings.HasPrefix(s, `\t`) {
		r.scan(s, 2)
	} else {
		r.scan(s, 0)
	}
	l.spans = int32(len(r.spans)) - l.span
	prose := o.author == byUser || o.author == byModel || o.author == byEarlier
	l.plain = r.wordsOf(s, prose)
	l.nwords = int32(len(r.words)) - l.word
	l.cost = float32(estimate(s)) + .94
	r.lines = append(r.lines, l)
	r.groups[l.group].lines = append(r.groups[l.group].lines, n)
	r.piecesAround(n, s, r.spans[l.span:])
	return n
}

// scan appends the facts of s.
func (r *reader) scan(s string, at int) {
	r.found = fact.Scan(r.found[:0], s[at:])
	for _, f := range r.found {
		f.Start += at
		f.End += at
		r.spans = append(r.spans, span{r.atom(s[f.Start:f.End], f), int32(f.Start), int32(f.End)})
	}
}

// mention counts the facts of a text that is not a line itself: the heading of a call.
func (r *reader) mention(o origin, s string) {
	r.found = fact.Scan(r.found[:0], s)
	for _, f := range r.found {
		r.count(o, r.atom(s[f.Start:f.End], f))
	}
}

func (r *reader) atom(s string, f fact.Span) int32 {
	if id, ok := r.ids[s]; ok {
		return id
	}
	id := int32(len(r.atoms))
	r.ids[s] = id
	r.atoms = append(r.atoms, atom{text: s, kind: f.Kind, inner: f.Inner, first: -1, piece: piece{line: -1}})
	return id
}

// count counts one occurrence of a fact.
func (r *reader) count(o origin, id int32) {
	a := &r.atoms[id]
	if a.first < 0 {
		a.first = int32(o.index)
		a.last = -1
	}
	if a.last != int32(o.index) {
		a.messages++
		a.last = int32(o.index)
	}
	if o.author != byTool {
		a.authored = int32(o.index)
	}
	switch o.author {
	case byUser, byEarlier:
		a.user++
	case byModel:
		a.model++
	case byCall:
		a.arg++
	default:
		a.tool++
	}
}

// groupOf returns the group of a new line.
func (r *reader) groupOf(o origin, s string) int32 {
	if o.group >= 0 {
		return o.group
	}
	sec := sectionOf(o, s)
	if g, ok := r.bySection[sec]; ok && r.groups[g].number == o.number {
		return g
	}
	g := r.newGroup(group{section: sec, number: o.number})
	r.bySection[sec] = g
	return g
}

var tabs = env("TABS", 1) > 0
