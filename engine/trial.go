package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// Planned is what would have been done about a request that was only observed. It is planned on top of what
// was planned for the requests before, as if that had been done: so it shows what a conversation would have
// come to, pour for pour.
type Planned struct {
	Reason    policy.Reason // why there would have been a pour, empty when there would have been none
	Route     string
	Tokens    int // of the request that would have been sent, as metered
	Decisions int // that would have been made
	Risk      int // facts that were in the view before the pour and would not have been after it
}

// A trial is what is known about an observed request beside what is known about any.
type trial struct {
	Planned
	made    []decant.Decision // by this request
	all     []decant.Decision // in force for it, these included
	before  int               // decisions of the conversation, and planned for it, when it was looked at
	noted   bool              // what was made stands in the notes of the conversation
	lacks   int               // tokens that the view would have lacked
	fresh   int               // of them, by decisions about blocks that were new
	settled int               // tokens of the view before the first change; -1: nothing before the end would have changed
}

// An observer plans what would be done about a request that is only observed.
type observer struct {
	e  *Engine
	tk *ticket
}

// try plans what would be done about a request and leaves it as it is.
func (o *observer) try(ctx context.Context) (*Prepared, error) {
	x, fault := o.shadow(ctx)
	if fault == nil {
		behind := false
		if behind, fault = x.decide(ctx); behind {
			return nil, errBehind
		}
	}
	o.tk.leaveAlone()
	p := o.tk.prepared(o.tk.dr.Query.Request.Body)
	if x == nil { // what was planned before cannot be read
		p.Fault = fault
		return p, nil
	}
	if fault != nil {
		x.dr.Outcome.Route = "none: " + fault.Error()
	}
	o.tk.trial = planned(ctx, x.dr)
	o.notePlan()
	p.Report.Plan, p.Report.Planned = x.dr.Outcome.Plan, &o.tk.trial.Planned
	return p, nil
}

// leaveAlone makes the ticket one that sends the client's own bytes, whatever was decided about them.
func (tk *ticket) leaveAlone() {
	if len(tk.dr.InForce) > 0 {
		tk.decided = -1 // what is reported will not be about the view that they make
	}
	tk.dr.Made, tk.dr.InForce, tk.dr.Withdrawn = nil, nil, nil
	tk.dr.Before, tk.dr.View = tk.dr.Query.Refs.Conv, tk.dr.Query.Refs.Conv
	tk.dr.Outcome.Before = tk.dr.Size(tk.dr.View)
	tk.dr.Outcome.After = tk.dr.Outcome.Before
}

// shadow returns an attempt at the same request under the decisions that were planned before.
func (o *observer) shadow(ctx context.Context) (*attempt, error) {
	dr := o.tk.dr
	p := *dr.Query.Match
	if p.Stored != nil {
		planned, err := o.e.plannedFor(ctx, p.Stored, p.State)
		if err != nil {
			return nil, err
		}
		s := *p.State
		s.Decisions = slices.Concat(s.Decisions, planned)
		p.State, p.Actual, p.Branch = &s, p.State, nil
	}
	x, err := o.e.replay(o.tk.req, dr.Query.Request.Who, dr.Query.Request.Prompt, &p)
	if err != nil {
		return nil, err
	}
	x.Query.Demand, x.Meter, x.Query.Model = dr.Query.Demand, dr.Meter, dr.Query.Model
	return &attempt{o.e, o.tk.req, x}, nil
}

// planned returns what the draft, a shadow, would have made of the request.
func planned(ctx context.Context, dr *draft.Draft) *trial {
	t := &trial{
		Planned: Planned{Reason: dr.Outcome.Reason, Route: dr.Outcome.Route, Tokens: dr.Outcome.After, Decisions: len(dr.Made)},
		made:    dr.Made, all: slices.Concat(dr.InForce, dr.Made), lacks: policy.LeftOut(dr.InForce, dr.Made), settled: -1,
	}
	t.fresh = max(0, t.lacks-policy.LeftOut(dr.InForce))
	if dr.Outcome.Reason != "" {
		t.fresh, t.settled = 0, max(0, dr.Size(dr.View)-behind(dr))
		t.Risk = len(fact.Check(ctx, fact.Extract(ctx, dr.Before.Messages), wire.Text(dr.View)).Missing)
	}
	if dr.Query.Match.State != nil {
		t.before = len(dr.Query.Match.State.Decisions)
	}
	return t
}

// plannedFor returns the decisions that were planned for the observed requests of a conversation.
func (e *Engine) plannedFor(ctx context.Context, l *lineage.Stored, s *store.State) ([]decant.Decision, error) {
	n := notes.Of(l)
	if ds, read := n.Plan(); read {
		return ds, nil
	}
	var all []decant.Decision
	rs, err := e.store.Requests(ctx, s.Key)
	if err != nil {
		return nil, fmt.Errorf("read what was planned for %s: %w", s.ID, err)
	}
	for i := range rs {
		ds, err := e.readPlan(ctx, s.Tenant, rs[i].Planned)
		if err != nil {
			return nil, fmt.Errorf("read what was planned for %s: %w", s.ID, err)
		}
		all = append(all, ds...)
	}
	return n.Read(all), nil
}

// readPlan returns the decisions that were planned for one request.
func (e *Engine) readPlan(ctx context.Context, tenant string, p *store.Planned) (ds []decant.Decision, err error) {
	if p == nil || p.Decisions.IsZero() {
		return nil, nil
	}
	blobs, err := e.store.Blobs(ctx, tenant, p.Decisions)
	if err != nil {
		return nil, err
	}
	return ds, json.Unmarshal(blobs[0], &ds, jsontext.AllowInvalidUTF8(true))
}

// notePlan notes what was planned for the request. What others have planned meanwhile stands. A
// request that has left the conversation, or has none yet, has its plan noted in one of its own when it is archived.
func (o *observer) notePlan() {
	if o.tk.dr.Query.Match.Stored == nil || o.tk.starts() {
		return
	}
	if o.tk.dr.Query.Match.Relation != lineage.Returns {
		o.tk.trial.noted = notes.Of(o.tk.dr.Query.Match.Stored).Extend(o.tk.trial.before-len(o.tk.dr.Query.Match.State.Decisions), o.tk.trial.made)
	}
}

// bookTrials adds what was planned for observed requests to the events of their archive.
func (a *archiver) bookTrials(fs []finished, ev *store.Events) error {
	for i := range fs {
		t := fs[i].ticket.trial
		if t == nil {
			continue
		}
		p, blob, err := t.record(i == 0 && a.tk.starts())
		if err != nil {
			return err
		}
		ev.Requests[i].Planned = p
		if blob != nil {
			ev.Blobs = append(ev.Blobs, blob)
		}
	}
	return nil
}

// record returns the plan as the store keeps it, and the blob that it refers to, nil when no decision is to be
// kept. The first request of a conversation brings all that is in force in it.
func (t *trial) record(first bool) (*store.Planned, []byte, error) {
	p := &store.Planned{Reason: string(t.Reason), Tokens: t.Tokens, Risk: t.Risk}
	var ds []decant.Decision
	switch {
	case first:
		ds = t.all
	case t.noted:
		ds = t.made
	}
	if len(ds) == 0 {
		return p, nil, nil
	}
	data, err := json.Marshal(ds, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, nil, fmt.Errorf("encode what was planned: %w", err)
	}
	p.Decisions = decant.HashBytes(data)
	return p, data, nil
}

// would returns what the request would have cost as it was planned, given what it did cost. What was read
// from the cache says how warm that was: so much of the view would have been read, as far as it would not
// have changed; the rest is divided as that of the client's own request was.
func (t *trial) would(dr *draft.Draft, u decant.Usage, terms cost.Terms) *store.Trial {
	prompt := max(0, u.Prompt()-min(u.Prompt(), dr.Scale(t.lacks)))
	read := min(prompt, max(0, u.CacheRead-dr.Scale(t.lacks-t.fresh)))
	if t.settled >= 0 {
		read = min(prompt, u.CacheRead, t.settled)
	}
	rest, own := prompt-read, u.Prompt()-u.CacheRead
	share := func(n int) int {
		if own == 0 {
			return 0
		}
		return int(float64(rest) * float64(n) / float64(own))
	}
	w := decant.Usage{CacheRead: read, CacheWrite: share(u.CacheWrite), Write1h: share(u.Write1h), Output: u.Output}
	w.Input = rest - w.CacheWrite
	return &store.Trial{Prompt: prompt, Cost: money(dr, w, terms)}
}
