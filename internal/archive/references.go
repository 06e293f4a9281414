package archive

import (
	"slices"

	"github.com/decantdev/decant"
)

// References give the blocks of a request the references that they have in the transcript. Decisions, checkpoints and summaries speak of transcript messages; a client that leaves out
// thinking or drops a message counts otherwise.
type References struct {
	Conv  *decant.Conversation // the request in transcript references
	Same  bool                 // the request counts as the transcript does
	Back  map[decant.Ref]decant.Ref
	Index map[int]int // transcript number of a message to the request's
	Fits  bool        // messages border where the transcript has them border
}

// InRequest returns a view in the request's own references, which the writer of the body needs.
func (m *References) InRequest(view *decant.Conversation) *decant.Conversation {
	if m.Same {
		return view
	}
	ms := slices.Clone(view.Messages)
	for i := range ms {
		if ms[i].Number == 0 {
			continue
		}
		ms[i].Number = m.Index[ms[i].Number]
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Ref.Message != 0 {
				b.Ref = m.Back[b.Ref]
			}
		}
	}
	return view.With(ms)
}
