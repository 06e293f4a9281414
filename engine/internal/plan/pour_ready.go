package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/policy"
)

// A Forecast makes the plan of the pour that comes next behind a request, or finds that the one which waits will do. It
// reads nothing that an archive of the request changes.
type Forecast struct {
	notes *Cached
	next  Candidate            // without its plan
	waits *Candidate           // that is about the conversation as it is, nil: there is none
	conv  *decant.Conversation // with the answer to the request
	opts  policy.PlanOptions
}

// NewForecast returns a forecast behind an answered request, whose answer is a JSON list of blocks or nil. o are the options of
// the pour ([Ahead]). It reports false where nothing can be prepared.
func NewForecast(dr *Draft, o policy.PlanOptions, answer []byte) (*Forecast, bool) {
	if !foreseeable(dr) {
		return nil, false
	}
	in := dr.Input
	f := &Forecast{notes: CachedOf(in.Match.Stored), next: Candidate{Place: placeOf(dr, len(in.Conv.Messages))}, opts: o, conv: in.Conv}
	if waits := f.notes.Ready.Waits(); waits != nil && stands(dr, waits) && policy.Expected(waits.Plan, more(dr, waits)+o.Coming, o.Target, o.Trigger) {
		f.waits = waits
	}
	if m, ok := answerOf(in, answer); ok {
		came := in.Estimator.Message(&m)
		f.conv = in.Conv.With(append(slices.Clip(in.Conv.Messages), m))
		f.opts.Coming = max(0, f.opts.Coming-came)
		f.next.Coming = came
	}
	f.next.Coming += f.opts.Coming
	f.next.Seen = len(f.conv.Messages)
	return f, true
}

// foreseeable reports whether the pour that comes next can be planned now: by a route that plans, of a conversation that
// has the numbers of its transcript, by tokens alone. Where a preset counts the messages or turns that stay, these are not
// here yet: a plan of now would keep them and all that comes until the pour.
func foreseeable(dr *Draft) bool {
	in := dr.Input
	switch {
	case !in.Refs.Same, dr.Preset.Trigger.Messages > 0, dr.Preset.Keep.Messages+dr.Preset.Keep.Turns > 0, live(in.Conv) != in.Conv, len(dr.Suspended) > 0, dr.OnHold(), dr.compacts():
		return false
	}
	return slices.ContainsFunc((&Pour{Draft: dr}).routes(policy.Necessary), func(r route) bool { return r.plans })
}

// placeOf returns the place of the first n messages of a draft's request.
func placeOf(dr *Draft, n int) Place {
	in := dr.Input
	p := in.Prompt
	out := Place{Messages: n, Blocks: len(p.Blocks), Segments: len(aheadOf(in).Segments())}
	if n < len(p.Starts) {
		out.Blocks = p.Starts[n]
	}
	out.Spine, _ = slices.BinarySearch(p.Spine, out.Blocks)
	out.Chain = p.Hash(out.Spine - 1)
	text := fmt.Sprintf("%q %s %q %d %d %q", in.Conv.Model, in.Conv.Fixed.Version, dr.Preset.Name, dr.Limits.Window, dr.Limits.Trigger, in.Focus)
	for _, ds := range [][]decant.Decision{dr.InForce, dr.Made} {
		for i := range ds {
			if ds[i].Target.Message <= n {
				text += " " + ds[i].ID
			}
		}
	}
	out.Terms = decant.HashText(text)
	return out
}

// more returns how many tokens more than a candidate expected have come behind the request behind which it was made.
func more(dr *Draft, c *Candidate) int {
	in := dr.Input
	match.Adopt(in.Prompt, c.Counts, in.Estimator)
	return dr.Estimate(dr.View.With(in.Conv.Messages[c.Messages:]), decant.Ref{}) - c.Coming
}

// stands reports whether a draft's request holds what a candidate was made for, unchanged and under the same decisions.
func stands(dr *Draft, c *Candidate) bool {
	return c.Messages <= len(dr.Conv.Messages) && placeOf(dr, c.Messages) == c.Place
}

// answerOf returns an answer to a request as the message that will follow it.
func answerOf(in *Input, answer []byte) (m decant.Message, ok bool) {
	p := in.Prompt
	if len(answer) == 0 || len(p.Blocks) == 0 {
		return m, false
	}
	first := &p.Blocks[0]
	body := p.Dialect.Assemble(&dialect.Parts{Model: in.Conv.Model, Answer: answer, Messages: []dialect.Message{
		{Role: first.Role, Blocks: []dialect.Block{{Kind: first.Kind, Bytes: first.Bytes}}},
	}})
	doc, err := p.Dialect.Parse(body)
	if err != nil {
		return m, false // the plan is made without it
	}
	ms := doc.Conversation.Messages
	m = ms[len(ms)-1]
	m.Number = in.Conv.Messages[len(in.Conv.Messages)-1].Number + 1
	for k := range m.Blocks {
		m.Blocks[k].Ref = decant.Ref{Message: m.Number, Block: k}
	}
	return m, m.Role == decant.RoleAssistant
}

// Claim reports whether the plan may be made now: nobody else makes one of the conversation. Whoever claims must call Make.
func (f *Forecast) Claim() bool { return f.notes.Ready.Begin() }

// Renew takes up the segments that have been written since. The plan that waits is without them.
func (f *Forecast) Renew() {
	written := f.notes.Ahead.Segments()
	f.opts.Segments = slices.Concat(f.opts.Segments, written) // of two about the same messages one is used
	f.next.Segments, f.waits = len(written), nil
	if w := f.notes.Ready.Waits(); w != nil && w.Messages > f.next.Messages && w.Segments == len(written) {
		f.waits = w // it was made behind a later request
	}
}

// Make makes the plan. The one that waits stays if it lacks nothing that the model has used since, and is made anew
// otherwise: now it is known what it needs.
func (f *Forecast) Make(ctx context.Context) error {
	next := f.waits
	defer func() { f.notes.Ready.End(next) }() // also when the planner panics
	if f.waits != nil && len(policy.Lacks(ctx, f.conv, decant.CheckpointIn(f.waits.Plan.Decisions), f.waits.Seen)) == 0 && ctx.Err() == nil {
		seen := *f.waits
		seen.Seen = max(seen.Seen, f.next.Seen)
		next = &seen
		return nil
	}
	next = nil
	p, err := policy.Propose(ctx, f.conv, f.opts)
	var irreducible *decant.IrreducibleError
	switch {
	case ctx.Err() != nil, errors.As(err, &irreducible), errors.Is(err, decant.ErrFixed):
		return nil // there is no such plan, and the pour finds its own way
	case err != nil:
		return fmt.Errorf("prepare a pour: %w", err)
	case decant.CheckpointIn(p.Plan.Decisions) == nil:
		return nil // it is made in no time
	}
	c := f.next
	c.Plan, c.Notes, c.Counts = p.Plan, writtenAhead(&f.notes.Ahead, p.Plan), f.counts()
	c.Ahead = c.Notes != nil
	next = &c
	return nil
}

// counts returns the tokens of the blocks of the request, so that the pour need not count them.
func (f *Forecast) counts() []int32 {
	out := make([]int32, 0, f.next.Blocks)
	for i := range f.conv.Messages[:f.next.Messages] {
		m := &f.conv.Messages[i]
		for k := range m.Blocks {
			out = append(out, int32(f.opts.Estimator.Block(&m.Blocks[k])))
		}
	}
	return out
}

// waiting returns the plan that was prepared for a pour, as it is now; nil where there is none that will do. One that is
// being made is waited for: that takes no longer than making it at once.
func waiting(ctx context.Context, p *Pour, why policy.Reason) *decant.Plan {
	in := p.Draft.Input
	if why != policy.Necessary || in.Demand.Reason != "" || p.quick || aheadOf(in) == nil || in.Match.Branch != nil || !foreseeable(p.Draft) {
		return nil
	}
	r := &CachedOf(in.Match.Stored).Ready
	if running := r.Running(); running != nil {
		select {
		case <-running:
		case <-ctx.Done():
			return nil
		}
	}
	c := r.Waits()
	if c == nil || !stands(p.Draft, c) || p.Summarizer != nil && !c.Ahead {
		return nil
	}
	return swapped(ctx, p, c)
}

// swapped returns a candidate's plan with the sizes that it has now, nil where the view would be too large, or where the
// model has used something since that it lacks.
func swapped(ctx context.Context, p *Pour, c *Candidate) *decant.Plan {
	in := p.Draft.Input
	ms, more := in.Conv.Messages, more(p.Draft, c)
	target, trigger := p.targets(policy.Necessary)[0], p.room(p.Draft.Limits.Trigger)
	if !policy.Expected(c.Plan, more, target, trigger) {
		return nil
	}
	if len(policy.Lacks(ctx, in.Conv, decant.CheckpointIn(c.Plan.Decisions), c.Seen)) > 0 {
		return nil
	}
	out := *c.Plan
	out.Before.Messages += more
	out.After.Messages += more
	out.Notes = slices.Concat(out.Notes, c.Notes, []string{fmt.Sprintf("the pour was planned behind m%d, before it was due", ms[c.Messages-1].Number)})
	return &out
}
