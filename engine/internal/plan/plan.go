package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// plan asks the planner for a pour to a target: from the transcript, on top of those decisions on
// single blocks that are in force. A new checkpoint covers all that an earlier one did.
func (p *Pour) plan(ctx context.Context, target int) (*policy.Proposal, []decant.Decision, error) {
	proposal, err := propose(ctx, forgone(p.Draft.Conv, p.Draft.InForce), p.planOptions(target))
	if err != nil {
		return nil, nil, err
	}
	return proposal, p.settle(proposal.Plan.Decisions), nil
}

// forgone returns a conversation in which no call of the server waits that the checkpoint in force covers. A fold may have
// covered one; the provider has not been sent it since, so no result comes, and the round that it is in would never end.
func forgone(c *decant.Conversation, ds []decant.Decision) *decant.Conversation {
	cp := decant.CheckpointIn(ds)
	if cp == nil || !decant.AwaitsServer(c.Messages) {
		return c
	}
	ms := slices.Clone(c.Messages)
	for i := range ms {
		if !cp.Covers(ms[i].Number) || ms[i].Role != decant.RoleAssistant {
			continue
		}
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Kind == decant.KindOpaque {
				b.CallID = ""
			}
		}
	}
	return c.With(ms)
}

// propose returns the planner's proposal. Where the provider ignores the oldest messages because of a summary that it
// has put behind them, only the others are planned for. But if a checkpoint is needed, which takes the summary away, it
// covers all of them: otherwise they would come back. So its record is made of the originals.
func propose(ctx context.Context, c *decant.Conversation, o policy.PlanOptions) (*policy.Proposal, error) {
	if now := live(c); now != c {
		proposal, err := policy.Propose(ctx, now, o)
		if err != nil || decant.CheckpointIn(proposal.Plan.Decisions) == nil {
			return proposal, err
		}
	}
	return policy.Propose(ctx, c, o)
}

// live returns a conversation without what the provider ignores because of a summary that it has put behind it.
func live(c *decant.Conversation) *decant.Conversation {
	if ms := c.Live(); len(ms) < len(c.Messages) {
		return c.With(ms)
	}
	return c
}

func (p *Pour) planOptions(target int) policy.PlanOptions {
	in := p.Draft.Input
	o := policy.PlanOptions{
		Model: in.Model, Estimator: in.Estimator, Preset: p.Draft.Preset, Target: target, Limit: p.room(p.Draft.Limits.Must()), Trigger: p.room(p.Draft.Limits.Trigger), KeepTurns: -1, Quick: p.quick,
		Pinned: decant.PinsIn(p.Draft.InForce), Now: in.Now(), Ahead: p.Draft.Preset.Summary.Ahead.Tokens(), Segments: segmentsOf(p.Draft),
		Call: policy.SummaryInput{
			Conversation: conversationOf(in), Upstream: in.Upstream, Instructions: p.Draft.Preset.Summary.Instructions, Focus: in.Focus,
		},
	}
	for _, ds := range [][]decant.Decision{p.Draft.InForce, p.Draft.Made} {
		for _, d := range ds {
			if d.Kind.Edits() {
				o.Made = append(o.Made, d)
			}
		}
	}
	return o
}

// conversationOf returns the conversation that a request goes on with; its id is empty where it begins one.
func conversationOf(in *Input) store.Key {
	if m := in.Match; m.Stored != nil && m.Branch == nil {
		return m.Stored.Key
	}
	return store.Key{Tenant: in.Start.Tenant}
}

// room returns the tokens that a size of the request leaves for the messages, as the planner counts them. It
// is 0, which holds the plan to its target, when the provider or the API's limit of bytes has asked for less.
func (p *Pour) room(n int) int {
	in := p.Draft.Input
	n -= in.Fixed
	if f := p.Draft.Meter.Factor; f > 0 {
		n = int(float64(n) / f)
	}
	if in.Demand.Reason == policy.Overflow || p.Draft.Bytes() > in.MaxBytes {
		return 0
	}
	return n
}

// settle makes a plan's decisions those of this conversation: numbers the checkpoint, and leaves out
// what an earlier checkpoint covers further.
func (p *Pour) settle(ds []decant.Decision) []decant.Decision {
	in := p.Draft.Input
	was := decant.CheckpointIn(p.Draft.InForce)
	to := 0
	if was != nil {
		to = was.To
	}
	turn := lastWords(in.Conv)
	var out []decant.Decision
	for _, d := range ds {
		switch cp := d.Checkpoint; {
		case cp == nil && d.Target.Message <= to && d.Target.Message > 0:
			continue
		case d.Kind == decant.DropThinking && in.Conv.Thinking.On() && d.Target.Message > turn:
			continue // only thinking of finished turns may go (docs/reference/anthropic.md, "Thinking")
		case cp == nil:
		case cp.To < to:
			continue
		default:
			c := *cp
			c.Number = in.Checkpoints() + 1
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

// targets returns the tokens of messages to aim at, one after the other.
func (p *Pour) targets(why policy.Reason) []int {
	in := p.Draft.Input
	t := p.Draft.Limits.Target
	if f := p.Draft.Meter.Factor; f > 0 { // the planner counts by the estimate alone
		t = int(float64(t) / f)
	}
	switch why {
	case policy.Refusal:
		return []int{in.Estimator.Messages(p.Draft.View.Messages)}
	case policy.Free, policy.Paid, policy.Routine:
		return []int{t}
	}
	if n := p.Draft.Bytes(); n > in.MaxBytes { // tokens are a poor measure of images
		share := float64(in.MaxBytes) / float64(n) / 2
		t = min(t, int(share*float64(in.Estimator.Messages(p.Draft.View.Messages))))
	}
	return []int{t, t / 2, t / 4}
}
