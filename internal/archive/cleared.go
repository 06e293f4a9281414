package archive

import (
	"slices"

	"github.com/decantdev/decant"
)

// unclear returns a view in which the blocks of native decisions are as they are sent: verbatim.
func unclear(view, sent *decant.Conversation, native func(id string) bool) *decant.Conversation {
	ms := slices.Clone(view.Messages)
	for i := range ms {
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			if !native(b.Changed) {
				continue
			}
			if was := sent.Block(b.Ref); was != nil {
				cache := b.Cache
				*b = *was
				b.Cache = cache
			}
		}
	}
	return view.With(ms)
}
