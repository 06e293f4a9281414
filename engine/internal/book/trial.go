package book

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// A Trial is what is known about an observed request beside what is known about any.
type Trial struct {
	Reason policy.Reason // why there would have been a pour, empty when there would have been none
	Route  string
	Tokens int // of the request that would have been sent, as metered
	Risk   int // facts that were in the view before the pour and would not have been after it

	Made    []decant.Decision // by this request
	All     []decant.Decision // in force for it, these included
	Before  int               // decisions of the conversation, and planned for it, when it was looked at
	Noted   bool              // what was made stands in the notes of the conversation
	lacks   int               // tokens that the view would have lacked
	fresh   int               // of them, by decisions about blocks that were new
	settled int               // tokens of the view before the first change; -1: nothing before the end would have changed
}

// Record returns the plan as the store keeps it, and the blob that it refers to, nil when no decision is to be
// kept. The first request of a conversation brings all that is in force in it.
func (t *Trial) Record(first bool) (*store.Planned, []byte, error) {
	p := &store.Planned{Reason: string(t.Reason), Tokens: t.Tokens, Risk: t.Risk}
	var ds []decant.Decision
	switch {
	case first:
		ds = t.All
	case t.Noted:
		ds = t.Made
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

// Would returns what the request would have cost as it was planned, given what it did cost. What was read
// from the cache says how warm that was: so much of the view would have been read, as far as it would not
// have changed; the rest is divided as that of the client's own request was.
func (t *Trial) Would(dr *plan.Draft, u decant.Usage, terms cost.Terms) *store.Trial {
	prompt := max(0, u.Prompt()-min(u.Prompt(), dr.Meter.Scale(t.lacks)))
	read := min(prompt, max(0, u.CacheRead-dr.Meter.Scale(t.lacks-t.fresh)))
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
	return &store.Trial{Prompt: prompt, Cost: dr.Price(w, terms)}
}

// Planned returns what the draft, a shadow, would have made of the request.
func Planned(ctx context.Context, dr *plan.Draft) *Trial {
	t := &Trial{
		Reason: dr.Outcome.Reason, Route: dr.Outcome.Route, Tokens: dr.Outcome.After,
		Made: dr.Made, All: slices.Concat(dr.InForce, dr.Made), lacks: policy.LeftOut(dr.InForce, dr.Made), settled: -1,
	}
	t.fresh = max(0, t.lacks-policy.LeftOut(dr.InForce))
	if dr.Outcome.Reason != "" {
		t.fresh, t.settled = 0, max(0, dr.Size(dr.View)-dr.Behind())
		t.Risk = len(fact.Check(ctx, fact.Extract(ctx, dr.Before.Messages), wire.Text(dr.View)).Missing)
	}
	if dr.Match.State != nil {
		t.Before = len(dr.Match.State.Decisions)
	}
	return t
}
