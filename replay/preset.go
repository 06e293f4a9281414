package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/reduce"
)

// pourer plays a preset: the same decisions at the same moments as the gateway makes them.
type pourer struct {
	*stage
	preset *preset.Preset
	ds     []decant.Decision // in force
	named  int               // decisions that have got an id
	pours  int               // made so far
	bound  boundary          // of the newest pour
	poor   futility          // of pours for money
	seen   int               // messages of the request before
	sent   []decant.Message  // the view of the request before
	last   time.Time         // of the request before
}

func startPreset(p *preset.Preset) func(*stage) player {
	return func(s *stage) player { return &pourer{stage: s, preset: p, bound: nowhere} }
}

func (p *pourer) view(n int, at time.Time) (step, error) {
	var out step
	conv := p.seg.conv.With(p.seg.conv.Messages[:n])
	out.made = p.firstSight(conv)
	view, err := p.grown(conv, out.made)
	if err != nil {
		return out, fmt.Errorf("replay decisions: %w", err)
	}
	why, err := p.due(conv, view, at)
	if err != nil {
		return out, err
	}
	if why != "" {
		if view, err = p.pour(conv, view, why, &out); err != nil {
			return out, err
		}
	}
	p.seen, p.last, p.sent = n, at, view.Messages
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
	f := p.preset.Reduce.First
	news := conv.With(conv.Messages[p.seen:])
	return p.keep(0, reduce.FirstSight(reduce.Of(news, p.options()), reduce.Trimming{Over: f.Over, Head: f.Head, Tail: f.Tail}))
}

func (p *pourer) options() reduce.Options {
	t := p.preset.Tools
	return reduce.Options{Counter: p.lay.est, Mask: secret.Mask, Include: t.Include, Exclude: t.Exclude, Pinned: t.Pin}
}

// keep gives the decisions of a pour ids and puts them in force.
func (p *pourer) keep(pour int, ds []decant.Decision) []decant.Decision {
	for i := range ds {
		p.named++
		ds[i].ID = pourID(pour, p.named)
	}
	p.ds = append(p.ds, ds...)
	return ds
}

// due returns why a pour is due for a view.
func (p *pourer) due(conv, view *decant.Conversation, at time.Time) (engine.Reason, error) {
	_, size := p.lay.prompt(view.Messages)
	l, err := engine.LimitsFor(p.limited(), p.preset, p.seg.fixed, view.MaxOutput)
	if err != nil {
		return "", err
	}
	s := engine.Situation{Limits: l, Tokens: size, Messages: len(view.Messages), Most: p.preset.Trigger.Messages, MaxBytes: 1 << 30}
	if p.preset.Thrift.On() && p.seen > 0 && !p.poor.holds(len(p.ds), size) && !(p.model.Binds && thinks(view)) {
		s.Economy = p.economy(conv, view, at, size)
	}
	return engine.Due(s), nil
}

// thinks reports whether a view holds thinking.
func thinks(view *decant.Conversation) bool {
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			if view.Messages[i].Blocks[k].Kind == decant.KindThinking {
				return true
			}
		}
	}
	return false
}

func (p *pourer) economy(conv, view *decant.Conversation, at time.Time, size int) engine.Economy {
	write, read := p.rates(at, size)
	e := engine.Economy{
		Early: true, Idle: p.idle(at), Lifetime: cost.Lifetime(p.model), Write: write, Read: read, Patience: p.preset.Thrift.Settled().Patience,
	}
	b := engine.Spare(view, p.thinning(conv, e.Cold()))
	e.Freed, e.Behind, e.Whole, e.Spent = b.Freed, b.Behind, p.seg.fixed+b.Whole, float64(b.Carried)*read
	return e
}

func (p *pourer) idle(at time.Time) time.Duration {
	if p.warm {
		return 0
	}
	return at.Sub(p.last)
}

func (p *pourer) thinning(conv *decant.Conversation, cold bool) engine.Thinning {
	return engine.Thinning{Preset: p.preset, Counter: p.lay.est, Transcript: conv, Made: p.ds, Cold: cold}
}

// pour carries a pour out and returns the view after it.
func (p *pourer) pour(conv, view *decant.Conversation, why engine.Reason, out *step) (*decant.Conversation, error) {
	made, err := p.decisions(conv, view, why)
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
	if _, is := p.lay.prompt(poured.Messages); why != engine.Necessary && float64(was-is) < engine.Worth(why)*float64(was) {
		p.ds = p.ds[:before]
		p.poor.note(before, was)
		return view, nil
	}
	p.pours++
	p.bound = boundaryOf(poured.Messages, p.pours, made)
	out.made, out.reason = append(out.made, made...), why
	return poured, nil
}

// A futility is a pour for money that was due and freed too little, so that it is not planned again
// before there is more to pour, as the engine has it.
type futility struct {
	decisions int // in force then
	times     int
	until     int // tokens of the request from which it is worth planning again
}

func (f *futility) note(decisions, tokens int) {
	if f.decisions != decisions {
		*f = futility{decisions: decisions}
	}
	f.times++
	f.until = tokens + engine.WaitFor(tokens, f.times)
}

// holds reports whether nothing has changed for a request of so many tokens.
func (f *futility) holds(decisions, tokens int) bool {
	return f.times > 0 && f.decisions == decisions && tokens < f.until
}

func (p *pourer) decisions(conv, view *decant.Conversation, why engine.Reason) ([]decant.Decision, error) {
	if why != engine.Necessary {
		return engine.Thin(view, p.thinning(conv, why == engine.Free)), nil
	}
	o := engine.PlanOptions{Model: p.limited(), Estimator: p.lay.est, Preset: p.preset, KeepTurns: -1, Now: p.seg.at[0]}
	for _, d := range p.ds {
		if d.Checkpoint == nil {
			o.Made = append(o.Made, d)
		}
	}
	l, err := engine.LimitsFor(p.limited(), p.preset, p.seg.fixed, conv.MaxOutput)
	if err != nil {
		return nil, err
	}
	o.Target = l.Target
	plan, err := engine.Plan(conv, o)
	if err != nil {
		return nil, err
	}
	return plan.Decisions, nil
}
