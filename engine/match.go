package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/prompt"
)

// observe finds the request's conversation and replays what was decided about it.
func (e *Engine) observe(ctx context.Context, req *Request, who lineage.Start, r *prompt.Prompt) (*draft.Draft, error) {
	p, err := e.match(ctx, who, r)
	if err != nil {
		return nil, err
	}
	return e.replay(req, who, r, p)
}

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
	ctx, cancel := e.patience.Optional(ctx)
	defer cancel()
	return e.finder.Find(ctx, who, r)
}

// archived waits until what is to be archived of a conversation is stored, and reports whether anything was. A
// store that hangs costs a request no more than its patience.
func (e *Engine) archived(ctx context.Context, who lineage.Start) bool {
	ctx, cancel := e.patience.Waiting(ctx)
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
			Project: req.Project, Budgets: e.budgets(req), Own: len(req.Budgets),
		},
	}
}

// withdrawn returns decisions that take back the pours which were made for a tail that the request
// replaces: it may need none. What people have decided meanwhile stays.
func withdrawn(env *draft.Env, p *lineage.Match) (out []decant.Decision) {
	if p.Branch == nil || p.Relation != lineage.Replaces {
		return nil
	}
	for _, d := range decant.InForce(p.State.Decisions) {
		if d.Pour == "" || !slices.Contains(p.Branch.Behind, d.ID) {
			continue
		}
		id, _ := env.IDs.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: env.Now().UTC(), Reason: "it was made for a request that was not answered and is no more",
		})
	}
	return out
}
