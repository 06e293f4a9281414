package policy

import (
	"context"
	"maps"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/preset"
)

// unset are the reductions without settings that every pour may use, by the names that presets use.
var unset = map[decant.Reduction]func(*reduce.Subject) []decant.Decision{
	decant.ReductionSuperseded: reduce.Superseded,
	decant.ReductionDuplicate:  reduce.Duplicate,
	decant.ReductionStub:       reduce.Stub,
	decant.ReductionArguments:  reduce.Arguments,
}

// reductions are the ways to make blocks smaller, by the names that presets use.
func reductions(r preset.Reduce) map[decant.Reduction]func(*reduce.Subject) []decant.Decision {
	all := maps.Clone(unset)
	all[decant.ReductionTerminal] = reduce.Terminal
	all[decant.ReductionThinking] = func(s *reduce.Subject) []decant.Decision {
		return reduce.Thinking(s, reduce.Thoughts{Keep: r.Thinking.Keep})
	}
	all[decant.ReductionTrim] = func(s *reduce.Subject) []decant.Decision { return reduce.Trim(s, trimming(r.Trim)) }
	all[decant.ReductionClear] = func(s *reduce.Subject) []decant.Decision { return reduce.Clear(s, clearing(r.Clear)) }
	return all
}

func trimming(t preset.Trim) reduce.Trimming {
	return reduce.Trimming{Over: t.Over, Head: t.Head, Tail: t.Tail, After: t.After, Literal: t.Literal}
}

func clearing(c preset.Clear) reduce.Clearing {
	return reduce.Clearing{After: c.After, Keep: c.KeepCalls, Least: c.Least, Text: c.Text}
}

// FirstSight returns the decisions about results that arrive for the first time; news are the messages since
// the model's last answer. It cuts results only if the preset says so.
func FirstSight(ctx context.Context, news *decant.Conversation, set *preset.Preset, c decant.Counter) []decant.Decision {
	first, tools := set.Reduce.First, set.Tools
	s := reduce.Of(ctx, news, reduce.Options{
		Counter: c, Mask: secret.Mask, Include: tools.Include, Exclude: tools.Exclude, Pinned: tools.Pin,
	})
	return reduce.FirstSight(s, reduce.Trimming{
		Over: first.Over, Head: first.Head, Tail: first.Tail, Off: first.Over == 0,
	})
}

// lossless are the reductions that leave a copy of everything in the view. A pour that must rewrite the
// history anyway makes all of them.
var lossless = map[decant.Reduction]bool{
	decant.ReductionTerminal: true, decant.ReductionSuperseded: true, decant.ReductionDuplicate: true,
	decant.ReductionThinking: true,
}

// reduce makes the preset's reductions: those that it makes always, then the others in their order
// until the target is met, oldest block first.
func (p *planner) reduce() error {
	if p.opts.Quick || p.opts.KeepTurns == 0 && p.over() {
		return nil
	}
	all := reductions(p.opts.Preset.Reduce)
	if err := p.cap(); err != nil {
		return err
	}
	protect := p.opts.Preset.Reduce.Protect
	everything, err := p.subject(len(p.conv.Messages), protect)
	if err != nil {
		return err
	}
	for _, name := range p.opts.Preset.Reduce.Always {
		p.decide(all[name](everything)...)
	}
	if !p.over() {
		return nil
	}
	_, err = p.inOrder(true)
	return err
}

// lossy makes the preset's lossy reductions if a record of the same messages does not fit. At equal size a
// record keeps more of what is needed next than a stub for each result, because it chooses among all lines.
func (p *planner) lossy() (bool, error) {
	if p.opts.KeepTurns == 0 || p.opts.Quick {
		return false, nil
	}
	made, err := p.inOrder(false)
	return made && p.bounds.tail > p.bounds.head, err
}

// inOrder makes the preset's reductions of old messages in their order while the view is too large: the
// lossless ones, or the others. It reports whether it made any.
func (p *planner) inOrder(gently bool) (made bool, err error) {
	old, err := p.subject(p.bounds.tail, p.opts.Preset.Reduce.Protect)
	if err != nil {
		return false, err
	}
	all := reductions(p.opts.Preset.Reduce)
	for _, name := range p.opts.Preset.Reduce.Order {
		if lossless[name] != gently || !p.over() {
			continue
		}
		ds := all[name](old)
		if !gently {
			ds = enough(ds, p.sizes.total()-p.opts.Target)
		}
		made = made || len(ds) > 0
		p.decide(ds...)
	}
	return made, nil
}

// cap cuts every result that is longer than the preset allows.
func (p *planner) cap() error {
	n := p.opts.Preset.Tools.Cap
	if n == 0 {
		return nil
	}
	s, err := p.subject(len(p.conv.Messages), 0)
	if err != nil {
		return err
	}
	t := reduce.Trimming{Over: n, Head: n / 2, Tail: n / 2}
	p.decide(append(reduce.Trim(s, t), reduce.FirstSight(s, t)...)...)
	return nil
}

// subject returns the view's messages before index end, for reductions that skip the given number of newest
// rounds.
func (p *planner) subject(end, protect int) (*reduce.Subject, error) {
	view, err := p.current()
	if err != nil {
		return nil, err
	}
	o := reduce.Options{
		Counter: p.opts.Estimator, Mask: secret.Mask, Transcript: p.conv, Made: p.edits.all(),
		Include: p.opts.Preset.Tools.Include, Exclude: p.opts.Preset.Tools.Exclude, Pinned: p.opts.Preset.Tools.Pin,
		KeepRounds: protect, Must: namesOf(p.evidence.mustKeep(p.ctx)),
	}
	if end < len(p.conv.Messages) {
		o.Before = p.conv.Messages[end].Number
	}
	return reduce.Of(p.ctx, view, o), nil
}

// namesOf returns the texts of facts that are names.
func namesOf(facts []decant.Fact) map[string]bool {
	out := make(map[string]bool, len(facts))
	for i := range facts {
		out[facts[i].Text] = true
	}
	return out
}

// enough returns the first decisions of ds that together free the given tokens.
func enough(ds []decant.Decision, tokens int) []decant.Decision {
	for i, d := range ds {
		if tokens <= 0 {
			return ds[:i]
		}
		tokens -= d.Before - d.After
	}
	return ds
}

// trimTail cuts the long results of the tail, first a little, then to their outlines. It does not change the
// open round's calls.
func (p *planner) trimTail() (bool, error) {
	if p.opts.KeepTurns == 0 || p.bounds.tail == len(p.conv.Messages) {
		return false, nil
	}
	s, err := p.subject(len(p.conv.Messages), 0)
	if err != nil {
		return false, err
	}
	for _, n := range []int{4000, 1500, 500} {
		if p.choice().fits() {
			break
		}
		t := reduce.Trimming{Over: 2 * n, Head: n, Tail: n}
		p.decide(append(reduce.Trim(s, t), reduce.FirstSight(s, t)...)...)
	}
	p.bounds.widen(p.sizes.view, &p.opts)
	return true, nil
}
