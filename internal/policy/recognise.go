package policy

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

// Recognise returns c with the records that Decant sealed with the key (PlanOptions.Key) marked as Decant's
// own, or c itself if there are none. The user's words in a record count as the user's when it is compacted
// again, so nothing else may pass for a record: not what a tool returns, not what the model quotes, and not
// a part of a longer text.
func Recognise(c *decant.Conversation, key []byte) *decant.Conversation {
	out := c
	for i := range c.Messages {
		m := &c.Messages[i]
		for k := range m.Blocks {
			b := &m.Blocks[k]
			if m.Role != decant.RoleUser || b.Kind != decant.KindText || b.Author != decant.AuthorClient ||
				!summary.Sealed(b.Text(), key) {
				continue
			}
			if out == c {
				out = c.With(slices.Clone(c.Messages))
			}
			out.Messages[i].Blocks = slices.Clone(out.Messages[i].Blocks)
			out.Messages[i].Blocks[k].Author = decant.AuthorDecant
		}
	}
	return out
}
