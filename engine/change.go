package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Change is something that somebody wants done to a stored conversation: a plan with its price, for
// one version of it. It is data until it is given to Apply.
type Change struct {
	Key     store.Key
	Version int64 // that it was made for
	Plan    *decant.Plan
	Hold    bool // whether the conversation is on hold afterwards
	Pinned  bool // whether it is kept then, however old it is
}

// A revision is a change to a stored conversation in the making.
type revision struct{ *plan.Draft }

// Preview returns what a pour of a conversation would do now: the one that is due (see policy.Due), or would be if the
// conversation were not on hold; else one that brings the view down to the size that every pour aims at. It
// returns an error that wraps decant.ErrNothing when the view has that size, or when less would go than a pour
// has to free (see policy.Pays).
func (e *Engine) Preview(ctx context.Context, k store.Key) (*Change, error) {
	return offer(ctx, e, k, nil, "")
}

// Pour returns what Preview returns, with a record by Models.Summarizer where there is one: making the plan asks it,
// applying it does not. The summariser is told the focus, what somebody wants the record to be about, and takes nothing
// else from it.
func (e *Engine) Pour(ctx context.Context, k store.Key, focus string) (*Change, error) {
	return offer(ctx, e, k, policy.Once(e.opts.Models.Summarizer), focus)
}

// offer plans a pour of a stored conversation with a record by a summariser that is told a focus; nil is the extractive
// one.
func offer(ctx context.Context, e *Engine, k store.Key, by provider.Summarizer, focus string) (*Change, error) {
	r, err := e.reopen(ctx, k, focus)
	if err != nil {
		return nil, err
	}
	p, in := plan.NewPour(r.Draft, by), r.Input
	if r.Limits, err = policy.LimitsFor(in.Model, r.Preset, in.Fixed, in.Conv.MaxOutput); err != nil {
		return nil, err
	}
	r.Outcome.Before = r.Size(r.View)
	if why := p.Due(); why != "" {
		// A pour for money has a second, which a busy machine may need for less: somebody who asks for one can wait.
		if err = p.Make(ctx, why); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = nil
		}
	}
	if err == nil && len(r.Made) == 0 {
		err = p.Offer(ctx)
	}
	if err != nil {
		return nil, err
	}
	if len(r.Made) == 0 {
		return nil, fmt.Errorf("plan a pour of %s: %w", k.ID, decant.ErrNothing)
	}
	return r.change("a pour now, by the route "+r.Outcome.Route, r.onHold()), nil
}

// Undo returns the change that takes back the newest pour: its decisions are revoked, thinking that
// was written on top of it is dropped where the model binds it, and the conversation is put on hold,
// so that it is not poured again until it is released or its window leaves no choice.
//
// It returns an error that wraps decant.ErrNothing when there is no pour, and one that wraps
// decant.ErrIllegal while the model has still to answer to results and its thinking is bound.
func (e *Engine) Undo(ctx context.Context, k store.Key) (*Change, error) {
	r, err := e.reopen(ctx, k, "")
	if err != nil {
		return nil, err
	}
	ds := plan.Revocations(r.Match.State.Decisions)
	if len(ds) == 0 {
		return nil, fmt.Errorf("undo a pour of %s: %w", k.ID, decant.ErrNothing)
	}
	if back, ok := r.undoClearing(ds); ok {
		ds = back
	} else if r.Bound() {
		if r.Conv.OpenRound() {
			return nil, fmt.Errorf("undo a pour of %s while a round is open and thinking is bound: try again when the agent is done: %w", k.ID, decant.ErrIllegal)
		}
		at, err := plan.EntriesAt(ctx, e.store, r.Match.State, ds[0].Revokes)
		if err != nil {
			return nil, err
		}
		ds = append(ds, r.thinkingBehind(at)...)
	}
	if !r.onHold() {
		ds = append(ds, decant.Decision{Kind: decant.Hold, Reduction: decant.ReductionUndo, Reason: "the newest pour was taken back"})
	}
	if err := r.revise(ds); err != nil {
		return nil, err
	}
	return r.change("take back the newest pour and hold", true), nil
}

// Pause returns the change that puts a conversation on hold, so that it is not poured until it is released or its
// window leaves no choice. It returns an error that wraps decant.ErrNothing when it is on hold already.
func (e *Engine) Pause(ctx context.Context, k store.Key) (*Change, error) {
	r, err := e.reopen(ctx, k, "")
	if err != nil {
		return nil, err
	}
	if r.onHold() {
		return nil, fmt.Errorf("pause %s, which is on hold: %w", k.ID, decant.ErrNothing)
	}
	if err := r.revise([]decant.Decision{{Kind: decant.Hold, Reduction: decant.ReductionUndo, Reason: "pours were put off"}}); err != nil {
		return nil, err
	}
	return r.change("hold", true), nil
}

// Release returns the change that ends a hold. It returns an error that wraps decant.ErrNothing when
// the conversation is not on hold.
func (e *Engine) Release(ctx context.Context, k store.Key) (*Change, error) {
	r, err := e.reopen(ctx, k, "")
	if err != nil {
		return nil, err
	}
	var ds []decant.Decision
	for _, d := range decant.InForce(r.Match.State.Decisions) {
		if d.Kind == decant.Hold {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the hold is over"})
		}
	}
	if len(ds) == 0 && !r.onHold() {
		return nil, fmt.Errorf("release %s, which is not on hold: %w", k.ID, decant.ErrNothing)
	}
	if err := r.revise(ds); err != nil {
		return nil, err
	}
	return r.change("end the hold", false), nil
}

// Keep returns the change that keeps a conversation from being collected, or with on false no longer. No view
// changes.
func (e *Engine) Keep(ctx context.Context, k store.Key, on bool) (*Change, error) {
	s, err := e.store.Load(ctx, k, store.Newest)
	if err != nil {
		return nil, fmt.Errorf("load conversation %s: %w", k.ID, err)
	}
	p := &decant.Plan{Model: s.Head.Model, Reason: "keep the conversation", Score: 1}
	if !on {
		p.Reason = "keep the conversation no longer"
	}
	return &Change{Key: k, Version: s.Version, Plan: p, Hold: s.Head.Hold, Pinned: on}, nil
}

// Apply makes a change. It returns an error that wraps decant.ErrStale when the conversation has moved
// on since the change was planned: plan again.
func (e *Engine) Apply(ctx context.Context, c *Change) error {
	s, err := e.store.Load(ctx, c.Key, store.Newest)
	if err != nil {
		return fmt.Errorf("load conversation %s: %w", c.Key.ID, err)
	}
	if s.Version != c.Version {
		return fmt.Errorf("apply to version %d a change planned for %d: %w", s.Version, c.Version, decant.ErrStale)
	}
	h := s.Head
	h.Hold, h.Pinned = c.Hold, c.Pinned
	b := &store.Batch{Key: c.Key, Version: c.Version, Time: e.opts.Now().UTC(), Decisions: c.Plan.Decisions, Head: &h}
	_, err = e.store.Commit(ctx, b)
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("apply: %w: %w", err, decant.ErrStale)
	}
	if err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	return nil
}

// reopen looks at a stored conversation as if its newest request were made again.
func (e *Engine) reopen(ctx context.Context, k store.Key, focus string) (*revision, error) {
	s, err := e.store.Load(ctx, k, store.Newest)
	if err != nil {
		return nil, fmt.Errorf("load conversation %s: %w", k.ID, err)
	}
	t, err := archive.ReadTranscript(ctx, e.store, k, s.Version)
	if err != nil {
		return nil, err
	}
	body, err := t.Body(t.Conversation)
	if err != nil {
		return nil, fmt.Errorf("write conversation %s: %w", k.ID, err)
	}
	r, err := match.Read(t.Dialect, body, e.seed, nil)
	if err != nil {
		return nil, err
	}
	m := plan.LoadMeter(ctx, e.store, s)
	l := match.NewStored(s, plan.NewCached(m))
	req := &Request{Dialect: t.Dialect, Tenant: k.Tenant, Session: s.Session, Body: body}
	if m.Newest.Million {
		req.Betas = []string{token.BetaMillion}
	}
	n, _ := l.Shared(r)
	a := &incoming{e: e, req: req, start: match.Start{Tenant: k.Tenant, Session: s.Session}, prompt: r, focus: focus}
	dr, err := a.replay(match.Locate(l, s, r, n), plan.Demand{})
	return &revision{dr}, err
}

// onHold reports whether the conversation is on hold.
func (r *revision) onHold() bool { return r.Match.State.Head.Hold }

// revise makes decisions that take others back. The view is the one that the next request will have: what
// an undone decision had taken the place of is in force again.
func (r *revision) revise(ds []decant.Decision) error {
	if len(ds) == 0 {
		return nil
	}
	if err := r.Name(ds); err != nil {
		return err
	}
	r.Made = append(r.Made[:len(r.Made):len(r.Made)], ds...)
	v, err := decant.Replay(r.Conv, r.afterwards())
	if err != nil {
		return fmt.Errorf("apply decisions: %w", err)
	}
	r.View = v
	return nil
}

// afterwards returns the decisions that are in force once those of the draft are stored.
func (r *revision) afterwards() []decant.Decision {
	return r.Match.Applicable(r.Refs, r.Made)
}

// change returns what the draft has made as a change, with its price.
func (r *revision) change(reason string, hold bool) *Change {
	in, m := r.Input, r.Match
	now := in.Now()
	before, after := r.Weighed(r.Before), r.Weighed(r.View)
	p := &decant.Plan{
		Base: in.Conv.Hash(), Model: in.Model.ID, Window: in.Model.Window, Target: r.Limits.Target, Reason: reason,
		Decisions: r.Made, Score: 1,
		Before: decant.Size{Fixed: in.Fixed, Messages: before}, After: decant.Size{Fixed: in.Fixed, Messages: after},
	}
	if r.Outcome.Plan != nil {
		p.Score, p.Risk = r.Outcome.Plan.Score, r.Outcome.Plan.Risk
	}
	c := cost.Change{Prompt: in.Fixed + before, Freed: policy.LeftOut(r.afterwards()) - policy.LeftOut(r.InForce), Behind: r.Behind()}
	newest := &r.Meter.Newest.Client
	asked := newest.Life()
	life := r.Meter.Belief.Life(asked)
	c.Hour, c.Plain, c.Cold = asked > 5*time.Minute, life == 0, now.Sub(newest.At) > life
	price, ok := c.Price(in.Model, now)
	if !ok {
		price.CostUSD, price.SaveUSD = 0, 0
	}
	p.Price = price
	return &Change{Key: m.Stored.Key, Version: m.State.Version, Plan: p, Hold: hold, Pinned: m.State.Head.Pinned}
}

// thinkingBehind returns decisions that drop the thinking behind the first n entries of the chain.
func (r *revision) thinkingBehind(n int) []decant.Decision {
	var last decant.Ref
	if n > 0 {
		last = r.Match.State.Chain[n-1].Ref
	}
	return slices.DeleteFunc(r.AllThinking(), func(d decant.Decision) bool { return !d.Target.Ref.After(last) })
}

// undoClearing returns those of the revocations of a pour that take back what the provider clears, if the pour
// was a clearing. That is legal at any time: what is sent does not change. The record stays where thinking may
// stand on it.
func (r *revision) undoClearing(ds []decant.Decision) ([]decant.Decision, bool) {
	kinds := map[string]decant.DecisionKind{}
	for _, d := range r.Match.State.Decisions {
		kinds[d.ID] = d.Kind
	}
	clears := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Native }
	records := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Insert }
	if !slices.ContainsFunc(ds, clears) || slices.ContainsFunc(ds, func(d decant.Decision) bool { return !clears(d) && !records(d) }) {
		return nil, false
	}
	if r.Bound() {
		ds = slices.DeleteFunc(slices.Clone(ds), records)
	}
	return ds, true
}

// Pin returns the change that keeps blocks verbatim in every later view, or with on false no longer.
// A block that was replaced before comes back. It returns an error that wraps decant.ErrNothing when refs is empty.
func (e *Engine) Pin(ctx context.Context, k store.Key, refs []decant.Ref, on bool) (*Change, error) {
	if len(refs) == 0 {
		return nil, fmt.Errorf("pin nothing of %s: %w", k.ID, decant.ErrNothing)
	}
	r, err := e.reopen(ctx, k, "")
	if err != nil {
		return nil, err
	}
	ds, err := r.pins(refs, on)
	if err != nil {
		return nil, fmt.Errorf("pin blocks of %s: %w", k.ID, err)
	}
	if err := r.revise(ds); err != nil {
		return nil, err
	}
	return r.change(ds[0].Reason, r.onHold()), nil
}

// pins returns the decisions that pin blocks and bring them back, or with on false those that unpin them.
func (r *revision) pins(refs []decant.Ref, on bool) (ds []decant.Decision, err error) {
	kind, reason := decant.Pin, "pinned"
	if !on {
		kind, reason = decant.Unpin, "no longer pinned"
	}
	for _, ref := range refs {
		b := r.Conv.Block(ref)
		if b == nil {
			return nil, fmt.Errorf("block %d of m%d: %w", ref.Block, ref.Message, store.ErrNotFound)
		}
		ds = append(ds, decant.Decision{Kind: kind, Reason: reason, Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash())})
	}
	if !on {
		return ds, nil
	}
	back, err := r.bringBack(refs)
	return append(ds, back...), err
}

// bringBack returns the decisions that make blocks verbatim again; none when they are, or when a
// checkpoint covers them. Thinking that is bound to the view without them goes.
func (r *revision) bringBack(refs []decant.Ref) (ds []decant.Decision, err error) {
	pinned := make(map[decant.Ref]bool, len(refs))
	for _, ref := range refs {
		pinned[ref] = true
	}
	for _, d := range decant.InForce(r.Match.State.Decisions) {
		if d.Kind.Edits() && d.Kind != decant.Native && pinned[d.Target.Ref] { // what is cleared by age comes back in a text, with the next request
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the block is pinned"})
		}
	}
	switch {
	case len(ds) == 0 || !r.Bound():
		return ds, nil
	case r.Conv.OpenRound():
		return nil, fmt.Errorf("a round is open and thinking is bound: try again when the agent is done: %w", decant.ErrIllegal)
	}
	return append(ds, r.AllThinking()...), nil
}
