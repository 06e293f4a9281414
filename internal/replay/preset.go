package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// pourer plays a preset: the same decisions at the same moments as the gateway makes them.
type pourer struct {
	*stage
	any    *preset.Preset    // for whatever model
	preset *preset.Preset    // for that of the present request
	ds     []decant.Decision // in force
	named  int               // decisions that have got an id
	pours  int               // made so far
	bound  policy.Boundary   // of the newest pour
	poor   policy.Backoff    // of early pours
	seen   int               // messages of the request before
	sent   []decant.Message  // the view of the request before
	covers bool              // an early pour of the present request has a checkpoint
}

func startPreset(p *preset.Preset) func(*stage) player {
	return func(s *stage) player {
		return &pourer{stage: s, any: p, preset: p, bound: policy.Boundary{Kept: -1, Settled: -1}}
	}
}

func (p *pourer) view(q int) (step, error) {
	var out step
	r := &p.seg.requests[q]
	p.preset = p.any.For(r.model.ReadShare(r.at))
	n := r.messages
	conv := p.seg.conv.With(p.seg.conv.Messages[:n])
	out.made = p.firstSight(conv)
	view, err := p.grown(conv, out.made)
	if err != nil {
		return out, fmt.Errorf("replay decisions: %w", err)
	}
	why, err := p.due(q, conv, view)
	if err != nil {
		return out, err
	}
	if why != "" {
		if view, err = p.pour(q, conv, view, why, &out); err != nil {
			return out, err
		}
	}
	p.seen, p.sent = n, view.Messages
	out.messages, out.mark = view.Messages, &p.bound
	return out, nil
}

// grown returns the view of the request before with what has come since: between pours a view grows at
// its end only. made are the decisions on what has come.
func (p *pourer) grown(conv *decant.Conversation, made []decant.Decision) (*decant.Conversation, error) {
	news, err := decant.View(conv.With(conv.Messages[p.seen:]), made)
	if err != nil {
		return nil, err
	}
	return conv.With(append(p.sent, news.Messages...)), nil
}

// firstSight shrinks the results that the request brings.
func (p *pourer) firstSight(conv *decant.Conversation) []decant.Decision {
	if p.seen == 0 || p.seen >= len(conv.Messages) {
		return nil
	}
	return p.keep(0, policy.FirstSight(context.Background(), conv.With(conv.Messages[p.seen:]), p.preset, p.lay.est))
}

// keep gives decisions ids and puts them in force. pour counts the pours from 1; 0 is none.
func (p *pourer) keep(pour int, ds []decant.Decision) []decant.Decision {
	for i := range ds {
		p.named++
		ds[i].ID = strconv.Itoa(p.named)
		if pour > 0 {
			ds[i].Pour = fmt.Sprintf("%08d", pour) // so that they rise as text
		}
	}
	p.ds = append(p.ds, ds...)
	return ds
}

// due returns why a pour is due for a view.
func (p *pourer) due(q int, conv, view *decant.Conversation) (policy.Reason, error) {
	_, size := p.lay.prompt(view.Messages)
	l, err := policy.LimitsFor(p.limited(q), p.preset, p.fixed(q), view.MaxOutput)
	if err != nil {
		return "", err
	}
	return policy.Ask(&question{p, q, conv, view, size, l}), nil
}

// A question is whether a pour is due for a view. It implements policy.Pourer.
type question struct {
	*pourer
	q          int // number of the request
	conv, view *decant.Conversation
	size       int // tokens of the view
	limits     policy.Limits
}

// Situation returns the view's size; a replay has no limit of bytes.
func (x *question) Situation() policy.Situation {
	s := policy.Situation{Limits: x.limits, Tokens: x.size, MaxBytes: 1 << 30}
	s.Routine = x.seen > 0 && len(x.routine(x.q, x.conv, x.view, x.size)) > 0
	return s
}

// Waits reports whether an early pour has brought nothing to a view of about this size.
func (x *question) Waits() bool { return x.poor.Waits(x.size, x.terms) }

// Economy returns prices and times as the recording has them.
func (x *question) Economy() policy.Economy {
	if !x.preset.EarlyPours.On() || x.seen == 0 || x.wayOf(x.q, x.view) == folding {
		return policy.Economy{}
	}
	write, read := x.rates(x.q, x.size)
	e := policy.Economy{
		Early: true, Idle: x.idle(x.q), Lifetime: x.lifetime(x.q), Switched: x.switched(x.q), Write: write, Read: read, Patience: x.preset.EarlyPours.Settled().Patience,
	}
	t := x.thinning(x.conv, e.Cold())
	t.Native = x.wayOf(x.q, x.view) == clearing
	t.Signed = t.Native
	if w := x.wayOf(x.q, x.view); w == freely || w == forgetting {
		e.Excess = policy.MeasureExcess(x.view, x.size-x.fixed(x.q), policy.EarlyTarget(x.preset, x.limits, x.fixed(x.q), decant.CheckpointIn(x.ds)))
	}
	x.covers = e.Covers()
	return e.Weigh(policy.MeasureEarly(x.view, t), x.fixed(x.q), write, true)
}

// idle returns the time since the request before: the gateway goes by the clock.
func (p *pourer) idle(q int) time.Duration {
	return p.seg.gap(q)
}

// lifetime returns how long the cache entries live that request q asks for, 0 when it asks for none.
func (p *pourer) lifetime(q int) time.Duration {
	r := &p.seg.requests[q]
	switch {
	case r.model.Provider != token.Anthropic:
		return cost.Lifetime(r.model)
	case r.lives.messages == "":
		return 0
	}
	return cost.LifeOf(r.lives.messages)
}

// switched reports whether the gateway sees that nothing of the cache can be used: another model, or
// another system prompt.
func (p *pourer) switched(q int) bool {
	return p.seg.requests[q].model.ID != p.seg.requests[q-1].model.ID || p.seg.requests[q].found.anew
}

func (p *pourer) thinning(conv *decant.Conversation, cold bool) policy.EarlyPour {
	return policy.EarlyPour{Preset: p.preset, Counter: p.lay.est, Transcript: conv, Made: p.ds, Cold: cold}
}

// pour carries a pour out and returns the view after it.
func (p *pourer) pour(q int, conv, view *decant.Conversation, why policy.Reason, out *step) (*decant.Conversation, error) {
	made, err := p.decisions(q, conv, view, why)
	var irreducible *decant.IrreducibleError
	if errors.As(err, &irreducible) || err == nil && len(made) == 0 {
		return view, nil // it stays as it is; the provider will say what it thinks of it
	}
	if err != nil {
		return view, fmt.Errorf("pour: %w", err)
	}
	before := len(p.ds)
	made = p.keep(p.pours+1, made)
	poured, err := decant.View(conv, p.ds)
	if err != nil {
		return view, fmt.Errorf("pour: %w", err)
	}
	_, was := p.lay.prompt(view.Messages)
	if _, is := p.lay.prompt(poured.Messages); why != policy.Necessary && !policy.Pays(why, was, is) {
		p.ds = p.ds[:before]
		p.poor = p.poor.Again(p.terms(), was, was)
		return view, nil
	}
	p.pours++
	p.bound, _ = policy.BoundaryOf(poured, p.ds)
	out.made, out.reason = append(out.made, made...), why
	return poured, nil
}

// terms returns what the outcome of an early pour depends on, besides the messages.
func (p *pourer) terms() string { return strconv.Itoa(len(p.ds)) }

// decisions returns what a pour for a reason decides.
func (p *pourer) decisions(q int, conv, view *decant.Conversation, why policy.Reason) ([]decant.Decision, error) {
	if why == policy.Routine {
		_, size := p.lay.prompt(view.Messages)
		return p.routine(q, conv, view, size), nil
	}
	if why != policy.Necessary {
		if p.wayOf(q, view) == clearing {
			return p.cleared(q, conv, view), nil
		}
		return p.early(q, conv, view, why)
	}
	o, l, err := p.options(q, conv)
	if err != nil {
		return nil, err
	}
	if ds := p.cleared(q, conv, view); len(ds) > 0 {
		poured, err := decant.View(conv, slices.Concat(p.ds, ds))
		if err != nil {
			return nil, err
		}
		if _, size := p.lay.prompt(poured.Messages); size <= l.Trigger {
			return ds, nil
		}
	}
	o.Target = l.Target
	plan, err := policy.Plan(context.Background(), conv, o)
	if err != nil {
		return nil, err
	}
	return p.allowed(q, view, plan.Decisions), nil
}

// options returns the options of a pour of request q that the window demands, and the limits that hold.
func (p *pourer) options(q int, conv *decant.Conversation) (policy.PlanOptions, policy.Limits, error) {
	o := policy.PlanOptions{
		Model: p.limited(q), Estimator: p.lay.est, Preset: p.preset, Ahead: p.preset.Summary.Ahead.Tokens(), KeepTurns: -1, Now: p.seg.requests[0].at,
	}
	for _, d := range p.ds {
		if d.Checkpoint == nil {
			o.Made = append(o.Made, d)
		}
	}
	l, err := policy.LimitsFor(p.limited(q), p.preset, p.fixed(q), conv.MaxOutput)
	return o, l, err
}

// under returns the view of request q with decisions of a plan that is not played.
func (p *pourer) under(q int, conv *decant.Conversation, before, ds []decant.Decision) (*decant.Conversation, error) {
	for i := range ds {
		ds[i].ID, ds[i].Pour = fmt.Sprintf("candidate %d.%d", q, i), fmt.Sprintf("%08d", p.pours+1)
	}
	return decant.View(conv, slices.Concat(before, ds))
}
