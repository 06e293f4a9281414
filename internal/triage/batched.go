package triage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/rounds"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// A Batch says how a run is done in batches. It is part of its plan: later phases need not be told again.
type Batch struct {
	Most     int  `json:"most"`      // errors that are investigated; the triage pass chooses them
	PerError int  `json:"per_error"` // tokens
	PerRun   int  `json:"per_run"`   // tokens
	Thinking bool `json:"thinking"`  // see investigate.Options
}

// BatchOptions says with whom a run is done in batches. All fields are required.
type BatchOptions struct {
	Batcher      provider.Batcher
	Caller       *owncalls.Caller                                             // makes the triage pass
	Engine       *engine.Engine                                               // of the investigations
	Price        func(decant.Usage) float64                                   // dollars, in a batch
	Investigator func(c provider.Speaker, p *Batch) *investigate.Investigator // whose model is asked through c
}

// A Batched is a run whose model is asked in batches: a triage pass over all errors, then rounds in each of which every investigation has one answer.
type Batched struct {
	Run    *Run
	o      BatchOptions
	pass   *rounds.Rounds
	rounds *rounds.Rounds
}

// ErrNotBatched means that a run is not done in batches.
var ErrNotBatched = errors.New("the run is not done in batches: decant triage run --resume goes on with it")

// InBatches returns a run with its batches.
func InBatches(ctx context.Context, r *Run, o BatchOptions) (*Batched, error) {
	if r.plan.Batch == nil {
		return nil, ErrNotBatched
	}
	cause := provider.Cause{Conversation: store.Key{Tenant: r.o.Tenant, ID: r.key.ID}, Purpose: provider.ForTriage}
	of := rounds.Options{Journals: r.o.Journals, Tenant: r.o.Tenant, Batcher: o.Batcher, Payer: &ownPayer{o.Caller, cause}, Now: r.o.Now}
	b := &Batched{Run: r, o: o}
	var err error
	if b.pass, err = rounds.Open(ctx, of, r.ID()+"/pass"); err != nil {
		return nil, err
	}
	of.Payer = &enginePayer{o.Engine, o.Batcher, r.o.Tenant}
	if b.rounds, err = rounds.Open(ctx, of, r.ID()); err != nil {
		return nil, err
	}
	r.o.Investigator = o.Investigator(b.rounds, r.plan.Batch)
	b.tell()
	return b, nil
}

// Step does all that can be done now: it takes the results of a batch that has ended, goes on with the investigations, and submits what they ask next as
// one batch. It returns how far that batch is, nil when the run is done. It can be called again at any time, also after an
// error, and in another process.
func (b *Batched) Step(ctx context.Context) (*rounds.State, error) {
	if b.Run.done {
		return nil, nil
	}
	if s, err := b.passed(ctx); s != nil || err != nil {
		return s, err
	}
	s, err := b.rounds.Collect(ctx)
	if err != nil || !s.Ready {
		return s, err
	}
	err = b.Run.Work(ctx)
	b.tell()
	if ctx.Err() != nil || !errors.Is(err, provider.ErrPending) {
		return nil, err
	}
	s, fault := b.rounds.Submit(ctx, b.pace())
	return s, errors.Join(others(err), fault)
}

// pace returns how long the newest batch took.
func (b *Batched) pace() time.Duration {
	all := b.Batches()
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Took
}

// Rounds returns how many batches were sent and answered, the triage pass included.
func (b *Batched) Rounds() int { return len(b.pass.Batches()) + len(b.rounds.Batches()) }

// Batches describes the batches that were answered, the triage pass first.
func (b *Batched) Batches() []rounds.Summary { return append(b.pass.Batches(), b.rounds.Batches()...) }

// tell makes the report say which requests had to be sent again.
func (b *Batched) tell() {
	b.Run.mu.Lock()
	defer b.Run.mu.Unlock()
	b.Run.notices = nil
	for _, s := range b.Batches() {
		if len(s.Failed) > 0 {
			b.Run.notices = append(b.Run.notices, fmt.Sprintf("%d of the %d requests of batch %s had no answer (%s). They alone were sent again where that could help.", len(s.Failed), s.Requests, s.ID, strings.Join(s.Failed, "; ")))
		}
	}
}

// others returns what of an error is not provider.ErrPending.
func others(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range list.Unwrap() {
			out = append(out, others(e))
		}
		if all := errors.Join(out...); all == nil || len(out) > 1 {
			return all
		}
	}
	if errors.Is(err, provider.ErrPending) {
		return nil
	}
	return err
}

// An ownPayer books batches of own calls.
type ownPayer struct {
	caller *owncalls.Caller
	cause  provider.Cause
}

func (p *ownPayer) Submit(ctx context.Context, items []provider.BatchItem) (*provider.Batch, error) {
	return p.caller.Submit(ctx, p.cause, items)
}

func (p *ownPayer) Found(ctx context.Context, id string, items []provider.BatchItem) error {
	return p.caller.Found(ctx, p.cause, id, items)
}

func (p *ownPayer) Settle(ctx context.Context, id string, items []provider.BatchItem, results []provider.BatchResult) error {
	return p.caller.Settle(ctx, p.cause, id, items, results)
}

// An enginePayer holds money back for batches whose answers the engine books one by one, when their sessions take them.
type enginePayer struct {
	engine  *engine.Engine
	batcher provider.Batcher
	tenant  string
}

func (p *enginePayer) prepare(ctx context.Context, items []provider.BatchItem) (*engine.Batch, error) {
	r := &engine.BatchRequest{Tenant: p.tenant}
	for i := range items {
		r.Items = append(r.Items, dialect.BatchItem{ID: items[i].ID, Params: items[i].Body})
	}
	return p.engine.PrepareBatch(ctx, r)
}

func (p *enginePayer) Submit(ctx context.Context, items []provider.BatchItem) (*provider.Batch, error) {
	held, err := p.prepare(ctx, items)
	if err != nil {
		return nil, err
	}
	b, err := p.batcher.Submit(ctx, items)
	if err != nil {
		held.Drop()
		return nil, err
	}
	return b, held.BookNow(ctx, b.ID)
}

func (p *enginePayer) Found(ctx context.Context, id string, items []provider.BatchItem) error {
	held, err := p.prepare(ctx, items)
	if err != nil {
		return err
	}
	return held.BookNow(ctx, id)
}

func (p *enginePayer) Settle(ctx context.Context, id string, _ []provider.BatchItem, _ []provider.BatchResult) error {
	return p.engine.UnbookBatch(ctx, p.tenant, id)
}

// Batch says how the run is done in batches, nil: it is not.
func (r *Run) Batch() *Batch { return r.plan.Batch }

// WaitsFor reports whether the newest batch of the run has an id.
func (b *Batched) WaitsFor(id string) bool { return b.pass.Waits() == id || b.rounds.Waits() == id }
