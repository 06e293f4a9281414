package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// plan asks the planner for a pour to a target: from the transcript, on top of those decisions on
// single blocks that are in force. A new checkpoint covers all that an earlier one did.
func (p *pouring) plan(ctx context.Context, target int) (*decant.Plan, []decant.Decision, error) {
	plan, err := policy.Plan(ctx, p.dr.q.refs.Conv, p.planOptions(target))
	if err != nil {
		return nil, nil, err
	}
	return plan, p.settle(plan.Decisions), nil
}

func (p *pouring) planOptions(target int) policy.PlanOptions {
	o := policy.PlanOptions{
		Model: p.dr.q.model, Estimator: p.dr.q.est, Preset: p.dr.q.preset, Target: target, Limit: p.room(p.dr.q.limits.Must()), Trigger: p.room(p.dr.q.limits.Trigger), KeepTurns: -1, Quick: p.quick,
		Pinned: decant.PinsIn(p.dr.inForce), Now: p.dr.q.env.Now(),
	}
	for _, ds := range [][]decant.Decision{p.dr.inForce, p.dr.made} {
		for _, d := range ds {
			if d.Kind.Edits() {
				o.Made = append(o.Made, d)
			}
		}
	}
	return o
}

// room returns the tokens that a size of the request leaves for the messages, as the planner counts them. It
// is 0, which holds the plan to its target, when the provider or the API's limit of bytes has asked for less.
func (p *pouring) room(n int) int {
	n -= p.dr.q.fixed
	if f := p.dr.meter.Factor; f > 0 {
		n = int(float64(n) / f)
	}
	if p.dr.q.demand.reason == policy.Overflow || p.dr.bytes() > p.dr.q.most {
		return 0
	}
	return n
}

// settle makes a plan's decisions those of this conversation: numbers the checkpoint, and leaves out
// what an earlier checkpoint covers further.
func (p *pouring) settle(ds []decant.Decision) []decant.Decision {
	was := decant.CheckpointIn(p.dr.inForce)
	to := 0
	if was != nil {
		to = was.To
	}
	turn := lastWords(p.dr.q.refs.Conv)
	var out []decant.Decision
	for _, d := range ds {
		switch cp := d.Checkpoint; {
		case cp == nil && d.Target.Message <= to && d.Target.Message > 0:
			continue
		case d.Kind == decant.DropThinking && p.dr.q.refs.Conv.Thinking.On() && d.Target.Message > turn:
			continue // only thinking of finished turns may go (docs/reference/anthropic.md, "Thinking")
		case cp == nil:
		case cp.To < to:
			continue
		default:
			c := *cp
			c.Number = p.dr.q.checkpoints() + 1
			if was != nil {
				c.Folds = was.Number
			}
			d.Checkpoint, d.Handle = &c, decant.Handle(fmt.Sprintf("c:%d", c.Number))
		}
		out = append(out, d)
	}
	return out
}

// lastWords returns the number of the last message of the user that brings no results: the turn that
// is under way begins there.
func lastWords(c *decant.Conversation) int {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if m := &c.Messages[i]; m.Role == decant.RoleUser && !m.Has(decant.KindResult) {
			return m.Number
		}
	}
	return 0
}
