package archive

import (
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/token"
)

// Unbound returns the transcript as a request that the model m accepts. It leaves out thinking that was
// written behind anything that Decant has ever changed, because it may be bound to the changed form.
func (t *Transcript) Unbound(m token.Model) (*decant.Conversation, error) {
	first, ok := t.firstChange()
	if !ok || !m.Binds {
		return t.Conversation, nil
	}
	index := slices.IndexFunc(t.Conversation.Messages, func(m decant.Message) bool { return m.Number >= first.Message })
	if index < 0 {
		return t.Conversation, nil
	}
	return decant.View(t.Conversation, numbered(policy.ThinkingFrom(t.Conversation, index, first.Block, token.For(m))))
}

// PlainView returns what the model m reads: the view without what its provider leaves out, and without the
// thinking that is bound to what was sent.
func (t *Transcript) PlainView(m token.Model) (*decant.Conversation, error) {
	live := readable(t.State.Live())
	view, err := decant.View(t.Conversation, live)
	if err != nil {
		return nil, err
	}
	sent, err := decant.View(t.Conversation, decant.Sent(t.State.Live()))
	if err != nil {
		return nil, err
	}
	return decant.View(t.Conversation, append(live, numbered(policy.Unbind(sent, view, m, token.For(m)))...))
}

// firstChange returns the first block that any decision has changed, including decisions taken back since.
func (t *Transcript) firstChange() (first decant.Ref, ok bool) {
	for _, d := range t.State.Decisions {
		at := d.Target.Ref
		switch {
		case d.Checkpoint != nil:
			at = decant.Ref{Message: d.Checkpoint.From}
		case d.Kind == decant.Pin || d.Kind == decant.Unpin || d.Kind == decant.Hold || d.Kind == decant.Revoke:
			continue
		}
		if !ok || at.Message < first.Message || at.Message == first.Message && at.Block < first.Block {
			first, ok = at, true
		}
	}
	return first, ok
}

// numbered gives decisions that are never stored ids of their own.
func numbered(ds []decant.Decision) []decant.Decision {
	for i := range ds {
		ds[i].ID = "unbound " + strconv.Itoa(i)
	}
	return ds
}

// ReadableView returns the view of a transcript with what can be read of a summary by the provider in the
// place of the provider's own block, which no other API and no person understands.
func ReadableView(t *Transcript) (*decant.Conversation, error) {
	return decant.View(t.Conversation, readable(t.State.Live()))
}

// readable returns decisions in which a summary by the provider is a record like any other.
func readable(ds []decant.Decision) []decant.Decision {
	ds = slices.Clone(ds)
	for i := range ds {
		if cp := ds[i].Checkpoint; cp.Foreign() {
			out := *cp
			out.Source, out.Placement = "", decant.PlaceMessage
			ds[i].Checkpoint = &out
		}
	}
	return ds
}
