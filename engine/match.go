package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/token"
)

// observe finds the request's conversation and replays what was decided about it.
func (e *Engine) observe(ctx context.Context, req *Request, who lineage.Start, r *prompt.Prompt) (*draft, error) {
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
func (e *Engine) replay(req *Request, who lineage.Start, r *prompt.Prompt, p *lineage.Match) (*draft, error) {
	dr := &draft{q: &query{
		match: p, refs: lineage.References(r, p), e: e, req: req, who: who, r: r, begun: e.opts.Now().UTC(),
		preset: req.Preset, most: e.opts.MaxBytes,
	}}
	if dr.q.preset == nil {
		dr.q.preset = e.opts.Preset
	}
	if p.Stored != nil {
		p.Stored.Saw(r, p.Known())
		dr.meter = notes.Of(p.Stored).Meter()
	}
	dr.q.model = e.model(dr.q.refs.Conv.Model, dr.meter.Window, req.Betas)
	dr.q.preset = dr.q.preset.For(dr.q.model.ReadShare(dr.q.begun))
	dr.q.est = e.sizes.estimator(dr.q.model)
	dr.q.fixed = e.sizes.fixed(dr.q.est, &dr.q.refs.Conv.Fixed)
	dr.withdrawn = e.withdrawn(p)
	dr.inForce = p.Applicable(dr.q.refs, dr.withdrawn)
	dr.keepDropping()
	v, err := decant.Replay(dr.q.refs.Conv, dr.inForce)
	if err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	dr.before, dr.view = v, v
	dr.q.known = e.accounts.Known(dr.account())
	if err := dr.suspend(); err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	dr.report = Report{Relation: string(p.Relation), Messages: len(dr.q.refs.Conv.Messages), Window: dr.q.model.Window}
	return dr, nil
}

// force takes over what a refusal of the provider demands.
func (dr *draft) force(f forced) {
	dr.q.must, dr.q.demand = f.reason, f
	if f.bytes > 0 {
		dr.q.most = min(dr.q.most, f.bytes)
	}
	if f.window > 0 {
		dr.meter.Window = f.window
		dr.q.model = dr.q.e.model(dr.q.refs.Conv.Model, f.window, dr.q.req.Betas)
		dr.report.Window = dr.q.model.Window
	}
	if f.factor > 0 {
		dr.meter.Calibration = token.Calibration{Factor: min(max(f.factor, 0.5), 2), Seen: dr.meter.Seen + 1}
	}
	if f.reason == policy.Overflow {
		dr.meter.Length = 0 // what was reported before has proved wrong
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
