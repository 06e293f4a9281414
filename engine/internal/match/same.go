package match

import (
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Overlap returns how many entries of a conversation there are up to the last one that the request has,
// and which block of its spine that is; 0 and -1 when it has none. Results and calls are known by their
// ids, wherever they stand; from there on blocks count as long as they follow each other in both.
func (p *Prompt) Overlap(s *store.State) (entries, block int) {
	at := map[Call]int{}
	for i := range s.Chain {
		if e := &s.Chain[i]; e.CallID != "" {
			at[CallOf(e)] = i
		}
	}
	for i := len(p.Spine) - 1; i >= 0; i-- {
		a := p.At(i)
		if a.CallID == "" {
			continue
		}
		if k, ok := at[Call{a.Kind, a.CallID, TextHash(a.Block)}]; ok {
			return p.follow(s, k, i)
		}
	}
	return 0, -1
}

// A Call is what tells results and calls apart, whatever conversation they stand in.
type Call struct {
	Kind decant.Kind
	ID   string
	Text decant.Hash
}

// CallOf returns what tells the call or result of an entry apart.
func CallOf(e *store.Entry) Call { return Call{e.Kind, e.CallID, e.Text} }

// follow returns how far the conversation behind its k-th entry and the request behind its i-th block,
// which are the same, go on alike.
func (p *Prompt) follow(s *store.State, k, i int) (entries, block int) {
	entries, block = k+1, i
	for k++; k < len(s.Chain) && block+1 < len(p.Spine); k++ {
		if s.Chain[k].Kind == decant.KindThinking {
			continue
		}
		if !p.At(block + 1).SameAs()(&s.Chain[k]) {
			break
		}
		entries, block = k+1, block+1
	}
	return entries, block
}

// SameAs returns a function that reports whether the block is the one that an entry describes.
func (b *Block) SameAs() func(*store.Entry) bool {
	raw, text := b.Raw(), sync.OnceValue(func() decant.Hash { return TextHash(b.Block) })
	return func(e *store.Entry) bool {
		if b.Role != e.Role || raw == e.Raw {
			return b.Role == e.Role
		}
		return b.Kind == e.Kind && b.CallID == e.CallID && b.Name == e.Name && text() == e.Text
	}
}

// TextHash returns the identity of a block's text as entries have it: zero when it has none.
func TextHash(b *decant.Block) decant.Hash {
	if b.Content == nil {
		return decant.Hash{}
	}
	return b.Hash()
}
