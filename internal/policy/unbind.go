package policy

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/token"
)

// Unbind returns the decisions that leave out of a view the thinking that its provider would refuse: all
// thinking from the first block on that is bound to something which differs from original, where it was
// written. It returns none if the model m does not bind thinking, or if nothing before thinking has changed.
func Unbind(original, view *decant.Conversation, m token.Model, est *token.Estimator) []decant.Decision {
	bad := legal.CheckEdit(original, view, legal.RulesFor(legal.Messages, m, original.Thinking))
	if len(bad) == 0 {
		return nil
	}
	first := slices.MinFunc(bad, func(a, b legal.Violation) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Block, b.Block))
	})
	return ThinkingFrom(view, first.Index, first.Block, est)
}

// ThinkingFrom returns the decisions that drop all thinking of a view from a place on.
func ThinkingFrom(view *decant.Conversation, index, block int, est *token.Estimator) (ds []decant.Decision) {
	for i := max(index, 0); i < len(view.Messages); i++ {
		for k := range view.Messages[i].Blocks {
			b := &view.Messages[i].Blocks[k]
			if b.Kind != decant.KindThinking || b.Ref.Message == 0 || i == index && k < block {
				continue
			}
			ds = append(ds, decant.Decision{
				Kind: decant.DropThinking, Reduction: decant.ReductionThinking,
				Reason: "it is bound to the history before the pour",
				Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash()), Before: est.Block(b),
			})
		}
	}
	return ds
}

// unbind leaves thinking out that is bound to what the plan changes, where nobody else looks after it.
func (p *planner) unbind() error {
	if !p.opts.Unbind || !p.opts.Model.Binds {
		return nil
	}
	view, err := p.current()
	if err != nil {
		return err
	}
	p.decide(Unbind(p.conv, view, p.opts.Model, p.opts.Estimator)...)
	return nil
}
