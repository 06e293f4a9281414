package triage

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

// clockSkew is how far the provider's clock may be behind.
const clockSkew = 10 * time.Minute

// A BatchState describes the newest batch of a run.
type BatchState struct {
	Batch   string // id; empty: there is none, or it is not known yet
	Ready   bool   // no batch is under way
	Asked   time.Time
	Expires time.Time // zero: not known
	Note    string    // why the batch cannot be read yet
}

// cacheLife is how long a batch may take so that the next one still finds its prompts in the provider's cache, which
// lasts an hour.
const cacheLife = 50 * time.Minute

// longMarker is how an agent asks the provider to cache for an hour. Inside of texts its quotes are escaped.
const longMarker = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`

// submit writes the waiting questions to the journal and sends them as one batch. pace is how long the newest batch
// took: if the cache would expire before the next one, nothing is written to it, which would double the price.
func (q *batchQueue) submit(ctx context.Context, pace time.Duration) (*BatchState, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open != nil || len(q.waiting) == 0 {
		return &BatchState{Ready: q.open == nil}, nil
	}
	b := &sentBatch{Time: q.now().UTC(), Requests: q.waiting}
	for _, one := range b.Requests {
		one.ID = "decant-" + rand.Text()
		if pace > cacheLife {
			one.Body = bytes.ReplaceAll(one.Body, []byte(longMarker), nil)
		}
	}
	if err := q.write(ctx, &batchStep{Asked: b}); err != nil {
		return nil, err
	}
	return q.send(ctx)
}

// send submits the open batch, which the provider does not have.
func (q *batchQueue) send(ctx context.Context) (*BatchState, error) {
	var items []provider.BatchItem
	for _, one := range q.open.Requests {
		items = append(items, provider.BatchItem{ID: one.ID, Body: one.Body, Betas: one.Betas})
	}
	b, err := q.provider.Submit(ctx, items)
	if b == nil {
		return nil, fmt.Errorf("submit a batch of %d requests: %w", len(items), err)
	}
	if fault := q.write(context.WithoutCancel(ctx), &batchStep{Made: b.ID}); fault != nil {
		return nil, errors.Join(err, fault)
	}
	return &BatchState{Batch: b.ID, Asked: q.open.Time, Expires: b.Expires}, err
}

// collect reads the results of the open batch into the journal if it has ended. A batch that is not ready is no error.
func (q *batchQueue) collect(ctx context.Context) (*BatchState, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		return &BatchState{Ready: true}, nil
	}
	if q.open.Batch == "" {
		if s, err := q.find(ctx); s != nil || err != nil {
			return s, err
		}
	}
	b, err := q.provider.Batch(ctx, q.open.Batch)
	if err != nil {
		return nil, fmt.Errorf("look at batch %s: %w", q.open.Batch, err)
	}
	s := &BatchState{Batch: b.ID, Asked: q.open.Time, Expires: b.Expires}
	if !b.Ended {
		return s, nil
	}
	got, err := q.provider.Results(ctx, b.ID)
	if err != nil {
		return nil, fmt.Errorf("results of batch %s: %w", b.ID, err)
	}
	s.Ready = true
	return s, q.write(ctx, &batchStep{Results: q.results(got), Time: q.now().UTC()})
}

// results returns the outcome of each question of the open batch. One that the provider does not mention has failed.
func (q *batchQueue) results(got []provider.BatchResult) (out []*batchResult) {
	by := map[string]*provider.BatchResult{}
	for i := range got {
		by[got[i].ID] = &got[i]
	}
	for _, one := range q.open.Requests {
		g := by[one.ID]
		if g == nil {
			out = append(out, &batchResult{ID: one.ID, Outcome: provider.BatchErrored, Why: "the provider returned no result for it"})
			continue
		}
		r := &batchResult{ID: one.ID, Outcome: g.Outcome}
		if a := g.Answer; a != nil {
			r.Text, r.Content, r.Calls, r.Stop, r.Model, r.Usage = a.Text, a.Content, a.Calls, a.Stop, a.Model, a.Usage
		}
		if g.Err != nil {
			r.Why = secret.Mask(g.Err.Error())
			if g.Outcome == provider.BatchSucceeded {
				r.Outcome = provider.BatchErrored
			}
			if f, ok := errors.AsType[*provider.Failure](g.Err); ok {
				r.Failure = &batchFailure{f.Status, f.Kind, f.Message, f.Refused}
			}
		}
		out = append(out, r)
	}
	return out
}

// find looks for the open batch, whose submission got no answer, and submits it if the provider does not have it. A
// state means that this is not known yet: another batch of as many requests is under way, and only results name ids.
func (q *batchQueue) find(ctx context.Context) (*BatchState, error) {
	list, err := q.provider.Batches(ctx, q.open.Time.Add(-clockSkew))
	if err != nil {
		return nil, fmt.Errorf("look whether the provider has the batch: %w", err)
	}
	for i := range list {
		b := &list[i]
		if b.Requests != len(q.open.Requests) || q.knows(b.ID) {
			continue
		}
		if !b.Ended {
			note := fmt.Sprintf("batch %s may be the one whose submission got no answer; its results will tell", b.ID)
			return &BatchState{Asked: q.open.Time, Expires: b.Expires, Note: note}, nil
		}
		ours, err := q.has(ctx, b.ID)
		if err != nil {
			return nil, err
		}
		if ours {
			return nil, q.write(ctx, &batchStep{Made: b.ID})
		}
	}
	return q.send(ctx)
}

// knows reports whether a batch is an earlier one of the run.
func (q *batchQueue) knows(id string) bool {
	for i := range q.batches {
		if q.batches[i].ID == id {
			return true
		}
	}
	return false
}

// has reports whether a batch that has ended is the open one.
func (q *batchQueue) has(ctx context.Context, id string) (bool, error) {
	got, err := q.provider.Results(ctx, id)
	if err != nil {
		return false, fmt.Errorf("results of batch %s: %w", id, err)
	}
	for i := range got {
		for _, one := range q.open.Requests {
			if got[i].ID == one.ID {
				return true, nil
			}
		}
	}
	return false, nil
}
