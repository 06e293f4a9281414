package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/provider"
)

// observe finds the request's conversation and replays what was decided about it.
func (a *arrival) observe(ctx context.Context) (*plan.Draft, error) {
	p, err := a.match(ctx)
	if err != nil {
		return nil, err
	}
	return a.replay(p)
}

// match finds the conversation of a request. One that plainly goes on with what is stored need not wait for what is still
// to be archived. Any other may have its own beginning there, what became of the tail that it lacks, or how it ended
// itself when it was sent before. Archives that have ended since the store was asked count as well.
func (a *arrival) match(ctx context.Context) (*match.Match, error) {
	under, apart := a.e.outbox.Under(a.who, a.prompt)
	p, err := a.lookFor(ctx)
	if err == nil && (apart || p.Relation != match.Continues || p.Repeats()) && (a.archived(ctx) || under) {
		p, err = a.lookFor(ctx)
	}
	return p, err
}

// lookFor finds the conversation of a request, within its patience.
func (a *arrival) lookFor(ctx context.Context) (*match.Match, error) {
	ctx, cancel := a.e.patience.Optional(ctx)
	defer cancel()
	return a.e.finder.Find(ctx, a.who, a.prompt)
}

// archived waits until what is to be archived of a conversation is stored, and reports whether anything was. A
// store that hangs costs a request no more than its patience.
func (a *arrival) archived(ctx context.Context) bool {
	ctx, cancel := a.e.patience.Waiting(ctx)
	defer cancel()
	return a.e.outbox.Wait(ctx, a.who)
}

// replay builds the view of a request under the decisions that are in force at its place.
func (a *arrival) replay(p *match.Match) (*plan.Draft, error) {
	e, q := a.e, a.query(p)
	var meter plan.Meter
	if p.Stored != nil {
		if !a.req.Count {
			q.Warmed = e.behind.warm.Came(p.Stored.Key)
		}
		p.Stored.Saw(a.prompt, p.Known())
		meter = plan.CachedOf(p.Stored).Meter()
	}
	q.Model = e.model(q.Refs.Conv.Model, a.req.Upstream, meter.Window, a.req.Betas)
	q.Preset = cmp.Or(a.req.Preset, e.opts.Preset).For(q.Model.ReadShare(q.Request.Begun))
	if a.req.Sealed > 0 {
		q.Preset = q.Preset.Sealed(a.req.Sealed)
	}
	q.Estimator = e.sizes.For(q.Model)
	q.Fixed = e.sizes.Fixed(q.Estimator, &q.Refs.Conv.Fixed)
	q.Known = e.accounts.Known(q.Account(&meter))
	dr, err := plan.NewDraft(q, meter, withdrawn(&e.env, p))
	if err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	return dr, nil
}

// query returns the request at its place.
func (a *arrival) query(p *match.Match) *plan.Input {
	return &plan.Input{
		Env: &a.e.env, Match: p, Refs: match.References(a.prompt, p), MaxBytes: a.e.opts.MaxBytes, GoesOn: a.req.Pauses,
		Request: &plan.Request{
			Who: a.who, Prompt: a.prompt, Begun: a.e.opts.Now().UTC(), Project: a.req.Project,
			Body: a.req.Body, Betas: a.req.Betas, Upstream: a.req.Upstream, Count: a.req.Count, Observed: a.observed(),
			Summarizer: a.writer, Asker: a.asker, Recall: a.recall(), Budgets: a.e.till.of(a.req.Budgets), Own: len(a.req.Budgets),
		},
	}
}

// recall returns how it is found out what the model is told of earlier conversations, nil for nothing.
func (a *arrival) recall() plan.Recall {
	if a.e.opts.Models.Recall == nil || a.req.Project == "" || a.observed() {
		return nil
	}
	return func(ctx context.Context, c decant.Counter) (string, error) {
		return a.e.opts.Models.Recall(ctx, a.req.Tenant, a.req.Project, c)
	}
}

// withdrawn returns decisions that take back the pours which were made for a tail that the request
// replaces: it may need none. What people have decided meanwhile stays.
func withdrawn(env *plan.Env, p *match.Match) (out []decant.Decision) {
	if p.Branch == nil || p.Relation != match.Replaces {
		return nil
	}
	behind := make(map[string]bool, len(p.Branch.Behind))
	for _, id := range p.Branch.Behind {
		behind[id] = true
	}
	for _, d := range decant.InForce(p.State.Decisions) {
		if d.Pour == "" || !behind[d.ID] {
			continue
		}
		id, _ := env.IDs.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: env.Now().UTC(), Reason: "it was made for a request that was not answered and is no more",
		})
	}
	return out
}

// An arrival is a request that has come, as it was read.
type arrival struct {
	e      *Engine
	req    *Request
	who    match.Start
	prompt *match.Prompt
	writer policy.Summarizer  // of records, nil where nothing of ours is sent
	asker  provider.Asker     // for summaries of the provider's, nil where nothing of ours is sent
	marks  *plan.AddedMarkers // cache markers of ours, nil where none are for us to add
}

// arrive returns the arrival of a request that was read. It has the session that its metadata names.
func (e *Engine) arrive(req *Request, r *match.Prompt) *arrival {
	if req.Session == "" {
		if session := r.Dialect.Session(r.Doc); session != "" {
			named := *req
			named.Session = session
			req = &named
		}
	}
	who := match.Start{Tenant: req.Tenant, Session: req.Session}
	if len(r.Spine) > 0 {
		who.First = r.Hash(0)
	}
	a := &arrival{e: e, req: req, who: who, prompt: r}
	if !req.Count && !a.observed() {
		a.writer, a.asker = policy.Once(e.opts.Models.Summarizer), plan.AskOnce(e.opts.Models.Asker) // however often the request is prepared
	}
	return a
}

// observed reports whether the request is only recorded and planned for.
func (a *arrival) observed() bool { return a.e.opts.mode(a.req) == Observe }
