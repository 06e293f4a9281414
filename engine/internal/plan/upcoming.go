package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
)

// A Candidate is the plan of the next pour, made while no request waited for it.
type Candidate struct {
	Place
	Plan   *decant.Plan
	Early  bool     // it is of an early pour, for money
	Coming int      // tokens of the plan that were to come behind the request behind which it was made
	Seen   int      // messages that it was held against: all that the model used in them and that it covers is in its record
	Ahead  bool     // its record has lines of a segment that was written ahead
	Notes  []string // for people
	Counts []int32  // tokens of the blocks of that request
}

// A Place is what a candidate was made for.
type Place struct {
	Messages int         // of the request behind which it was made
	Blocks   int         // of these
	Spine    int         // of these, the blocks that are no thinking
	Chain    decant.Hash // of the last of them
	Terms    decant.Hash // of the decisions about them, and of policy, model and fixed part
	Segments int         // that had been written
}

// An Upcoming is the pour that comes next for the conversation of a draft: whether it is near, and the plan that was
// made for it while no request waited.
type Upcoming struct {
	*Schedule
	cached *Cached // of the conversation, nil: it is not stored yet
}

// NewUpcoming returns the pour that comes after a draft was sent.
func NewUpcoming(dr *Draft) *Upcoming {
	return &Upcoming{&Schedule{Draft: dr, Summarizer: dr.Summarizer}, dr.cached()}
}

// Near returns the options of the pour, for a segment that is written ahead of it, and false where the conversation is
// not as near to its trigger as the preset says, or is not stored yet.
func (u *Upcoming) Near() (policy.PlanOptions, bool) {
	dr := u.Draft
	form := &dr.Preset.Summary
	ahead := form.Ahead.Tokens()
	if ahead == 0 || dr.Limits.Trigger == 0 || dr.Outcome.After <= dr.Limits.Trigger-ahead || u.cached == nil || dr.Match.Branch != nil ||
		dr.Pauses() && !dr.Bound() { // the model will write it in its place
		return policy.PlanOptions{}, false
	}
	o := u.planOptions(u.targets(policy.Necessary)[0])
	size := u.room(dr.Outcome.After)
	step := size / max(1, len(decant.Rounds(dr.View.Live())))
	o.Coming = max(0, o.Trigger-size) + step/2
	return o, true
}

// NearEarly returns the options of an early pour that will pay for the next request, and false where none will. They leave no
// room for what comes until then, which is often next to nothing: the view would hold that much less.
func (u *Upcoming) NearEarly() (policy.PlanOptions, bool) {
	dr := u.Draft
	if u.cached == nil || dr.Match.Branch != nil || dr.Preset.Summary.Ahead.Tokens() == 0 || !u.SoonPays() {
		return policy.PlanOptions{}, false
	}
	return u.planOptions(u.earlyRoom()), true
}

// bounds returns what a pour aims at, and the size of the messages when it is due, as the planner counts them. One for money
// may miss its aim twice as far: nothing demands it, and the next one comes the sooner.
func (u *Upcoming) bounds(early bool) (target, trigger int) {
	dr := u.Draft
	if early {
		target = u.earlyRoom()
		return target, target + 2*max(0, u.room(dr.Outcome.Before)-target)
	}
	return u.targets(policy.Necessary)[0], u.room(dr.Limits.Trigger)
}

// Drop leaves no candidate waiting for the pour, which is not near.
func (u *Upcoming) Drop() {
	if u.cached != nil && u.Draft.Match.Branch == nil {
		u.cached.DropCandidate()
	}
}

// Forecast returns a forecast behind the answered request, whose answer is a JSON list of blocks or nil. o are the
// options of the pour ([Upcoming.Near], [Upcoming.NearEarly]). It reports false where nothing can be prepared.
func (u *Upcoming) Forecast(o policy.PlanOptions, early bool, answer []byte) (*Forecast, bool) {
	if !u.foreseeable() {
		return nil, false
	}
	in := u.Draft.Input
	f := &Forecast{cached: u.cached, next: Candidate{Place: u.place(len(in.Conv.Messages)), Early: early}, opts: o, conv: in.Conv}
	target, trigger := u.bounds(early)
	if waits := u.cached.Candidate(); waits != nil && waits.Early == early && u.holds(waits) && policy.Expected(waits.Plan, u.more(waits)+o.Coming, target, trigger) {
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

// foreseeable reports whether the pour that comes next can be planned now: by a route that plans, of a conversation
// that has the numbers of its transcript, by tokens alone. Where a preset counts the messages or turns that stay, these
// are not here yet: a plan of now would keep them and all that comes until the pour.
func (u *Upcoming) foreseeable() bool {
	dr := u.Draft
	in := dr.Input
	switch {
	case !in.Refs.Same, dr.Preset.Trigger.Messages > 0, dr.Preset.Keep.Messages+dr.Preset.Keep.Turns > 0, live(in.Conv) != in.Conv, len(dr.Suspended) > 0, dr.Match.OnHold(dr.InForce), dr.asksSummary():
		return false
	}
	return slices.ContainsFunc(u.routes(policy.Necessary), func(r route) bool { return r.plans })
}

// place returns the place of the first n messages of the request.
func (u *Upcoming) place(n int) Place {
	dr := u.Draft
	in := dr.Input
	p := in.Prompt
	out := Place{Messages: n, Blocks: len(p.Blocks), Segments: len(u.cached.Segments())}
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
func (u *Upcoming) more(c *Candidate) int {
	dr := u.Draft
	in := dr.Input
	match.Adopt(in.Prompt, c.Counts, in.Estimator)
	return dr.Estimate(dr.View.With(in.Conv.Messages[c.Messages:]), decant.Ref{}) - c.Coming
}

// holds reports whether the request holds what a candidate was made for, unchanged and under the same decisions.
func (u *Upcoming) holds(c *Candidate) bool {
	dr := u.Draft
	return c.Messages <= len(dr.Conv.Messages) && u.place(c.Messages) == c.Place
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

// A Forecast makes the plan of the pour that comes next behind a request, or finds that the one which waits will do. It
// reads nothing that an archive of the request changes.
type Forecast struct {
	cached *Cached
	next   Candidate            // without its plan
	waits  *Candidate           // that is about the conversation as it is, nil: there is none
	conv   *decant.Conversation // with the answer to the request
	opts   policy.PlanOptions
}

// Claim reports whether the plan may be made now: nobody else makes one of the conversation. Whoever claims must call
// Make.
func (f *Forecast) Claim() bool { return f.cached.BeginCandidate() }

// Renew takes up the segments that have been written since. The plan that waits is without them.
func (f *Forecast) Renew() {
	written := f.cached.Segments()
	f.opts.Segments = slices.Concat(f.opts.Segments, written) // of two about the same messages one is used
	f.opts.Spent = f.cached.Wasted()
	f.next.Segments, f.waits = len(written), nil
	if w := f.cached.Candidate(); w != nil && w.Messages > f.next.Messages && w.Segments == len(written) {
		f.waits = w // it was made behind a later request
	}
}

// Make makes the plan. The one that waits stays if it lacks nothing that the model has used since, and is made anew
// otherwise: now it is known what it needs.
func (f *Forecast) Make(ctx context.Context) error {
	next := f.waits
	defer func() { f.cached.EndCandidate(next) }() // also when the planner panics
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
	c.Plan, c.Notes, c.Counts = p.Plan, f.cached.writtenAhead(p.Plan), f.counts()
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

// prepared returns the plan that was prepared for the pour, as it is now; nil where there is none that will do. One
// that is being made is waited for: that takes no longer than making it at once.
func (u *Upcoming) prepared(ctx context.Context, why policy.Reason) *decant.Plan {
	in := u.Draft.Input
	early := why == policy.Paid
	if why != policy.Necessary && !early || in.Demand.Reason != "" || u.quick || u.cached == nil || in.Match.Branch != nil || !u.foreseeable() {
		return nil
	}
	if !u.cached.candidate.wait(ctx) {
		return nil
	}
	c := u.cached.Candidate()
	if c == nil || c.Early != early || !u.holds(c) || u.Summarizer != nil && !early && !c.Ahead {
		return nil
	}
	return u.swapped(ctx, c)
}

// swapped returns a candidate's plan with the sizes that it has now, nil where the view would be too large, or where
// the model has used something since that it lacks.
func (u *Upcoming) swapped(ctx context.Context, c *Candidate) *decant.Plan {
	dr := u.Draft
	ms, more := dr.Conv.Messages, u.more(c)
	target, trigger := u.bounds(c.Early)
	if !policy.Expected(c.Plan, more, target, trigger) {
		return nil
	}
	if len(policy.Lacks(ctx, dr.Conv, decant.CheckpointIn(c.Plan.Decisions), c.Seen)) > 0 {
		return nil
	}
	out := *c.Plan
	out.Before.Messages += more
	out.After.Messages += more
	out.Notes = slices.Concat(out.Notes, c.Notes, []string{fmt.Sprintf("the pour was planned behind m%d, before it was due", ms[c.Messages-1].Number)})
	return &out
}

// segments returns what models wrote about the conversation: for its newest checkpoint, and since.
func (s *Schedule) segments() (out []decant.Segment) {
	dr := s.Draft
	if cp := decant.CheckpointIn(dr.InForce); cp != nil {
		out = slices.Clone(cp.Segments)
		for i := range out {
			out[i].CostUSD = 0 // it is in the cost of that checkpoint
		}
	}
	if c := dr.cached(); c != nil {
		out = append(out, c.Segments()...)
	}
	return out
}
