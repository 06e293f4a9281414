package archive

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// numberingOf returns the references of a conversation whose blocks are the entries of chain, one by
// one, possibly followed by an answer.
func numberingOf(c *decant.Conversation, chain []store.Entry) References {
	n := References{Conv: c, Same: true, Fits: true, Back: map[decant.Ref]decant.Ref{}, Index: map[int]int{}}
	ms := slices.Clone(c.Messages)
	at, last := 0, 0
	for i := range ms {
		m := &ms[i]
		m.Blocks = slices.Clone(m.Blocks)
		number := last + 1
		if at < len(chain) {
			number = chain[at].Message
		}
		n.Same = n.Same && number == m.Number
		n.Index[number], m.Number, last = m.Number, number, number
		for k := range m.Blocks {
			b := &m.Blocks[k]
			ref := decant.Ref{Message: number, Block: k}
			if at < len(chain) {
				ref = chain[at].Ref
				at++
			}
			n.Same = n.Same && ref == b.Ref
			n.Back[ref], b.Ref = b.Ref, ref
		}
	}
	if !n.Same {
		n.Conv = c.With(ms)
	}
	return n
}
