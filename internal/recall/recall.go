// Package recall measures what a text still holds of the exact strings that people and a model wrote in some
// messages: paths, identifiers, URLs, hashes, options, numbers, errors. It is the score that people see. What
// counts as such a string, and when one counts as held, is decided by rules that share no code with those by
// which a record chooses what to keep (package ruler).
package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/internal/typed"
)

// A Result is what a text holds.
type Result struct {
	Strings  int `json:"strings"`
	Present  int `json:"present"`  // that stand in the text
	Grounded int `json:"grounded"` // that stand there on a line which still says something of what stood beside them
	// share of the strings that are grounded, 0 to 1; those used in the newest third of the messages count
	// double; 1 when there are none
	Score float64 `json:"score"`
	// share of all strings in the messages, also in results, that stand in the text, 0 to 1; 1 when there are none
	Share float64 `json:"share"`
}

// Of measures what text holds of ms. It takes time in proportion to both. When ctx is done it ends early, and what
// it returns says nothing.
func Of(ctx context.Context, ms []decant.Message, text string) Result {
	return new(Reader).In(ctx, ms).HeldBy(ctx, text)
}

// A Reader makes measures of messages that overlap, and looks at each line of them and of what they measure
// once. The zero value is ready for use. It is not safe for concurrent use, nor are its measures.
type Reader struct {
	lines map[string][]atom // that have strings, and long ones
	found []atom            // on the line that is looked at
}

// A line is one that has strings.
type line struct {
	text  string
	atoms []atom
}

// longLine is how many bytes a line without strings has that is sooner looked up than read again.
const longLine = 100

// An atom is a string that a line has.
type atom struct {
	text string
	kind ruler.Kind
}

// atoms returns the strings of a line, each as often as it is found.
func (r *Reader) atoms(line string) []atom {
	out, known := r.lines[line]
	if !known {
		r.found = r.found[:0]
		ruler.Each(line, func(s string, k ruler.Kind) { r.found = append(r.found, atom{s, k}) })
		if len(r.found) == 0 && len(line) < longLine {
			return nil
		}
		out = slices.Clone(r.found)
		if r.lines == nil {
			r.lines = map[string][]atom{}
		}
		r.lines[line] = out
	}
	return out
}

// read appends the lines of a text that have strings to dst.
func (r *Reader) read(dst []line, text string) []line {
	for s := range strings.Lines(text) { // no string has a line end
		if as := r.atoms(s); len(as) > 0 {
			dst = append(dst, line{s, as})
		}
	}
	return dst
}

// A Measure is what was found in messages, so that several texts can be measured by it. Texts that have lines
// in common are measured faster than the first.
type Measure struct {
	reader   *Reader
	ctx      context.Context
	messages int
	strings  map[string]*wanted
	all      map[string]bool    // strings that anybody wrote
	names    map[string]bool    // of tools and their parameters, which are in every request anyway
	lines    map[string][]place // of the texts that were measured
	measured bool               // a text was measured to its end
}

// A wanted is one string with its places before and now.
type wanted struct {
	kind    ruler.Kind
	last    int // index of the last message in which somebody wrote it
	was, is []ruler.Context
	held    bool // by a text that was measured, at least as a part of something

	grounded bool // in the text that was measured last
}

// A place is the position of a string on a line.
type place struct {
	of *wanted
	at []ruler.Context
}

// In finds the strings of ms. When ctx is done it ends early, and so does what is measured by it then.
func (r *Reader) In(ctx context.Context, ms []decant.Message) *Measure {
	m := &Measure{
		reader: r, ctx: ctx, messages: len(ms), strings: map[string]*wanted{}, all: map[string]bool{}, names: map[string]bool{},
		lines: map[string][]place{},
	}
	var all []line
	for i := range ms {
		for k := range ms[i].Blocks {
			if ctx.Err() != nil {
				return m
			}
			text, n := m.said(&ms[i].Blocks[k]), len(all)
			all = r.read(all, text)
			m.authored(i, &ms[i].Blocks[k], text, all[n:])
		}
	}
	for i := range all {
		if ctx.Err() != nil {
			return m
		}
		m.stood(&all[i])
	}
	return m
}

// HeldBy measures what text holds.
func (m *Measure) HeldBy(ctx context.Context, text string) Result {
	m.ctx = ctx
	for _, w := range m.strings {
		w.is, w.grounded = nil, false
	}
	var fresh strings.Builder
	has := map[string]bool{}
	for line := range strings.Lines(text) {
		if m.ctx.Err() != nil {
			break
		}
		places, known := m.lines[line]
		if !known {
			fresh.WriteString(line)
			places = m.places(line)
			m.lines[line] = places
		}
		for _, a := range m.reader.atoms(line) {
			if m.all[a.text] {
				has[a.text] = true
			}
		}
		for _, p := range places {
			n := min(len(p.at), ruler.Most-len(p.of.is))
			p.of.is = append(p.of.is, p.at[:n]...)
		}
	}
	r := m.result(text, fresh.String())
	r.Share = float64(len(has)+1) / float64(len(m.all)+1)
	if m.measured = m.ctx.Err() == nil; !m.measured {
		clear(m.lines)
	}
	return r
}

// Lost returns the strings that a text holds with their context and another one does not, in order.
func (m *Measure) Lost(ctx context.Context, was, now string) (out []string) {
	m.HeldBy(ctx, was)
	before := map[string]bool{}
	for s, w := range m.strings {
		before[s] = w.grounded
	}
	m.HeldBy(ctx, now)
	for s, w := range m.strings {
		if before[s] && !w.grounded {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// places returns the places of wanted strings on a line.
func (m *Measure) places(line string) (out []place) {
	in := fact.IndexOf(line)
	for _, a := range m.reader.atoms(line) {
		if w := m.strings[a.text]; w != nil {
			out = append(out, place{w, ruler.ContextsAt(line, a.text, in.Places(a.text), ruler.Most)})
		}
	}
	return out
}

// said returns what a block says: of a call the values of its arguments, whose names are noted.
func (m *Measure) said(b *decant.Block) string {
	switch {
	case b.Kind == decant.KindUse:
		values, names := ruler.Arguments(b.Text())
		m.names[b.Name] = true
		for _, n := range names {
			m.names[n] = true
		}
		return values
	case b.Content == nil || b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque:
		return ""
	}
	return b.Text()
}

// authored takes in the strings that the user or the model wrote in a block that says a text with some lines.
func (m *Measure) authored(i int, b *decant.Block, text string, lines []line) {
	switch {
	case b.Kind == decant.KindUse, b.Kind == decant.KindText && b.Author == decant.AuthorModel:
	case b.Kind == decant.KindText && b.Author == decant.AuthorUser:
		if len(lines) == 0 && !strings.Contains(text, "<") { // without an element nothing is put together anew
			return
		}
		if words := typed.Words("", text); len(words) < len(text) {
			lines = m.reader.read(nil, words)
		}
	default:
		return
	}
	for k := range lines {
		for _, a := range lines[k].atoms {
			w := m.strings[a.text]
			if w == nil {
				w = &wanted{kind: a.kind}
				m.strings[a.text] = w
			}
			w.kind, w.last = min(w.kind, a.kind), i
		}
	}
}

// stood notes the places of the strings on a line of the messages.
func (m *Measure) stood(l *line) {
	var in *fact.Index
	for _, a := range l.atoms {
		m.all[a.text] = true
		if w := m.strings[a.text]; w != nil && len(w.was) < ruler.Most {
			if in == nil {
				in = fact.IndexOf(l.text)
			}
			w.was = append(w.was, ruler.ContextsAt(l.text, a.text, in.Places(a.text), ruler.Most-len(w.was))...)
		}
	}
}

// result counts. What no text held before is looked for only in the lines that are new with this one.
func (m *Measure) result(text, fresh string) Result {
	r := Result{Score: 1}
	in, more := fact.IndexOf(text), fact.IndexOf(fresh)
	all, held := 0, 0
	for s, w := range m.strings {
		if m.ctx.Err() != nil {
			break
		}
		if m.names[s] {
			continue
		}
		weight := 1
		if 3*w.last >= 2*m.messages {
			weight = 2
		}
		r.Strings++
		all += weight
		if len(w.is) == 0 && ruler.InParts(s, w.kind) && (!m.measured || w.held || more.Contains(s)) {
			w.is = ruler.ContextsAt(text, s, in.Places(s), ruler.Most)
		}
		if len(w.is) == 0 {
			continue
		}
		w.held = true
		r.Present++
		if w.grounded = ruler.Grounded(w.was, w.is); w.grounded {
			r.Grounded++
			held += weight
		}
	}
	if all > 0 {
		r.Score = float64(held) / float64(all)
	}
	return r
}
