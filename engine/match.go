package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/token"
)

// match finds the conversation of a request. One that plainly goes on with what is stored need not wait for what is still
// to be archived. Any other may have its own beginning there, what became of the tail that it lacks, or how it ended
// itself when it was sent before. Archives that have ended since the store was asked count as well.
func (e *Engine) match(ctx context.Context, who lineage.Start, r *prompt.Prompt) (*lineage.Match, error) {
	under, apart := e.outbox.Under(who, r)
	p, err := e.lookFor(ctx, who, r)
	if err == nil && (apart || p.Relation != lineage.Continues || p.Repeats()) && (e.archived(ctx, who) || under) {
		p, err = e.lookFor(ctx, who, r)
	}
	return p, err
}

// lookFor finds the conversation of a request, within its patience.
func (e *Engine) lookFor(ctx context.Context, who lineage.Start, r *prompt.Prompt) (*lineage.Match, error) {
	ctx, cancel := e.optional(ctx)
	defer cancel()
	return e.finder.Find(ctx, who, r)
}

// archived waits until what is to be archived of a conversation is stored, and reports whether anything was. A
// store that hangs costs a request no more than its patience.
func (e *Engine) archived(ctx context.Context, who lineage.Start) bool {
	ctx, cancel := e.waiting(ctx)
	defer cancel()
	return e.outbox.Wait(ctx, who)
}

// replay builds the view of a request under the decisions that are in force at its place.
func (e *Engine) replay(req *Request, who lineage.Start, r *prompt.Prompt, p *lineage.Match) (*draft.Draft, error) {
	q := e.query(req, who, r, p)
	var meter notes.Meter
	if p.Stored != nil {
		p.Stored.Saw(r, p.Known())
		meter = notes.Of(p.Stored).Meter()
	}
	q.Model = e.model(q.Refs.Conv.Model, meter.Window, req.Betas)
	q.Preset = cmp.Or(req.Preset, e.opts.Preset).For(q.Model.ReadShare(q.Request.Begun))
	q.Estimator = e.sizes.For(q.Model)
	q.Fixed = e.sizes.Fixed(q.Estimator, &q.Refs.Conv.Fixed)
	q.Known = e.accounts.Known(q.Account(&meter))
	dr, err := draft.New(q, meter, withdrawn(&e.env, p))
	if err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	return dr, nil
}

// query returns a request at its place.
func (e *Engine) query(req *Request, who lineage.Start, r *prompt.Prompt, p *lineage.Match) *draft.Query {
	return &draft.Query{
		Env: &e.env, Match: p, Refs: lineage.References(r, p), MaxBytes: e.opts.MaxBytes,
		Request: &draft.Request{
			Who: who, Prompt: r, Begun: e.opts.Now().UTC(),
			Body: req.Body, Betas: req.Betas, Upstream: req.Upstream, Count: req.Count, Observed: e.mode(req) == Observe,
		},
	}
}

// model looks a model up for a request that asks for betas. A window that the options name replaces the
// catalogue's; a smaller one that the provider has named in a refusal counts in any case.
func (e *Engine) model(id string, learned int, betas []string) token.Model {
	m, _ := e.opts.Catalog.Lookup(id)
	m = m.For(betas)
	if e.opts.Window > 0 {
		m.Window, m.Assumed = e.opts.Window, false
	}
	if learned > 0 {
		m.Window, m.Assumed = min(m.Window, learned), false
	}
	return m
}
