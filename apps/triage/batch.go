package triage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/provider"
)

// Conditions of batches that callers branch on. Test with errors.Is.
var (
	// ErrPending means that an answer comes later: its request waits for a batch, or is in one. Asking again later makes no second request.
	ErrPending = errors.New("the answer comes with a batch")

	// ErrNoBatches means that the account has no client that makes batches.
	ErrNoBatches = errors.New("this provider has no batches that Decant knows")
)

// A Batch says how a run is done in batches. It is part of the run's plan, so later steps need no flags.
type Batch struct {
	MaxErrors int  `json:"max_errors"` // errors that are investigated; the triage pass chooses them
	PerError  int  `json:"per_error"`  // tokens
	PerRun    int  `json:"per_run"`    // tokens
	Thinking  bool `json:"thinking"`   // see investigate.Options
}

// A batchedRun is a run whose model calls go out in batches: first a triage pass over all errors, then one batch for the
// next question of every investigation, and so on.
type batchedRun struct {
	*Run
	calls *batchQueue
}

// InBatches reports whether the run is done in batches.
func (r *Run) InBatches() bool { return r.plan.Batch != nil }

// WaitingBatch returns the id of the oldest run in batches that is not done, or whose findings were not delivered; empty:
// there is none.
func WaitingBatch(ctx context.Context, o Options) (id string, err error) {
	all, err := Runs(ctx, o, 1000)
	for _, r := range all { // the newest first
		if r.Batched && (!r.Done || r.Owes) {
			id = r.Run
		}
	}
	return id, err
}

// Advance does what can be done now. A run in batches asks b and returns the state of the batch that it waits for, nil once
// the run is done: each call reads the results of a batch that has ended, continues the investigations, and submits their
// next questions. Any other run is worked on to its end. Advance may be called again at any time, after an error and in
// another process, too. ErrNoBatches means that a run in batches has no b.
func (r *Run) Advance(ctx context.Context, b provider.Batcher) (*BatchState, error) {
	switch {
	case !r.InBatches():
		return nil, r.Work(ctx)
	case r.done:
		return nil, nil
	case b == nil:
		return nil, ErrNoBatches
	}
	run, err := r.inBatches(ctx, b)
	if err != nil {
		return nil, err
	}
	return run.step(ctx)
}

// inBatches returns a run whose plan has a Batch, with a queue for its calls.
func (r *Run) inBatches(ctx context.Context, b provider.Batcher) (*batchedRun, error) {
	limits := r.plan.Batch
	calls, err := openQueue(ctx, r.o, b, r.ID())
	if err != nil {
		return nil, err
	}
	r.o.Investigator = r.o.Investigator.With(calls, investigate.Limits{PerError: limits.PerError, PerRun: limits.PerRun, Thinking: limits.Thinking})
	out := &batchedRun{r, calls}
	out.noteFailures()
	return out, nil
}

// step does what can be done now: see Advance.
func (b *batchedRun) step(ctx context.Context) (*BatchState, error) {
	s, err := b.calls.collect(ctx)
	if err != nil || !s.Ready {
		return s, err
	}
	if b.pass == nil {
		err = b.assess(ctx)
	}
	if err == nil {
		err = b.Work(ctx)
	}
	b.noteFailures()
	if ctx.Err() != nil || !errors.Is(err, ErrPending) {
		return nil, err
	}
	s, fault := b.calls.submit(ctx, b.pace())
	return s, errors.Join(notPending(err), fault)
}

// pace returns how long the newest batch took.
func (b *batchedRun) pace() time.Duration {
	all := b.calls.ended()
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Took
}

// noteFailures lists in the report which requests had to be sent again.
func (b *batchedRun) noteFailures() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notices = nil
	for _, s := range b.calls.ended() {
		if len(s.Failed) > 0 {
			b.notices = append(b.notices, fmt.Sprintf("%d of the %d requests of batch %s failed (%s). They alone were sent again if that could help.",
				len(s.Failed), s.Requests, s.ID, strings.Join(s.Failed, "; ")))
		}
	}
}

// notPending returns an error without its parts that are ErrPending.
func notPending(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range list.Unwrap() {
			out = append(out, notPending(e))
		}
		if all := errors.Join(out...); all == nil || len(out) > 1 {
			return all
		}
	}
	if errors.Is(err, ErrPending) {
		return nil
	}
	return err
}
