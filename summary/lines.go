package summary

import (
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
)

// taskLines is how many of the user's first lines are taken for the task.
const taskLines = 4

// width is the longest line that is kept whole, in bytes. Longer ones are cut into pieces.
const width = 200

// text takes in the lines of a text.
func (r *reader) text(o origin, text string) {
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
		if o.author == byModel || o.author == byEarlier || o.author == byUser {
			ln = strings.TrimLeft(ln, "# ")
		}
		if o.author == byModel || o.author == byEarlier {
			ln = emphasis.Replace(ln)
		}
		if tab && o.author == byCall {
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
		o.rank++
	}
}

// emphasis takes off the marks of Markdown that say how the model's words look. They cost tokens and
// tell nothing here. What the user wrote stays as it is.
var emphasis = strings.NewReplacer("**", "", "`", "")

// pieces takes in one line, in pieces when it is long.
func (r *reader) pieces(o origin, ln string) {
	if !says(ln) || strings.HasPrefix(ln, "```") || o.author == byEarlier && isAside(ln) {
		return
	}
	follows := false
	for len(ln) > width {
		n := cutAt(ln, width)
		r.line(o, strings.TrimSpace(ln[:n]), follows, true)
		ln = strings.TrimSpace(ln[n:])
		follows = true
	}
	r.line(o, ln, follows, false)
}

// says reports whether s has a letter or a digit at all.
func says(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			return len(s) > 3
		}
	}
	return false
}

func isAside(s string) bool {
	for _, a := range asides {
		if strings.HasPrefix(s, a) {
			return true
		}
	}
	return false
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
func (r *reader) line(o origin, s string, follows, cut bool) {
	if len(s) < 4 {
		return
	}
	n, ok := r.known[s]
	if !ok {
		n = r.addLine(o, s)
		r.lines[n].follows, r.lines[n].cut = follows, cut
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
	sec, standing := r.place(o, s)
	l := line{text: s, rank: o.rank, standing: standing, group: r.groupOf(o, sec), span: int32(len(r.spans)), word: int32(len(r.words))}
	at := 0
	if l.tabbed() {
		at = 2
	}
	r.scan(s, at)
	l.spans = int32(len(r.spans)) - l.span
	prose := o.author == byUser || o.author == byModel || o.author == byEarlier
	l.plain = r.wordsOf(s, prose)
	l.nwords = int32(len(r.words)) - l.word
	l.cost = float32(estimate(s)) + .94
	r.lines = append(r.lines, l)
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
	r.atoms = append(r.atoms, atom{text: s, kind: f.Kind, seen: fact.Seen{Inner: f.Inner}, piece: piece{line: -1}})
	return id
}

// count counts one occurrence of a fact.
func (r *reader) count(o origin, id int32) {
	author := decant.AuthorTool
	switch o.author {
	case byUser, byEarlier:
		author = decant.AuthorUser
	case byModel, byCall:
		author = decant.AuthorModel
	}
	r.atoms[id].seen.Add(o.index, author, o.author == byCall)
}

// place returns the section of a new line of a message, and whether it has to stand.
func (r *reader) place(o origin, s string) (section, bool) {
	switch {
	case o.group >= 0:
		return 0, false
	case o.author == byUser:
		_, standing := fact.Sentence(decant.AuthorUser, s)
		if r.asked < taskLines {
			r.asked++
			standing = true
		}
		return secUser, standing
	case o.forced:
		return o.section, false
	}
	kind, _ := fact.Sentence(decant.AuthorModel, s)
	switch kind {
	case decant.FactDecision:
		return secDecided, false
	case decant.FactOpen:
		return secOpen, false
	}
	return secSaid, false
}

// groupOf returns the group of a new line.
func (r *reader) groupOf(o origin, sec section) int32 {
	if o.group >= 0 {
		return o.group
	}
	if g, ok := r.bySection[sec]; ok && r.groups[g].number == o.number {
		return g
	}
	g := r.newGroup(group{section: sec, number: o.number})
	r.bySection[sec] = g
	return g
}

// tabbed reports whether the line shows that it was indented by a tab.
func (l *line) tabbed() bool { return strings.HasPrefix(l.text, `\t`) }
