package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/archive"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
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

// Preview returns what a pour of a conversation would do now: the one that is due (see policy.Due), or would be if the
// conversation were not on hold; else one that brings the view down to the size that every pour aims at. It
// returns an error that wraps decant.ErrNothing when the view has that size, or when less would go than a pour
// has to free (see policy.Worth).
func (e *Engine) Preview(ctx context.Context, k store.Key) (*Change, error) {
	a, err := e.reopen(ctx, k)
	if err != nil {
		return nil, err
	}
	if a.q.limits, err = policy.LimitsFor(a.q.model, a.q.preset, a.q.fixed, a.q.refs.Conv.MaxOutput); err != nil {
		return nil, err
	}
	a.report.Before = a.size(a.view)
	if why := a.due(); why != "" {
		err = a.pour(ctx, why)
	}
	if err == nil && len(a.made) == 0 {
		err = a.offer(ctx)
	}
	if err != nil {
		return nil, err
	}
	if len(a.made) == 0 {
		return nil, fmt.Errorf("plan a pour of %s: %w", k.ID, decant.ErrNothing)
	}
	return a.change("a pour now, by the route "+a.report.Route, a.q.match.State.Head.Hold), nil
}

// due returns why a pour would be due were the conversation neither on hold nor poured in vain before.
func (dr *draft) due() policy.Reason {
	s := dr.situation()
	s.Hold, s.Suppressed = false, false
	return policy.Due(s)
}

// offer makes a pour that is not due: one that brings the view down to the size that every pour aims at, if that
// is worth it. It gives nothing up that only a pour which must happen may give up.
func (dr *draft) offer(ctx context.Context) error {
	target := dr.targets(policy.Necessary)[0]
	if dr.q.est.Messages(dr.view.Messages) <= target {
		return nil
	}
	id, err := dr.q.e.ids.Next()
	if err != nil {
		return err
	}
	dr.group = policy.PourMark + id
	defer func() { dr.group = "" }()
	for _, rt := range dr.routes(policy.Necessary) {
		if rt.name != folding.name && dr.attemptRoute(ctx, rt, target, policy.Necessary) == nil {
			dr.report.Reason, dr.report.Route = policy.Necessary, rt.name
			return nil
		}
	}
	return nil
}

// Undo returns the change that takes back the newest pour: its decisions are revoked, thinking that
// was written on top of it is dropped where the model binds it, and the conversation is put on hold,
// so that it is not poured again until it is released or its window leaves no choice.
//
// It returns an error that wraps decant.ErrNothing when there is no pour, and one that wraps
// decant.ErrIllegal while the model has still to answer to results and its thinking is bound.
func (e *Engine) Undo(ctx context.Context, k store.Key) (*Change, error) {
	a, err := e.reopen(ctx, k)
	if err != nil {
		return nil, err
	}
	ds := revocations(a.q.match.State.Decisions)
	if len(ds) == 0 {
		return nil, fmt.Errorf("undo a pour of %s: %w", k.ID, decant.ErrNothing)
	}
	if back, ok := a.undoClearing(ds); ok {
		ds = back
	} else if a.bound() {
		if a.q.refs.Conv.OpenRound() {
			return nil, fmt.Errorf("undo a pour of %s while a round is open and thinking is bound: try again when the agent is done: %w", k.ID, decant.ErrIllegal)
		}
		at, err := e.entriesAt(ctx, a.q.match.State, ds[0].Revokes)
		if err != nil {
			return nil, err
		}
		ds = append(ds, a.thinkingBehind(at)...)
	}
	if !a.q.match.State.Head.Hold {
		ds = append(ds, decant.Decision{Kind: decant.Hold, Reduction: "undo", Reason: "the newest pour was taken back"})
	}
	if err := a.revise(ds); err != nil {
		return nil, err
	}
	return a.change("take back the newest pour and hold", true), nil
}

// Release returns the change that ends a hold. It returns an error that wraps decant.ErrNothing when
// the conversation is not on hold.
func (e *Engine) Release(ctx context.Context, k store.Key) (*Change, error) {
	a, err := e.reopen(ctx, k)
	if err != nil {
		return nil, err
	}
	var ds []decant.Decision
	for _, d := range decant.InForce(a.q.match.State.Decisions) {
		if d.Kind == decant.Hold {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the hold is over"})
		}
	}
	if len(ds) == 0 && !a.q.match.State.Head.Hold {
		return nil, fmt.Errorf("release %s, which is not on hold: %w", k.ID, decant.ErrNothing)
	}
	if err := a.revise(ds); err != nil {
		return nil, err
	}
	return a.change("end the hold", false), nil
}

// Pin returns the change that keeps a block verbatim in every later view, or with on false no longer.
// A block that was replaced before comes back.
func (e *Engine) Pin(ctx context.Context, k store.Key, ref decant.Ref, on bool) (*Change, error) {
	a, err := e.reopen(ctx, k)
	if err != nil {
		return nil, err
	}
	b := a.q.refs.Conv.Block(ref)
	if b == nil {
		return nil, fmt.Errorf("pin block %d of m%d of %s: %w", ref.Block, ref.Message, k.ID, store.ErrNotFound)
	}
	d := decant.Decision{Kind: decant.Pin, Reason: "pinned", Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash())}
	if !on {
		d.Kind, d.Reason = decant.Unpin, "no longer pinned"
	}
	ds := []decant.Decision{d}
	if on {
		back, err := a.bringBack(ref)
		if err != nil {
			return nil, fmt.Errorf("pin block %d of m%d of %s: %w", ref.Block, ref.Message, k.ID, err)
		}
		ds = append(ds, back...)
	}
	if err := a.revise(ds); err != nil {
		return nil, err
	}
	return a.change(d.Reason, a.q.match.State.Head.Hold), nil
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

// bringBack returns the decisions that make a block verbatim again; none when it is, or when a
// checkpoint covers it. Thinking that is bound to the view without it goes.
func (dr *draft) bringBack(ref decant.Ref) (ds []decant.Decision, err error) {
	for _, d := range decant.InForce(dr.q.match.State.Decisions) {
		if d.Kind.Edits() && d.Kind != decant.Native && d.Target.Ref == ref { // what is cleared by age comes back in a text, with the next request
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the block is pinned"})
		}
	}
	switch {
	case len(ds) == 0 || !dr.bound():
		return ds, nil
	case dr.q.refs.Conv.OpenRound():
		return nil, fmt.Errorf("a round is open and thinking is bound: try again when the agent is done: %w", decant.ErrIllegal)
	}
	return append(ds, dr.allThinking()...), nil
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
func (e *Engine) reopen(ctx context.Context, k store.Key) (*draft, error) {
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
	r, err := prompt.Read(body, e.seed, nil)
	if err != nil {
		return nil, err
	}
	m := notes.Recall(ctx, e.store, s)
	l := lineage.NewStored(s, notes.New(m))
	req := &Request{Tenant: k.Tenant, Session: s.Session, Body: body}
	if m.Million {
		req.Betas = []string{token.BetaMillion}
	}
	n, _ := l.Shared(r)
	return e.replay(req, lineage.Start{Tenant: k.Tenant, Session: s.Session}, r, lineage.Locate(l, s, r, n))
}

// revise makes decisions that take others back. The view is the one that the next request will have: what
// an undone decision had taken the place of is in force again.
func (dr *draft) revise(ds []decant.Decision) error {
	if len(ds) == 0 {
		return nil
	}
	if err := dr.name(ds); err != nil {
		return err
	}
	dr.made = append(dr.made[:len(dr.made):len(dr.made)], ds...)
	v, err := decant.Replay(dr.q.refs.Conv, dr.afterwards())
	if err != nil {
		return fmt.Errorf("apply decisions: %w", err)
	}
	dr.view = v
	return nil
}

// afterwards returns the decisions that are in force once those of the draft are stored.
func (dr *draft) afterwards() []decant.Decision { return dr.q.match.Applicable(dr.q.refs, dr.made) }

// weighed returns the tokens of the messages of a view, all of them estimated: so every view is metered that
// is another one than was reported about.
func (dr *draft) weighed(view *decant.Conversation) int {
	return dr.scale(dr.estimate(view, decant.Ref{}))
}

// change returns what the draft has made as a change, with its price.
func (dr *draft) change(reason string, hold bool) *Change {
	now := dr.q.e.opts.Now()
	before, after := dr.weighed(dr.before), dr.weighed(dr.view)
	p := &decant.Plan{
		Base: dr.q.refs.Conv.Hash(), Model: dr.q.model.ID, Window: dr.q.model.Window, Target: dr.q.limits.Target, Reason: reason,
		Decisions: dr.made, Score: 1,
		Before: decant.Size{Fixed: dr.q.fixed, Messages: before}, After: decant.Size{Fixed: dr.q.fixed, Messages: after},
	}
	if dr.report.Plan != nil {
		p.Score, p.Risk = dr.report.Plan.Score, dr.report.Plan.Risk
	}
	c := cost.Change{Prompt: dr.q.fixed + before, Freed: policy.LeftOut(dr.afterwards()) - policy.LeftOut(dr.inForce), Behind: dr.behind()}
	asked := dr.meter.Client.Life()
	life := dr.meter.Belief.Life(asked)
	c.Hour, c.Plain, c.Cold = asked > 5*time.Minute, life == 0, now.Sub(dr.meter.Client.At) > life
	price, ok := c.Price(dr.q.model, now)
	if !ok {
		price.CostUSD, price.SaveUSD = 0, 0
	}
	p.Price = price
	return &Change{Key: dr.q.match.Stored.Key, Version: dr.q.match.State.Version, Plan: p, Hold: hold, Pinned: dr.q.match.State.Head.Pinned}
}

// behind returns the tokens of the view from the first block on that is different from before: what
// the provider's cache has to be written anew.
func (dr *draft) behind() int {
	n := min(len(dr.before.Messages), len(dr.view.Messages))
	for i := range n {
		if !slices.EqualFunc(dr.before.Messages[i].Blocks, dr.view.Messages[i].Blocks, alike) {
			return dr.weighed(dr.view.With(dr.view.Messages[i:]))
		}
	}
	return dr.weighed(dr.view.With(dr.view.Messages[n:]))
}

func alike(x, y decant.Block) bool {
	return x.Ref == y.Ref && x.Kind == y.Kind && x.Changed == y.Changed
}

// revocations returns the decisions that take back the newest pour among ds, none when there is no
// pour in force.
func revocations(ds []decant.Decision) []decant.Decision {
	ds = decant.InForce(ds)
	group := ""
	var out []decant.Decision
	for _, d := range slices.Backward(ds) {
		g, _, _ := strings.Cut(d.ID, ".")
		if !strings.HasPrefix(g, policy.PourMark) || group != "" && g != group {
			continue
		}
		group = g
		out = append(out, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "undo of " + string(d.Kind)})
	}
	slices.Reverse(out)
	return out
}

// entriesAt returns how many entries the conversation had when a decision was made.
func (e *Engine) entriesAt(ctx context.Context, s *store.State, id string) (int, error) {
	lo, hi := int64(1), s.Version
	length := len(s.Chain)
	for lo < hi {
		mid := (lo + hi) / 2
		then, err := e.store.Load(ctx, s.Key, mid)
		if err != nil {
			return 0, fmt.Errorf("load version %d: %w", mid, err)
		}
		if slices.ContainsFunc(then.Decisions, func(d decant.Decision) bool { return d.ID == id }) {
			hi, length = mid, len(then.Chain)
		} else {
			lo = mid + 1
		}
	}
	return length, nil
}

// thinkingBehind returns decisions that drop the thinking behind the first n entries of the chain.
func (dr *draft) thinkingBehind(n int) []decant.Decision {
	var last decant.Ref
	if n > 0 {
		last = dr.q.match.State.Chain[n-1].Ref
	}
	return slices.DeleteFunc(dr.allThinking(), func(d decant.Decision) bool { return !d.Target.Ref.After(last) })
}
