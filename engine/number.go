package engine

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A numbering gives the blocks of a request the references that they have in the transcript.
// Decisions, checkpoints and summaries speak of transcript messages; a client that leaves out
// thinking or drops a message counts otherwise.
type numbering struct {
	conv  *decant.Conversation // the request in transcript references
	same  bool                 // the request counts as the transcript does
	back  map[decant.Ref]decant.Ref
	index map[int]int // transcript number of a message to the request's
	fits  bool        // messages border where the transcript has them border
}

// number returns the numbering of a request at its place.
func number(r *reading, p *place) *numbering {
	n := &numbering{conv: r.doc.Conversation, same: true, fits: true}
	if p.line == nil {
		return n
	}
	for i, k := range p.to {
		if k >= 0 && p.state.Chain[k].Ref != r.at(i).Ref {
			n.same = false
			break
		}
	}
	if n.same && !p.beyond(r) {
		return n
	}
	n.renumber(r, p)
	return n
}

// beyond reports whether a new message of the request would get the number of one that stays and
// that the request does not have.
func (p *place) beyond(r *reading) bool {
	if p.rel != amends {
		return false
	}
	last := 0
	for _, k := range p.to {
		if k >= 0 {
			last = max(last, p.state.Chain[k].Message)
		}
	}
	return last > len(r.doc.Conversation.Messages)
}

// renumber makes a copy of the request's conversation with references of the transcript.
func (n *numbering) renumber(r *reading, p *place) {
	n.same = false
	n.back, n.index = map[decant.Ref]decant.Ref{}, map[int]int{}
	entry := map[int]int{} // atom to entry
	for i, k := range p.to {
		if k >= 0 {
			entry[r.spine[i]] = k
		}
	}
	thinking := thoughtsOf(p.state)
	ms := slices.Clone(r.doc.Conversation.Messages)
	at, last := 0, 0
	for i := range ms {
		num, ok := messageNumber(p.state, entry, at, len(ms[i].Blocks))
		if !ok {
			num = last + 1
		}
		if num <= last {
			n.fits = false
			num = last + 1
		}
		last = num
		n.index[num] = ms[i].Number
		ms[i].Number = num
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		n.blocks(&ms[i], p.state, entry, at, thinking)
		at += len(ms[i].Blocks)
	}
	n.conv = r.doc.Conversation.With(ms)
	if !n.fits { // the client has cut its messages anew: they begin anew
		n.conv, n.same = r.doc.Conversation, true
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
func (n *numbering) blocks(m *decant.Message, s *store.State, entry map[int]int, at int, thinking map[thought]decant.Ref) {
	next := 0
	for k := range m.Blocks {
		b := &m.Blocks[k]
		ref := decant.Ref{Message: m.Number, Block: next}
		if e, ok := entry[at+k]; ok && s.Chain[e].Message == m.Number {
			ref = s.Chain[e].Ref
		} else if ok {
			n.fits = false
		}
		if b.Kind == decant.KindThinking {
			if t, ok := thinking[thought{m.Number, textHash(b)}]; ok && t.Block >= next {
				ref = t
			}
		}
		n.back[ref] = b.Ref
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

// request returns a view in the request's own references, which the writer of the body needs.
func (n *numbering) request(view *decant.Conversation) *decant.Conversation {
	if n.same {
		return view
	}
	ms := slices.Clone(view.Messages)
	for i := range ms {
		if ms[i].Number == 0 {
			continue
		}
		ms[i].Number = n.index[ms[i].Number]
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Ref.Message != 0 {
				b.Ref = n.back[b.Ref]
			}
		}
	}
	return view.With(ms)
}
