package replay

import (
	"slices"

	"github.com/decantdev/decant"
)

// Copies says which answers stand in several recordings: a fork and a session that goes on in another file begin with a
// copy of what they follow from, and its requests were made and paid once. The zero value knows none.
type Copies struct {
	owner map[string]int // of each answer the first recording that has it
}

// Add notes the answers of a recording, the i-th in order.
func (k *Copies) Add(i int, c *decant.Conversation) {
	if k.owner == nil {
		k.owner = map[string]int{}
	}
	for n := range c.Messages {
		if id := Identity(&c.Messages[n]); id != "" {
			if _, known := k.owner[id]; !known {
				k.owner[id] = i
			}
		}
	}
}

// In returns which answers of the i-th recording are copies.
func (k *Copies) In(i int) func(*decant.Message) bool {
	return func(m *decant.Message) bool {
		owner, known := k.owner[Identity(m)]
		return known && owner != i
	}
}

// Identity returns what an answer has in common with its copies alone: the provider's id, or else when and what it was;
// empty: nothing.
func Identity(m *decant.Message) string {
	switch {
	case m.Role != decant.RoleAssistant:
		return ""
	case m.ID != "":
		return m.ID
	case m.Time.IsZero():
		return ""
	}
	return m.Time.UTC().String() + " " + decant.HashText(m.Text()).String()
}

// uncopied returns a conversation in which copies have no usage, because it was paid elsewhere.
func (o *Options) uncopied(c *decant.Conversation) *decant.Conversation {
	if o.Copied == nil || !slices.ContainsFunc(c.Messages, func(m decant.Message) bool { return o.Copied(&m) }) {
		return c
	}
	ms := slices.Clone(c.Messages)
	for i := range ms {
		if o.Copied(&ms[i]) {
			ms[i].Usage = nil
		}
	}
	return c.With(ms)
}
