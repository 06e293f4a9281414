package summarize

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
)

// An entry is one message as the model reads it: text with a label in front of each part, so that the model does not
// take the conversation for its own and goes on with it.
type entry struct {
	number int
	role   decant.Role
	parts  []part
	tokens int
}

// A part is what one block says.
type part struct {
	label  string // whose words it is, with the number of the message
	body   string
	whole  string // body before it was shortened, of a result or arguments
	quoted bool   // a result or arguments, of which there may be so much
	said   bool   // the user typed it
}

// indent stands before every line that somebody wrote, so that none can pass for a label.
const indent = "  "

// text returns what the model reads.
func (e *entry) text() string {
	var b strings.Builder
	for i := range e.parts {
		b.WriteString(e.parts[i].text())
	}
	return b.String()
}

func (p *part) text() string {
	if p.body == "" {
		return p.label + "\n"
	}
	return p.label + ":\n" + indent + strings.ReplaceAll(p.body, "\n", "\n"+indent) + "\n"
}

// entries returns messages as a model reads them, with credentials masked.
func entries(ms []decant.Message, form preset.Summary) []entry {
	head, tail := headQuoted, tailQuoted
	if form.Preview.Over > 0 {
		head, tail = form.Preview.Head, form.Preview.Tail
	}
	out := make([]entry, len(ms))
	for i := range ms {
		m := &ms[i]
		out[i] = entry{number: m.Number, role: m.Role}
		for k := range m.Blocks {
			if p, ok := partOf(m, &m.Blocks[k]); ok {
				if p.whole = p.body; p.quoted {
					p.body = preview(p.body, head, tail)
				}
				out[i].parts = append(out[i].parts, p)
			}
		}
	}
	middleOut(out, cmp.Or(form.MaxInput, maxQuoted))
	return out
}

// partOf returns what a block says; false when it says nothing that belongs into a record.
func partOf(m *decant.Message, b *decant.Block) (part, bool) {
	name := m.Name()
	switch b.Kind {
	case decant.KindText:
		body := clean(b.Text())
		return part{label: name + " " + speaker(b.Author), body: body, said: b.Author == decant.AuthorUser}, body != ""
	case decant.KindUse:
		return part{label: name + " assistant calls " + oneLine(b.Name), body: clean(b.Text()), quoted: true}, true
	case decant.KindResult:
		label := name + " result of " + oneLine(b.Name)
		if b.Error {
			label += ", an error"
		}
		return part{label: label, body: clean(b.Text()), quoted: true}, true
	case decant.KindImage:
		return part{label: name + " an image or a document, not shown here"}, true
	}
	return part{}, false
}

// speaker returns who wrote a text.
func speaker(a decant.Author) string {
	switch a {
	case decant.AuthorUser:
		return "user says"
	case decant.AuthorModel:
		return "assistant says"
	case decant.AuthorDecant:
		return "earlier record"
	}
	return "note of the client program"
}

// clean returns a text as it may leave: without credentials, and valid.
func clean(text string) string {
	return secret.Mask(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")))
}

// oneLine returns a name of somebody else's on one line, and no longer than a name.
func oneLine(name string) string {
	name = strings.Join(strings.Fields(clean(name)), " ")
	if len(name) > 80 {
		name = strings.ToValidUTF8(name[:80], "")
	}
	return name
}

// preview returns the beginning and the end of a text that is much longer than both. It is cut after credentials are
// masked, so that no half of one is left.
func preview(text string, head, tail int) string {
	const note = 60 // characters of the note, and of what is not worth one
	n := utf8.RuneCountInString(text)
	if n <= head+tail+note {
		return text
	}
	r := []rune(text)
	return fmt.Sprintf("%s\n[%d characters left out]\n%s", string(r[:head]), n-head-tail, string(r[n-tail:]))
}

// middleOut leaves at most limit characters of what is quoted: the first and the last parts, half of the limit from each
// end, and a note in place of each between.
func middleOut(es []entry, limit int) {
	var all []*part
	total := 0
	for i := range es {
		for k := range es[i].parts {
			if p := &es[i].parts[k]; p.quoted {
				all, total = append(all, p), total+utf8.RuneCountInString(p.body)
			}
		}
	}
	if total <= limit {
		return
	}
	from, to := kept(all, limit/2), len(all)
	for sum := 0; to > from; to-- {
		if sum += utf8.RuneCountInString(all[to-1].body); sum > limit/2 {
			break
		}
	}
	for _, p := range all[from:to] {
		p.body = "[" + strconv.Itoa(utf8.RuneCountInString(p.body)) + " characters left out]"
	}
}

// kept returns how many parts from the first on have at most limit characters together.
func kept(ps []*part, limit int) (n int) {
	for sum := 0; n < len(ps); n++ {
		if sum += utf8.RuneCountInString(ps[n].body); sum > limit {
			break
		}
	}
	return n
}

// A group is messages [start, end) that are asked about together: a round, or one message outside of rounds.
type group struct{ start, end int }

// groups returns messages in groups.
func groups(ms []decant.Message) []group {
	cuts := decant.Cuts(ms)
	var out []group
	for i := 1; i < len(cuts); i++ {
		out = append(out, group{cuts[i-1], cuts[i]})
	}
	return out
}

// leaveOut replaces every message that is too large for a window by a note of its role and size, and leaves out the round
// that it is in, what the user typed in it aside. It returns which messages the model is told nothing of.
func (s sizes) leaveOut(es []entry, gs []group, window int) (gaps []decant.Gap) {
	for _, g := range gs {
		large := false
		for i := g.start; i < g.end; i++ {
			large = large || s.huge(es[i].tokens, window)
		}
		if !large {
			continue
		}
		for i := g.start; i < g.end; i++ {
			es[i].reduce(s.huge(es[i].tokens, window))
		}
		gaps = append(gaps, decant.Gap{From: es[g.start].number, To: es[g.end-1].number, Why: "too large for the model that summarises"})
	}
	return gaps
}

// reduce leaves of a message of a round that is left out a note, or what the user typed.
func (e *entry) reduce(huge bool) {
	if huge {
		label := fmt.Sprintf("m%d a message of the %s, about %dK tokens, left out", e.number, e.role, (e.tokens+999)/1000)
		e.parts = []part{{label: label}}
		return
	}
	var said []part
	for _, p := range e.parts {
		if p.said {
			said = append(said, p)
		}
	}
	e.parts = said
}
