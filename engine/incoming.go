package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
)

// match finds the conversation of a request. One that plainly goes on with what is stored need not wait for what is
// still to be archived. Any other may have its own beginning there, what became of the tail that it lacks, or how it
// ended itself when it was sent before. Archives that have ended since the store was asked count as well.
func (a *incoming) match(ctx context.Context) (*match.Match, error) {
	under, apart := a.e.queue.Under(a.start, a.prompt)
	p, err := a.lookFor(ctx)
	if err == nil && (apart || p.Relation != match.Continues || p.Repeats()) && (a.archived(ctx) || under) {
		p, err = a.lookFor(ctx)
	}
	return p, err
}

// lookFor finds the conversation of a request, within the time that the request may wait.
func (a *incoming) lookFor(ctx context.Context) (*match.Match, error) {
	ctx, cancel := a.e.deadlines.Optional(ctx)
	defer cancel()
	return a.e.finder.Find(ctx, a.start, a.prompt)
}

// archived waits until what is to be archived of a conversation is stored, and reports whether anything was. A
// store that hangs costs a request no more than the time that it may wait.
func (a *incoming) archived(ctx context.Context) bool {
	ctx, cancel := a.e.deadlines.ForStore(ctx)
	defer cancel()
	return a.e.queue.Wait(ctx, a.start)
}

// replay builds the view of a request at its place, under the decisions that are in force there.
func (a *incoming) replay(m *match.Match, f plan.Demand) (*plan.Draft, error) {
	var meter plan.Meter
	if m.Stored != nil {
		m.Stored.Saw(a.prompt, m.Known())
		meter = plan.CachedOf(m.Stored).Meter()
	}
	f.Adjust(&meter)
	in, set := a.input(m, &meter, f)
	dr, err := plan.NewDraft(in, set, meter, a.e.settings.Withdrawals(m))
	if err != nil {
		return nil, fmt.Errorf("replay decisions: %w", err)
	}
	return dr, nil
}

// input returns the request at its place, and the preset that applies there.
func (a *incoming) input(m *match.Match, meter *plan.Meter, f plan.Demand) (*plan.Input, *preset.Preset) {
	e, req := a.e, a.req
	in := (&plan.Input{
		Settings: &e.settings,
		Start:    a.start, Prompt: a.prompt, Begun: e.opts.Now().UTC(), Project: req.Project, Focus: a.focus, Continues: req.Pauses,
		Body: req.Body, Betas: req.Betas, Upstream: req.Upstream, Count: req.Count, Observed: a.observed(),
		Summarizer: a.writer, Asker: a.asker, Recall: a.recall(), Budgets: e.budgets(req.Budgets), Own: len(req.Budgets),
		Demand: f, MaxBytes: e.opts.MaxBytes,
	}).At(m)
	if f.Bytes > 0 {
		in.MaxBytes = min(in.MaxBytes, f.Bytes)
	}
	if m.Stored != nil && !req.Count {
		in.Warmed = e.warmer.Came(m.Stored.Key)
	}
	in.Model = e.model(in.Conv.Model, req.Upstream, meter.Window, req.Betas)
	set := cmp.Or(req.Preset, e.opts.Preset).For(in.Model.ReadShare(in.Begun))
	if req.Sealed > 0 {
		set = sealed(set, req.Sealed)
	}
	if in.KeepsThinking() {
		set = set.Without(decant.ReductionThinking)
	}
	in.Estimator = e.sizes.For(in.Model)
	in.Fixed = e.sizes.Fixed(in.Estimator, &in.Conv.Fixed)
	in.Known = e.accounts.Known(in.Account(meter, set))
	return in, set
}

// recall returns how it is found out what the model is told of earlier conversations, nil for nothing.
func (a *incoming) recall() plan.Recall {
	models := &a.e.opts.Models
	if models.Recall == nil || a.req.Project == "" || a.observed() {
		return nil
	}
	return func(ctx context.Context, c decant.Counter) (string, error) {
		return models.Recall(ctx, a.req.Tenant, a.req.Project, c)
	}
}

// An incoming is a request that has come, as it was read.
type incoming struct {
	e      *Engine
	req    *Request
	start  match.Start
	prompt *match.Prompt
	writer provider.Summarizer // of records, nil where nothing of ours is sent
	asker  owncalls.Asker      // for summaries of the provider's, nil where nothing of ours is sent
	focus  string              // see plan.Input
	marks  *plan.AddedMarkers  // cache markers of ours, nil where none are for us to add
}

// arrive returns the incoming of a request that was read. It has the session that its metadata names.
func (e *Engine) arrive(req *Request, r *match.Prompt) *incoming {
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
	a := &incoming{e: e, req: req, start: who, prompt: r}
	if !req.Count && !a.observed() {
		a.writer, a.asker = policy.Once(e.opts.Models.Summarizer), plan.AskOnce(e.opts.Models.Asker) // however often the request is prepared
	}
	return a
}

// observed reports whether the request is only recorded and planned for.
func (a *incoming) observed() bool { return a.e.opts.mode(a.req) == Observe }

// sealed returns a preset for a request that shall go out as what was sent before, with more behind it: nothing is
// poured unless the window, as far as the preset uses it, has no room for an answer of so many tokens.
func sealed(p *preset.Preset, answer int) *preset.Preset {
	out := *p
	out.Trigger.Tokens, out.Trigger.Reserve = 0, answer
	out.EarlyPours = preset.EarlyPours{Level: "off"}
	out.Prune = preset.PruneAtPours
	out.Native.Editing, out.Native.Compaction = preset.Editing{}, preset.Compaction{}
	return &out
}
