package agent

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
)

// A sending is what is noted of the request that an answer answers: enough to make it once more from what was said and what is stored,
// and to know that it is the same.
type sending struct {
	message      int                // index of the answer
	conversation string             // id under which the engine kept the request
	decisions    []string           // ids of those in force, oldest first; shared, never changed
	fixed        decant.Hash        // version of instructions and tools
	numbers      []int              // of the messages in the transcript; nil: 1, 2, 3 and so on
	last         stdjson.RawMessage // the last message, where the history has it otherwise
	hash         string             // of the instructions and messages that were sent, see sealOf
}

// A sentNote is a sending as it is written down, by what differs from the one that was noted before.
type sentNote struct {
	Message      int                `json:"message"`
	Conversation string             `json:"conversation,omitzero"`
	Gone         []string           `json:"gone,omitempty"` // decisions that are in force no longer
	New          []string           `json:"new,omitempty"`  // and those that are now
	Fixed        decant.Hash        `json:"fixed,omitzero"`
	Numbers      []int              `json:"numbers,omitempty"`
	Last         stdjson.RawMessage `json:"last,omitzero"`
	Hash         string             `json:"hash"`
}

// sentFor returns a note of what was sent for the answer that comes next; none where what was sent cannot be read.
func (r *asking) sentFor(p *engine.Prepared) []sentNote {
	messages, err := sentIn(p.Body)
	if err != nil {
		return nil
	}
	s := sending{conversation: p.Conversation, hash: sealOf(r.agent.opts.System, messages)}
	for _, d := range p.InForce() {
		s.decisions = append(s.decisions, d.ID)
	}
	if t := p.Transcript(); t != nil {
		s.fixed, s.numbers = t.Fixed.Version, numbersOf(t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.state.history
	if s.message = len(h); len(h) == 0 || !bytes.Equal(h[len(h)-1], r.newest) {
		s.last = r.newest
	}
	return []sentNote{s.noteAfter(&r.state.noted)}
}

// numbersOf returns the numbers of messages, nil where they are those of their places.
func numbersOf(c *decant.Conversation) []int {
	out, same := make([]int, len(c.Messages)), true
	for i := range c.Messages {
		out[i] = c.Messages[i].Number
		same = same && out[i] == i+1
	}
	if same {
		return nil
	}
	return out
}

// noteAfter returns how s is written down after another one.
func (s *sending) noteAfter(before *sending) sentNote {
	n := sentNote{Message: s.message, Numbers: s.numbers, Last: s.last, Hash: s.hash}
	if s.conversation != before.conversation {
		n.Conversation = s.conversation
	}
	if s.fixed != before.fixed {
		n.Fixed = s.fixed
	}
	n.Gone, n.New = without(before.decisions, s.decisions), without(s.decisions, before.decisions)
	return n
}

// after returns what a note says that was written down after another one.
func (n *sentNote) after(before *sending) sending {
	s := sending{
		message: n.Message, conversation: cmp.Or(n.Conversation, before.conversation), decisions: before.decisions,
		fixed: cmp.Or(n.Fixed, before.fixed), numbers: n.Numbers, last: n.Last, hash: n.Hash,
	}
	if len(n.Gone)+len(n.New) > 0 {
		s.decisions = append(without(before.decisions, n.Gone), n.New...)
	}
	return s
}

// without returns what of all is not among some, in its order.
func without(all, some []string) (out []string) {
	if slices.Equal(all, some) {
		return nil
	}
	gone := make(map[string]bool, len(some))
	for _, id := range some {
		gone[id] = true
	}
	for _, id := range all {
		if !gone[id] {
			out = append(out, id)
		}
	}
	return out
}

// takeSent takes notes of what was sent.
func (st *state) takeSent(notes []sentNote) {
	for i := range notes {
		st.noted = notes[i].after(&st.noted)
		st.sent = append(st.sent, st.noted)
	}
}

// sentBefore returns what was sent for the answers among the first n messages.
func sentBefore(all []sending, n int) []sending {
	i := slices.IndexFunc(all, func(s sending) bool { return s.message >= n })
	if i < 0 {
		return all
	}
	return slices.Clone(all[:i])
}

// notesOf returns how a session that begins with answers writes down what was sent for them.
func notesOf(all []sending) (out []sentNote) {
	var before sending
	for i := range all {
		out = append(out, all[i].noteAfter(&before))
		before = all[i]
	}
	return out
}
