package rounds

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
)

// skew is how far the clock of a provider may be behind.
const skew = 10 * time.Minute

// A State says how far the newest batch is.
type State struct {
	Batch   string // id; empty: there is none, or it is not known yet
	Ready   bool   // nothing is under way: what was asked is answered, or waits to be sent
	Asked   time.Time
	Expires time.Time // zero: not known
	Note    string    // what keeps it
}

// cacheLife is how long a round may take so that the next one still finds in the provider's cache what this one has written there, which
// lasts an hour.
const cacheLife = 50 * time.Minute

// longMarker is how agents mark what the provider is to keep for an hour. In texts the quotes would be escaped.
const longMarker = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`

// Submit sends what waits as one batch. Before that it is kept. Nothing waits: it does nothing. pace is how long the newest batch took: where the
// cache would not last so long nothing is written into it, which costs twice as much as not to.
func (r *Rounds) Submit(ctx context.Context, pace time.Duration) (*State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open != nil || len(r.waiting) == 0 {
		return &State{Ready: r.open == nil}, nil
	}
	a := &asked{Time: r.o.Now().UTC(), Requests: r.waiting}
	for _, q := range a.Requests {
		q.ID = "decant-" + rand.Text()
		if pace > cacheLife {
			q.Body = bytes.ReplaceAll(q.Body, []byte(longMarker), nil)
		}
	}
	if err := r.write(ctx, &step{Asked: a}); err != nil {
		return nil, err
	}
	return r.send(ctx)
}

// send submits the open batch. Nobody else has it.
func (r *Rounds) send(ctx context.Context) (*State, error) {
	b, err := r.o.Payer.Submit(ctx, r.items())
	if b == nil {
		return nil, fmt.Errorf("submit a batch of %d requests (decant triage collect tries again, and looks first whether the provider has it): %w", len(r.open.Requests), err)
	}
	if fault := r.write(context.WithoutCancel(ctx), &step{Made: b.ID}); fault != nil {
		return nil, errors.Join(err, fault)
	}
	return &State{Batch: b.ID, Asked: r.open.Time, Expires: b.Expires}, err
}

// items returns the requests of the open batch.
func (r *Rounds) items() (out []provider.BatchItem) {
	for _, q := range r.open.Requests {
		out = append(out, provider.BatchItem{ID: q.ID, Body: q.Body, Betas: q.Betas})
	}
	return out
}

// Collect looks at the newest batch and keeps its results where it has ended. That it has not is no error.
func (r *Rounds) Collect(ctx context.Context) (*State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return &State{Ready: true}, nil
	}
	if r.open.Batch == "" {
		if s, err := r.find(ctx); s != nil || err != nil {
			return s, err
		}
	}
	b, err := r.o.Batcher.Batch(ctx, r.open.Batch)
	if err != nil {
		return nil, fmt.Errorf("look at batch %s: %w", r.open.Batch, err)
	}
	s := &State{Batch: b.ID, Asked: r.open.Time, Expires: b.Expires}
	if !b.Ended {
		return s, nil
	}
	got, err := r.o.Batcher.Results(ctx, b.ID)
	if err != nil {
		return nil, fmt.Errorf("results of batch %s: %w", b.ID, err)
	}
	if err := r.o.Payer.Settle(ctx, b.ID, r.items(), got); err != nil {
		return nil, err
	}
	s.Ready = true
	return s, r.write(ctx, &step{Results: r.results(got), Time: r.o.Now().UTC()})
}

// results returns what became of each request of the open batch. One of which the provider says nothing has failed.
func (r *Rounds) results(got []provider.BatchResult) (out []*result) {
	by := map[string]*provider.BatchResult{}
	for i := range got {
		by[got[i].ID] = &got[i]
	}
	for _, q := range r.open.Requests {
		g := by[q.ID]
		if g == nil {
			out = append(out, &result{ID: q.ID, Outcome: provider.BatchErrored, Why: "the provider says nothing of it"})
			continue
		}
		x := &result{ID: q.ID, Outcome: g.Outcome}
		if a := g.Answer; a != nil {
			x.Text, x.Content, x.Calls, x.Stop, x.Model, x.Usage = a.Text, a.Content, a.Calls, a.Stop, a.Model, a.Usage
		}
		if g.Err != nil {
			x.Why = secret.Mask(g.Err.Error())
			if g.Outcome == provider.BatchSucceeded {
				x.Outcome = provider.BatchErrored
			}
			if f, ok := errors.AsType[*provider.Failure](g.Err); ok {
				x.Failure = &failure{f.Status, f.Kind, f.Message, f.Refused}
			}
		}
		out = append(out, x)
	}
	return out
}

// find looks for the open batch, of which nobody knows whether the provider has it, and submits it where it has not. A state says that this
// cannot be told yet: a batch of as many requests is being worked on, and only the results of a batch name its requests.
func (r *Rounds) find(ctx context.Context) (*State, error) {
	list, err := r.o.Batcher.Batches(ctx, r.open.Time.Add(-skew))
	if err != nil {
		return nil, fmt.Errorf("look whether the provider has the batch: %w", err)
	}
	for i := range list {
		b := &list[i]
		if b.Requests != len(r.open.Requests) || r.knows(b.ID) {
			continue
		}
		if !b.Ended {
			return &State{Asked: r.open.Time, Expires: b.Expires, Note: fmt.Sprintf("batch %s may be the one whose submission got no answer; when it has ended its results tell", b.ID)}, nil
		}
		ours, err := r.has(ctx, b.ID)
		if err != nil {
			return nil, err
		}
		if ours {
			if err := r.o.Payer.Found(ctx, b.ID, r.items()); err != nil {
				return nil, err
			}
			return nil, r.write(ctx, &step{Made: b.ID})
		}
	}
	return r.send(ctx)
}

// knows reports whether a batch is an earlier one of the run.
func (r *Rounds) knows(id string) bool {
	for i := range r.batches {
		if r.batches[i].ID == id {
			return true
		}
	}
	return false
}

// has reports whether a batch that has ended is the open one.
func (r *Rounds) has(ctx context.Context, id string) (bool, error) {
	got, err := r.o.Batcher.Results(ctx, id)
	if err != nil {
		return false, fmt.Errorf("results of batch %s: %w", id, err)
	}
	for i := range got {
		for _, q := range r.open.Requests {
			if got[i].ID == q.ID {
				return true, nil
			}
		}
	}
	return false, nil
}
