package triage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// batchKind is the kind of the journals of batches.
const batchKind = "triage-batch"

// maxTries is how often a request is sent that failed for a reason that may pass.
const maxTries = 3

// A batchQueue sends the questions of many agent sessions to a provider as batches. As a provider.Speaker it answers
// ErrPending until a batch has the answer. The session's run then ends with that error, and Continue asks the
// same question again, perhaps in another process and a day later.
//
// Each question is written to a journal, under a random id, before it is sent, so none is sent twice: after a lost
// response the queue finds its batch at the provider by those ids. Results are written before a session sees them.
// It is safe for concurrent use.
type batchQueue struct {
	journals store.Journals
	key      store.Key // of the journal
	provider provider.Batcher
	now      func() time.Time

	mu      sync.Mutex
	length  int                  // of the journal
	newest  map[string]*question // by session
	waiting []*question          // not sent yet, in the order in which they were asked
	open    *sentBatch           // the newest batch; nil: its results are in the journal
	batches []batchSummary
	broken  error // why the journal cannot be written
}

// A question is one request of a session.
type question struct {
	ID      string         `json:"id"` // in its batch
	Session string         `json:"session"`
	History string         `json:"history"` // hash of the session's messages when it asked
	Body    jsontext.Value `json:"body"`
	Betas   []string       `json:"betas,omitempty"`
	Tries   int            `json:"tries"` // including this one

	result *batchResult
}

// A batchResult is the outcome of one question as the journal keeps it.
type batchResult struct {
	ID      string                `json:"id"`
	Outcome provider.BatchOutcome `json:"outcome"`
	Why     string                `json:"why,omitzero"`
	Failure *batchFailure         `json:"failure,omitzero"`
	Text    string                `json:"text,omitzero"`
	Content jsontext.Value        `json:"content,omitzero"`
	Calls   int                   `json:"calls,omitzero"`
	Stop    string                `json:"stop,omitzero"`
	Model   string                `json:"model,omitzero"`
	Usage   decant.Usage          `json:"usage,omitzero"`
}

// A batchFailure is a provider.Failure as the journal keeps it.
type batchFailure struct {
	Status  int    `json:"status"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Refused bool   `json:"refused,omitzero"`
}

// A sentBatch is the questions of one batch.
type sentBatch struct {
	Time     time.Time   `json:"time"`
	Requests []*question `json:"requests"`
	Batch    string      `json:"batch,omitzero"` // its id at the provider; empty: it is unknown whether the provider has it
}

// A batchStep is one entry of the journal. One of its fields is set.
type batchStep struct {
	Asked   *sentBatch     `json:"asked,omitzero"`
	Made    string         `json:"made,omitzero"` // the provider's id of the newest batch
	Results []*batchResult `json:"results,omitempty"`
	Time    time.Time      `json:"time,omitzero"` // of Results
}

// A batchSummary describes a batch that has ended.
type batchSummary struct {
	ID       string
	Took     time.Duration // until its results were fetched
	Requests int
	Failed   []string // one reason per failed request
}

// openQueue opens the queue of a run. A run that has not sent a batch yet has an empty one.
func openQueue(ctx context.Context, o Options, p provider.Batcher, run string) (*batchQueue, error) {
	q := &batchQueue{journals: o.Journals, provider: p, now: o.Now, newest: map[string]*question{}}
	q.key = store.Key{Tenant: o.Tenant, ID: batchKind + "/" + run}
	if q.now == nil {
		q.now = time.Now
	}
	steps, err := o.Journals.Steps(ctx, q.key, 0, 0)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the batches of run %s: %w", run, err)
	}
	for _, b := range steps {
		var s batchStep
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("read the batches of run %s: step %d: %w", run, q.length+1, err)
		}
		q.apply(&s)
		q.length++
	}
	return q, nil
}

// Speak implements provider.Speaker. It returns the answer to the question of the session in ctx, or ErrPending.
func (q *batchQueue) Speak(ctx context.Context, t *provider.Turn, _ func(provider.Delta)) (*provider.Answer, error) {
	s := agent.SessionOf(ctx)
	if s == nil {
		return nil, errors.New("only a session can ask in batches")
	}
	h := sha256.New()
	for _, m := range s.Messages() {
		fmt.Fprintf(h, "%d\n", len(m))
		h.Write(m)
	}
	return q.ask(s.ID(), hex.EncodeToString(h.Sum(nil)[:16]), t)
}

// ask returns the answer to a session's question, or ErrPending. A question that the provider refused is asked
// again only with another body.
func (q *batchQueue) ask(session, history string, t *provider.Turn) (*provider.Answer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := q.newest[session]
	switch {
	case last == nil || last.History != history:
	case last.result == nil:
		return nil, ErrPending
	case last.result.Outcome != provider.BatchSucceeded:
		if bytes.Equal(last.Body, t.Body) || !last.result.refused() {
			return nil, last.result.err()
		}
	case last.result.Stop == "compaction" && bytes.Contains(t.Body, []byte(`"type":"compaction"`)):
		// The model has compacted, and now continues after its summary: that is a new question on the same history.
	default:
		return last.result.answer(), nil
	}
	next := &question{Session: session, History: history, Body: bytes.Clone(t.Body), Betas: t.Betas, Tries: 1}
	q.newest[session] = next
	q.waiting = append(q.waiting, next)
	return nil, ErrPending
}

func (r *batchResult) answer() *provider.Answer {
	return &provider.Answer{Text: r.Text, Content: r.Content, Calls: r.Calls, Stop: r.Stop, Model: r.Model, Usage: r.Usage,
		Batch: true, Item: r.ID}
}

func (r *batchResult) refused() bool { return r.Failure != nil && r.Failure.Refused }

// err returns why there is no answer.
func (r *batchResult) err() error {
	if f := r.Failure; r.refused() {
		why := &provider.Failure{Status: f.Status, Kind: f.Kind, Message: f.Message, Refused: true}
		return fmt.Errorf("%w: %w", investigate.ErrGivenUp, why)
	}
	return fmt.Errorf("%w after %d tries: %s", investigate.ErrGivenUp, maxTries, r.Why)
}

// apply changes the queue by a step of the journal.
func (q *batchQueue) apply(s *batchStep) {
	if s.Asked != nil {
		q.open = s.Asked
		for _, one := range s.Asked.Requests {
			q.newest[one.Session] = one
		}
		q.waiting = nil
	}
	if s.Made != "" && q.open != nil {
		q.open.Batch = s.Made
	}
	if len(s.Results) > 0 && q.open != nil {
		q.close(s.Results, s.Time)
	}
}

// close ends the open batch with its results. What failed for a reason that may pass waits for the next batch.
func (q *batchQueue) close(results []*batchResult, at time.Time) {
	sum := batchSummary{ID: q.open.Batch, Took: at.Sub(q.open.Time), Requests: len(q.open.Requests)}
	for _, one := range q.open.Requests {
		for _, r := range results {
			if r.ID == one.ID {
				one.result = r
			}
		}
		if one.result == nil || one.result.Outcome == provider.BatchSucceeded {
			continue
		}
		sum.Failed = append(sum.Failed, one.result.Why)
		if !one.result.refused() && one.Tries < maxTries {
			again := *one
			again.result, again.ID, again.Tries = nil, "", one.Tries+1
			q.newest[one.Session] = &again
			q.waiting = append(q.waiting, &again)
		}
	}
	q.batches, q.open = append(q.batches, sum), nil
}

// write appends a step to the journal, then applies it.
func (q *batchQueue) write(ctx context.Context, s *batchStep) error {
	if q.broken != nil {
		return q.broken
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = q.journals.AddSteps(ctx, &store.Addition{Key: q.key, Length: q.length, Kind: batchKind, Time: q.now(), Steps: [][]byte{b}})
	}
	if err != nil {
		q.broken = fmt.Errorf("the batches of the run cannot be written: %w", err)
		return q.broken
	}
	q.apply(s)
	q.length++
	return nil
}

// ended describes the batches whose results are in the journal.
func (q *batchQueue) ended() []batchSummary {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]batchSummary(nil), q.batches...)
}
