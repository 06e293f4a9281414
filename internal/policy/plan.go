package policy

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A planner makes one plan.
type planner struct {
	ctx      context.Context
	opts     PlanOptions // with defaults filled in
	conv     *decant.Conversation
	before   decant.Size
	due      bool // the view was larger than the target to begin with
	bounds   *bounds
	sizes    *sizes
	pins     *pins
	edits    *edits
	evidence *evidence
	passage  *passage // the range of the checkpoint, or nil
}

func newPlanner(ctx context.Context, c *decant.Conversation, o PlanOptions) (*planner, error) {
	if o.Estimator == nil {
		o.Estimator = token.For(o.Model)
	}
	o.Quick = o.Quick || o.Preset.Compaction == preset.CompactionTrim
	p := &planner{ctx: ctx, opts: o, conv: c, evidence: &evidence{ms: c.Messages, quick: o.Quick}}
	var err error
	if p.edits, err = newEdits(c, o.Made); err != nil {
		return nil, err
	}
	p.sizes = sizesOf(c.Messages, p.edits.less(), o.Estimator)
	p.sizes.coming = o.Coming
	p.before = decant.Size{Fixed: o.Estimator.Fixed(&c.Fixed), Messages: p.sizes.original(0, len(c.Messages)) + o.Coming}
	if o.Target == 0 {
		l, err := LimitsFor(o.Model, o.Preset, p.before.Fixed, c.MaxOutput)
		if err != nil {
			return nil, err
		}
		p.opts.Target = l.Target
	}
	p.pins = pinsOf(ctx, c, &p.opts)
	p.sizes.quotes = p.pins.count(p.sizes.view, o.Estimator)
	p.bounds = boundsOf(c.Messages, p.sizes.view, &p.opts)
	p.due = p.sizes.total() > p.opts.Target
	return p, nil
}

// recorder returns the recorder of the plan's records.
func (p *planner) recorder() *recorder {
	return &recorder{&p.opts, p.conv, p.sizes, p.pins, p.evidence}
}

// over reports whether the view is still larger than the target or, where it was larger, has more
// messages than the preset allows after a pour.
func (p *planner) over() bool {
	limit := p.opts.Preset.Trigger.Messages
	return p.sizes.total() > p.opts.Target || p.due && limit > 0 && p.edits.messages() > limit
}

// decide adds decisions. Pinned blocks are left alone.
func (p *planner) decide(ds ...decant.Decision) {
	for _, d := range p.pins.without(ds) {
		if freed := p.edits.add(d); freed != 0 {
			p.sizes.view[p.edits.index(d.Target.Message)] -= freed
		}
	}
}

// current returns the view under the decisions so far.
func (p *planner) current() (*decant.Conversation, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	return p.edits.current()
}

// plan puts the result together: sizes, facts at risk, price.
func (p *planner) plan() (*decant.Plan, error) {
	view, err := p.current()
	if err != nil {
		return nil, err
	}
	o := &p.opts
	out := &decant.Plan{
		Base: p.conv.Hash(), Model: o.Model.ID, Window: o.Model.Window, Target: o.Target,
		Decisions: p.edits.list, Before: p.before, Reason: p.reason(), Score: 1,
		After: decant.Size{Fixed: p.before.Fixed, Messages: o.Estimator.Messages(view.Messages) + o.Coming},
	}
	if len(out.Decisions) > 0 {
		text, own := wire.Text(view), 0.0
		out.Score = p.evidence.recalled(p.ctx, p.conv.Messages, text).Score
		out.Risk = fact.Check(p.ctx, p.evidence.mustKeep(p.ctx), text).Missing
		if cp := decant.CheckpointIn(out.Decisions); cp != nil {
			own = cp.CostUSD
		}
		out.Price = price(out, view, o, own)
	}
	out.Notes = p.notes()
	if out.After.Messages > o.Target {
		return nil, &decant.IrreducibleError{Target: o.Target, Size: out.After.Messages, What: p.sizes.largest(0)}
	}
	return out, nil
}

// notes lists what was to stay verbatim but did not fit.
func (p *planner) notes() (out []string) {
	if p.bounds.tail <= p.bounds.wanted {
		return nil
	}
	if p.opts.KeepTurns > 0 {
		turns := decant.Turns(p.conv.Messages)
		n := 0
		for i := len(turns) - 1; i >= 0 && turns[i].Start >= p.bounds.tail; i-- {
			n++
		}
		out = append(out, fmt.Sprintf("%d of the %d newest turns that were to stay are verbatim: the target has no room for more", n, p.opts.KeepTurns))
	}
	if p.opts.Keep > 0 {
		n := p.sizes.original(p.bounds.tail, len(p.conv.Messages))
		out = append(out, fmt.Sprintf("%s of the %s tokens that were to stay are verbatim: the target has no room for more", humanize.Thousands(n), humanize.Thousands(p.opts.Keep)))
	}
	return out
}

func (p *planner) reason() string {
	have, target := humanize.Thousands(p.before.Messages), humanize.Thousands(p.opts.Target)
	switch {
	case p.before.Messages > p.opts.Target:
		return fmt.Sprintf("the messages have about %s tokens, the target is %s", have, target)
	case len(p.edits.list) > 0:
		return "the preset makes these reductions always"
	}
	return fmt.Sprintf("the messages have about %s tokens, which is within the target of %s", have, target)
}
