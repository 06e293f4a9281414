package replay

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/token"
)

// A way is how a pour may change old history where the model binds thinking to everything before it. The
// gateway's routes are the engine's; what they come to for a recorded session is
// decided by wayOf and carried out by (*pourer).clearing and (*pourer).allowed, and nowhere else.
type way uint8

const (
	freely     way = iota // no thinking is bound
	forgetting            // the model has answered: all thinking goes with the change
	clearing              // the model has still to answer to results: the provider leaves old ones out
	folding               // the same, and the provider cannot: only a fold is legal, and never for money
)

// wayOf returns how a pour may change a view that is sent for request q.
func (p *pourer) wayOf(q int, view *decant.Conversation) way {
	m := p.seg.requests[q].model
	switch {
	case !m.Binds || !view.Has(decant.KindThinking):
		return freely
	case !view.OpenRound():
		return forgetting
	case m.Provider == token.Anthropic && m.Editing && !anthropic.Served(view):
		return clearing
	}
	return folding
}

// cleared returns the decisions of a clearing by the provider, nil where that is not the way or there is nothing to
// clear. Thinking stays.
func (p *pourer) cleared(q int, conv, view *decant.Conversation) []decant.Decision {
	if p.wayOf(q, view) != clearing {
		return nil
	}
	t := p.thinning(conv, false)
	t.Signed, t.Native, t.Pinned = true, true, policy.Pins(conv, p.preset)
	return policy.Clear(context.Background(), view, t)
}

// routine returns what the preset clears by rule of a view with so many tokens, nil where thinking is bound in an open round.
func (p *pourer) routine(q int, conv, view *decant.Conversation, tokens int) []decant.Decision {
	w := p.wayOf(q, view)
	if w == clearing || w == folding || !policy.HasRoutine(p.preset) {
		return nil
	}
	return p.allowed(q, view, policy.ClearRoutine(context.Background(), view, p.thinning(conv, false), tokens))
}

// allowed returns the decisions of a pour as far as its way allows them: with those that drop all thinking,
// unless none is bound. A fold is not made here: it holds what the same decisions leave, as the text of one
// message, and takes about as many tokens.
func (p *pourer) allowed(q int, view *decant.Conversation, ds []decant.Decision) []decant.Decision {
	if len(ds) == 0 || p.wayOf(q, view) == freely {
		return ds
	}
	gone := map[decant.Ref]bool{}
	for i := range ds {
		if ds[i].Kind == decant.DropThinking {
			gone[ds[i].Target.Ref] = true
		}
	}
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			b := &view.Messages[i].Blocks[k]
			if b.Kind != decant.KindThinking || b.Ref.Message == 0 || gone[b.Ref] || covered(ds, b.Ref.Message) {
				continue
			}
			ds = append(ds, decant.Decision{
				Kind: decant.DropThinking, Reduction: decant.ReductionThinking, Reason: "it is bound to the history before the pour",
				Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash()), Before: p.lay.est.Block(b),
			})
		}
	}
	return ds
}

// covered reports whether a checkpoint among ds covers a message.
func covered(ds []decant.Decision, message int) bool {
	for i := range ds {
		if cp := ds[i].Checkpoint; cp != nil && cp.From <= message && message <= cp.To {
			return true
		}
	}
	return false
}
