// Package fact finds what an agent may have to repeat exactly or obey, and checks what a text keeps of it.
//
// [Scan] finds the spans of one text that have to be repeated letter by letter: paths, URLs,
// identifiers, hashes, flags, numbers, names of errors. [Extract] gathers them over a conversation,
// together with instructions, decisions and open items, and weighs each by the chance that it is needed
// again ([Seen.Chance]): who said it, how recently, how often, and whether it was an argument of a tool.
// [Check] tells which of them a text, a summary or a whole view, still has. Secrets are never facts.
package fact

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/typed"
)

// Limits of what Extract returns.
const (
	minChance    = .03 // of facts that are worth checking
	pasted       = 12  // lines after which a text of the user is taken for a paste: what it says counts less
	maxSentences = 12  // of each of instructions, decisions and open items; the newest are taken, and the task
)

// Weights of sentences, beside chances of 0 to 1 of the facts that are repeated letter by letter.
const (
	taskWeight        = 1
	instructionWeight = .5
	pastedWeight      = .1
	otherWeight       = .2
)

// Extract returns the facts of ms that should be kept, the most important first. When ctx is done it ends early,
// with those that it knows by then.
func Extract(ctx context.Context, ms []decant.Message) []decant.Fact {
	x := extractor{ctx: ctx, ids: map[string]int{}}
	for i := range ms {
		for k := range ms[i].Blocks {
			if ctx.Err() != nil {
				break
			}
			x.block(i, &ms[i], &ms[i].Blocks[k])
		}
	}
	out := x.facts(ms)
	if !x.model {
		return byWeight(out) // a meeting or a log, without orders
	}
	for _, k := range [...]decant.FactKind{decant.FactInstruction, decant.FactDecision, decant.FactOpen} {
		out = append(out, x.newest(k)...)
	}
	return byWeight(out)
}

func byWeight(fs []decant.Fact) []decant.Fact {
	slices.SortStableFunc(fs, func(a, b decant.Fact) int { return cmp.Compare(b.Weight, a.Weight) })
	return fs
}

type extractor struct {
	ctx       context.Context
	ids       map[string]int
	atoms     []atom
	spans     []Span
	sentences []decant.Fact
	asked     bool // the user's first words were seen
	model     bool // the model said or did something
}

type atom struct {
	text string
	kind decant.FactKind
	seen Seen
}

func (x *extractor) block(i int, m *decant.Message, b *decant.Block) {
	switch b.Kind {
	case decant.KindText:
		text := secret.Mask(b.Text())
		x.scan(i, b.Author, text)
		if b.Author == decant.AuthorUser {
			text = typed.Words("", text)
		}
		x.prose(m, b.Author, text)
	case decant.KindUse:
		x.model = true
		x.arguments(i, b.Text())
	case decant.KindResult:
		x.scan(i, b.Author, secret.Mask(b.Text()))
	}
}

// arguments takes in the strings of a call's arguments, decoded, so that "\n" is no part of a name.
func (x *extractor) arguments(i int, args string) {
	src := []byte(secret.Mask(args))
	if jsonspan.Validate(src) != nil {
		x.scan(i, decant.AuthorModel, string(src))
		return
	}
	s := jsonspan.Scan(src, 0)
	x.value(i, &s, src)
}

func (x *extractor) value(i int, s *jsonspan.Scanner, src []byte) {
	switch s.Kind() {
	case '{':
		for s.Open(); s.Next(); {
			s.Name()
			x.value(i, s, src)
		}
	case '[':
		for s.Open(); s.Next(); {
			x.value(i, s, src)
		}
	case '"':
		x.scan(i, decant.AuthorModel, jsonspan.Unquote(s.Skip().Of(src)))
	default:
		s.Skip()
	}
}

func (x *extractor) scan(i int, author decant.Author, text string) {
	x.spans = Scan(x.spans[:0], text)
	for _, s := range x.spans {
		t := text[s.Start:s.End]
		id, ok := x.ids[t]
		if !ok {
			id = len(x.atoms)
			x.ids[t] = id
			x.atoms = append(x.atoms, atom{text: t, kind: s.Kind, seen: Seen{Inner: s.Inner}})
		}
		x.atoms[id].seen.Add(i, author)
	}
}

// prose gathers the lines that are facts as a whole. The first words of the user are the task.
func (x *extractor) prose(m *decant.Message, author decant.Author, text string) {
	if author != decant.AuthorUser && author != decant.AuthorModel {
		return
	}
	rank := 0
	for line := range strings.Lines(text) {
		if x.ctx.Err() != nil {
			return
		}
		line = strings.TrimSpace(line)
		kind, ok := Sentence(author, line)
		weight := otherWeight
		rank++
		switch {
		case author == decant.AuthorModel:
			x.model = true
		case !x.asked && len(line) > 3:
			kind, ok, x.asked = decant.FactInstruction, true, true
			weight = taskWeight
			line = strings.ToValidUTF8(line[:min(len(line), maxSentence)], "")
		case rank > pasted:
			weight = pastedWeight
		default:
			weight = instructionWeight
		}
		by := author
		if m.Scripted { // to be kept, but no person's
			by = decant.AuthorClient
		}
		if ok {
			x.sentences = append(x.sentences, decant.Fact{
				Kind: kind, Text: line, Weight: weight, Message: m.Number, Author: by,
			})
		}
	}
}

// facts returns the spans that are likely enough to be needed again.
func (x *extractor) facts(ms []decant.Message) []decant.Fact {
	var out []decant.Fact
	for i := range x.atoms {
		a := &x.atoms[i]
		if a.seen.Inner {
			continue
		}
		if p := a.seen.Chance(len(ms)); p >= minChance {
			out = append(out, decant.Fact{
				Kind: a.kind, Text: a.text, Weight: p, Message: ms[a.seen.Last].Number,
				Author: a.seen.trusted(),
			})
		}
	}
	return out
}

// newest returns the sentences of a kind: the task, and the newest others.
func (x *extractor) newest(k decant.FactKind) []decant.Fact {
	var out []decant.Fact
	seen := map[string]bool{}
	for i := len(x.sentences) - 1; i >= 0; i-- {
		f := x.sentences[i]
		if f.Kind == k && !seen[f.Text] && (len(out) < maxSentences || f.Weight == taskWeight) {
			seen[f.Text] = true
			out = append(out, f)
		}
	}
	slices.Reverse(out)
	return out
}
