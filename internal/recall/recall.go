// Package recall measures what a text still holds of the exact strings that people and a model wrote in some
// messages: paths, identifiers, URLs, hashes, options, numbers, errors. It is the score that people see. What
// counts as such a string, and when one counts as held, is decided by rules that share no code with those by
// which a record chooses what to keep (package ruler).
package recall

import (
	"context"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/find"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/internal/typed"
)

// A Result is what a text holds.
type Result struct {
	Strings  int     `json:"strings"`
	Present  int     `json:"present"`  // that stand in the text
	Grounded int     `json:"grounded"` // that stand there on a line which still says something of what stood beside them
	Score    float64 `json:"score"`    // share of the strings that are grounded, 0 to 1; those used in the newest third of the messages count double; 1 when there are none
}

// Of measures what text holds of ms. It takes time in proportion to both. When ctx is done it ends early, and what
// it returns says nothing.
func Of(ctx context.Context, ms []decant.Message, text string) Result {
	m := measure{ctx: ctx, strings: map[string]*wanted{}, names: map[string]bool{}}
	for i := range ms {
		for k := range ms[i].Blocks {
			if ctx.Err() != nil {
				break
			}
			m.authored(i, &ms[i].Blocks[k])
		}
	}
	for i := range ms {
		for k := range ms[i].Blocks {
			m.contexts(said(&ms[i].Blocks[k]), func(w *wanted) *[]ruler.Context { return &w.was })
		}
	}
	m.contexts(text, func(w *wanted) *[]ruler.Context { return &w.is })
	return m.result(len(ms), text)
}

// A measure holds the strings that are asked for.
type measure struct {
	ctx     context.Context
	strings map[string]*wanted
	names   map[string]bool // of tools and their parameters, which are in every request anyway
}

// A wanted is one string with the places where it stood and stands.
type wanted struct {
	kind    ruler.Kind
	last    int // index of the last message in which somebody wrote it
	was, is []ruler.Context
}

// said returns what a block says: of a call the values of its arguments.
func said(b *decant.Block) string {
	switch {
	case b.Content == nil || b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque:
		return ""
	case b.Kind == decant.KindUse:
		return ruler.Values(b.Text())
	}
	return b.Text()
}

// authored takes in the strings that the user or the model wrote in a block.
func (m *measure) authored(i int, b *decant.Block) {
	text := ""
	switch {
	case b.Kind == decant.KindUse:
		args := b.Text()
		m.names[b.Name] = true
		ruler.Names(args, func(n string) { m.names[n] = true })
		text = ruler.Values(args)
	case b.Kind == decant.KindText && b.Author == decant.AuthorUser:
		text = typed.Words("", b.Text())
	case b.Kind == decant.KindText && b.Author == decant.AuthorModel:
		text = b.Text()
	}
	ruler.Each(text, func(s string, k ruler.Kind) {
		w := m.strings[s]
		if w == nil {
			w = &wanted{kind: k}
			m.strings[s] = w
		}
		w.kind, w.last = min(w.kind, k), i
	})
}

// contexts notes where the strings stand in a text.
func (m *measure) contexts(text string, places func(*wanted) *[]ruler.Context) {
	for line := range strings.Lines(text) {
		if m.ctx.Err() != nil {
			return
		}
		in := find.In(line)
		ruler.Each(line, func(s string, _ ruler.Kind) {
			w := m.strings[s]
			if w == nil {
				return
			}
			at := places(w)
			if n := ruler.Most - len(*at); n > 0 {
				*at = append(*at, ruler.ContextsAt(line, s, in.Places(s), n)...)
			}
		})
	}
}

// result counts.
func (m *measure) result(messages int, text string) Result {
	r := Result{Score: 1}
	in := find.In(text)
	all, held := 0, 0
	for s, w := range m.strings {
		if m.ctx.Err() != nil {
			break
		}
		if m.names[s] {
			continue
		}
		weight := 1
		if 3*w.last >= 2*messages {
			weight = 2
		}
		r.Strings++
		all += weight
		if len(w.is) == 0 && ruler.InParts(s, w.kind) {
			w.is = ruler.ContextsAt(text, s, in.Places(s), ruler.Most)
		}
		if len(w.is) == 0 {
			continue
		}
		r.Present++
		if ruler.Grounded(w.was, w.is) {
			r.Grounded++
			held += weight
		}
	}
	if all > 0 {
		r.Score = float64(held) / float64(all)
	}
	return r
}
