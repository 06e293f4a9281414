package match

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
)

// References returns the numbering of a request at its place.
func References(r *Prompt, p *Match) *archive.References {
	n := &archive.References{Conv: r.Doc.Conversation, Same: true, Fits: true}
	if p.Stored == nil {
		return n
	}
	for i, k := range p.Entries {
		if k >= 0 && p.State.Chain[k].Ref != r.At(i).Ref {
			n.Same = false
			break
		}
	}
	if n.Same && !p.beyond(r) {
		return n
	}
	renumbering{n}.renumber(r, p)
	return n
}

// beyond reports whether a new message of the request would get the number of one that stays and
// that the request does not have.
func (p *Match) beyond(r *Prompt) bool {
	if p.Relation != Amends {
		return false
	}
	last := 0
	for _, k := range p.Entries {
		if k >= 0 {
			last = max(last, p.State.Chain[k].Message)
		}
	}
	return last > len(r.Doc.Conversation.Messages)
}

// A renumbering is a numbering in the making.
type renumbering struct{ *archive.References }

// renumber makes a copy of the request's conversation with references of the transcript.
func (n renumbering) renumber(r *Prompt, p *Match) {
	n.Same = false
	n.Back, n.Index = map[decant.Ref]decant.Ref{}, map[int]int{}
	entry := map[int]int{} // block to entry
	for i, k := range p.Entries {
		if k >= 0 {
			entry[r.Spine[i]] = k
		}
	}
	thinking := thoughtsOf(p.State)
	ms := slices.Clone(r.Doc.Conversation.Messages)
	at, last := 0, 0
	for i := range ms {
		num, ok := messageNumber(p.State, entry, at, len(ms[i].Blocks))
		if !ok {
			num = last + 1
		}
		if num <= last {
			n.Fits = false
			num = last + 1
		}
		last = num
		n.Index[num] = ms[i].Number
		ms[i].Number = num
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		n.blocks(&ms[i], p.State, entry, at, thinking)
		at += len(ms[i].Blocks)
	}
	n.Conv = r.Doc.Conversation.With(ms)
	if !n.Fits { // the client has cut its messages anew: they begin anew
		n.Conv, n.Same = r.Doc.Conversation, true
	}
}

// messageNumber returns the transcript number of a message whose blocks are the atoms from at on;
// false when all of them are new.
func messageNumber(s *store.State, entry map[int]int, at, blocks int) (int, bool) {
	for i := at; i < at+blocks; i++ {
		if k, ok := entry[i]; ok {
			return s.Chain[k].Message, true
		}
	}
	return 0, false
}

// blocks gives the blocks of m their references.
func (n renumbering) blocks(m *decant.Message, s *store.State, entry map[int]int, at int, thinking map[thought]decant.Ref) {
	next := 0
	for k := range m.Blocks {
		b := &m.Blocks[k]
		ref := decant.Ref{Message: m.Number, Block: next}
		if e, ok := entry[at+k]; ok && s.Chain[e].Message == m.Number {
			ref = s.Chain[e].Ref
		} else if ok {
			n.Fits = false
		}
		if b.Kind == decant.KindThinking {
			if t, ok := thinking[thought{m.Number, TextHash(b)}]; ok && t.Block >= next {
				ref = t
			}
		}
		n.Back[ref] = b.Ref
		b.Ref = ref
		next = ref.Block + 1
	}
}

// A thought names a thinking block within its message.
type thought struct {
	message int
	text    decant.Hash
}

func thoughtsOf(s *store.State) map[thought]decant.Ref {
	out := map[thought]decant.Ref{}
	for i := range s.Chain {
		if e := &s.Chain[i]; e.Kind == decant.KindThinking {
			out[thought{e.Message, e.Text}] = e.Ref
		}
	}
	return out
}
