package engine

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/legal"
	"github.com/decantdev/decant/token"
)

// Unbind returns the decisions that leave out of a view the thinking that its provider would refuse: all
// from the first block on that is bound to something which the view has otherwise than original, where it
// was written. There are none where the model m binds nothing, or nothing in front of thinking has changed.
func Unbind(original, view *decant.Conversation, m token.Model, est *token.Estimator) []decant.Decision {
	bad := legal.CheckEdit(original, view, legal.RulesFor(legal.Messages, m, original.Thinking))
	if len(bad) == 0 {
		return nil
	}
	first := slices.MinFunc(bad, func(a, b legal.Violation) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Block, b.Block))
	})
	return thinkingFrom(view, first.Index, first.Block, est)
}

// thinkingFrom returns the decisions that drop all thinking of a view from a place on, which is never ours.
func thinkingFrom(view *decant.Conversation, index, block int, est *token.Estimator) (ds []decant.Decision) {
	for i := max(index, 0); i < len(view.Messages); i++ {
		for k := range view.Messages[i].Blocks {
			b := &view.Messages[i].Blocks[k]
			if b.Kind != decant.KindThinking || b.Ref.Message == 0 || i == index && k < block {
				continue
			}
			ds = append(ds, decant.Decision{
				Kind: decant.DropThinking, Reduction: "thinking", Reason: "it is bound to the history before the pour",
				Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash()), Before: est.Block(b),
			})
		}
	}
	return ds
}

// Unbound returns the transcript as a request that the model m accepts. Thinking that was written behind
// something which Decant has ever changed may be bound to that, so it is left out.
func (t *Transcript) Unbound(m token.Model) (*decant.Conversation, error) {
	first, ok := t.firstChange()
	if !ok || !m.Binds {
		return t.Conversation, nil
	}
	index := slices.IndexFunc(t.Conversation.Messages, func(m decant.Message) bool { return m.Number >= first.Message })
	if index < 0 {
		return t.Conversation, nil
	}
	return decant.View(t.Conversation, numbered(thinkingFrom(t.Conversation, index, first.Block, token.For(m))))
}

// PlainView returns what the model m is sent with what its provider leaves out taken out already, and without
// the thinking that is bound to what was sent.
func (t *Transcript) PlainView(m token.Model) (*decant.Conversation, error) {
	live := t.State.Live()
	view, err := decant.View(t.Conversation, live)
	if err != nil {
		return nil, err
	}
	sent, err := decant.View(t.Conversation, decant.Sent(live))
	if err != nil {
		return nil, err
	}
	return decant.View(t.Conversation, append(live, numbered(Unbind(sent, view, m, token.For(m)))...))
}

// numbered gives decisions that are never stored ids of their own.
func numbered(ds []decant.Decision) []decant.Decision {
	for i := range ds {
		ds[i].ID = "unbound " + strconv.Itoa(i)
	}
	return ds
}

// firstChange returns the first block that any decision has changed, also one that was taken back since.
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

// unbind leaves thinking out that is bound to what the plan changes, where nobody else looks after it.
func (p *planner) unbind() error {
	if !p.Unbind || !p.Model.Binds {
		return nil
	}
	view, err := p.current()
	if err != nil {
		return err
	}
	p.decide(Unbind(p.conv, view, p.Model, p.est)...)
	return nil
}
