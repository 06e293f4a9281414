// Package rounds has a model answer in batches: what many sessions ask goes out as one, and each of them goes on with its answer when the batch has
// ended, perhaps in another process and a day later.
//
// A [Rounds] is a provider.Speaker that answers provider.ErrPending until an answer is there; the run of the session then fails with it, and
// agent.Session.Continue asks the same again. All that is asked is kept (store.Journals) before it is sent, under ids of its own. So nothing is sent
// twice: where the answer to a submission was lost, the batch is looked for by these ids. And nothing is lost: what came is kept before
// anybody is told of it.
package rounds

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
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// kind is the kind of the journals of rounds.
const kind = "triage-batch"

// mostTries is how often a request is sent that failed for a reason that may pass.
const mostTries = 3

// A Payer submits batches and books what they cost: at the most that it may be until they are settled.
type Payer interface {
	Submit(ctx context.Context, items []provider.BatchItem) (*provider.Batch, error)
	Found(ctx context.Context, id string, items []provider.BatchItem) error
	Settle(ctx context.Context, id string, items []provider.BatchItem, results []provider.BatchResult) error
}

// Options configures Rounds. All fields but Tenant and Now are required.
type Options struct {
	Journals store.Journals
	Tenant   string
	Batcher  provider.Batcher
	Payer    Payer
	Now      func() time.Time // nil: time.Now
}

// Rounds are the batches of one run. It is safe for concurrent use.
type Rounds struct {
	o   Options
	key store.Key

	mu      sync.Mutex
	length  int
	newest  map[string]*request // of each session
	waiting []*request          // that nobody has sent, in the order in which they were asked
	open    *asked              // the newest batch, nil: its results are kept
	batches []Summary
	broken  error // why nothing can be kept
}

// A request is what a session asks.
type request struct {
	ID      string         `json:"id"` // by which the batch knows it
	Session string         `json:"session"`
	History string         `json:"history"` // hash of what was said when it was asked
	Body    jsontext.Value `json:"body"`
	Betas   []string       `json:"betas,omitempty"`
	Tries   int            `json:"tries"` // this one included

	came *result
}

// A result is what came of a request.
type result struct {
	ID      string                `json:"id"`
	Outcome provider.BatchOutcome `json:"outcome"`
	Why     string                `json:"why,omitzero"`
	Failure *failure              `json:"failure,omitzero"`
	Text    string                `json:"text,omitzero"`
	Content jsontext.Value        `json:"content,omitzero"`
	Calls   int                   `json:"calls,omitzero"`
	Stop    string                `json:"stop,omitzero"`
	Model   string                `json:"model,omitzero"`
	Usage   decant.Usage          `json:"usage,omitzero"`
}

// A failure is a provider.Failure as it is kept.
type failure struct {
	Status  int    `json:"status"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Refused bool   `json:"refused,omitzero"`
}

// asked is requests that are one batch.
type asked struct {
	Time     time.Time  `json:"time"`
	Requests []*request `json:"requests"`
	Batch    string     `json:"batch,omitzero"` // its id at the provider; empty: nobody knows whether the provider has it
}

// A step is one entry in the journal. One of its fields is set.
type step struct {
	Asked   *asked    `json:"asked,omitzero"`
	Made    string    `json:"made,omitzero"` // the id of the batch that was asked for last
	Results []*result `json:"results,omitempty"`
	Time    time.Time `json:"time,omitzero"` // of Results
}

// A Summary describes a batch.
type Summary struct {
	ID       string
	Asked    time.Time
	Took     time.Duration // until its results were fetched
	Requests int
	Failed   []string // why requests have failed, one for each
}

// Open opens the rounds of a run, which may have none yet.
func Open(ctx context.Context, o Options, run string) (*Rounds, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Rounds{o: o, key: store.Key{Tenant: o.Tenant, ID: kind + "/" + run}, newest: map[string]*request{}}
	steps, err := o.Journals.Steps(ctx, r.key, 0, 0)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the batches of run %s: %w", run, err)
	}
	for _, b := range steps {
		var s step
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("read the batches of run %s: step %d: %w", run, r.length+1, err)
		}
		r.take(&s)
		r.length++
	}
	return r, nil
}

// Speak implements provider.Speaker: the answer to what the session of ctx asks, or provider.ErrPending.
func (r *Rounds) Speak(ctx context.Context, t *provider.Turn, _ func(provider.Delta)) (*provider.Answer, error) {
	s := agent.SessionOf(ctx)
	if s == nil {
		return nil, errors.New("rounds: there is no session that asks")
	}
	h := sha256.New()
	for _, m := range s.Messages() {
		fmt.Fprintf(h, "%d\n", len(m))
		h.Write(m)
	}
	return r.Ask(s.ID(), hex.EncodeToString(h.Sum(nil)[:16]), t)
}

// Ask returns the answer to what is asked in a session with a history, or provider.ErrPending. A request that the provider refuses is asked in
// no other batch; one with another body is.
func (r *Rounds) Ask(session, history string, t *provider.Turn) (*provider.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.newest[session]
	switch {
	case q == nil || q.History != history:
	case q.came == nil:
		return nil, provider.ErrPending
	case q.came.Outcome != provider.BatchSucceeded:
		if bytes.Equal(q.Body, t.Body) || !q.came.refused() {
			return nil, q.came.err()
		}
	case q.came.Stop == "compaction" && bytes.Contains(t.Body, []byte(`"type":"compaction"`)): // the model goes on behind its summary
	default:
		return q.came.answer(), nil
	}
	q = &request{Session: session, History: history, Body: bytes.Clone(t.Body), Betas: t.Betas, Tries: 1}
	r.newest[session] = q
	r.waiting = append(r.waiting, q)
	return nil, provider.ErrPending
}

func (a *result) answer() *provider.Answer {
	return &provider.Answer{Text: a.Text, Content: a.Content, Calls: a.Calls, Stop: a.Stop, Model: a.Model, Usage: a.Usage, Batch: true, Item: a.ID}
}

func (a *result) refused() bool { return a.Failure != nil && a.Failure.Refused }

// err returns why there is no answer.
func (a *result) err() error {
	if a.Failure != nil && a.Failure.Refused {
		return fmt.Errorf("%w: %w", provider.ErrGivenUp, &provider.Failure{Status: a.Failure.Status, Kind: a.Failure.Kind, Message: a.Failure.Message, Refused: true})
	}
	return fmt.Errorf("%w: it was tried %d times, and the last time %s", provider.ErrGivenUp, mostTries, a.Why)
}

// take changes the rounds by a step.
func (r *Rounds) take(s *step) {
	if s.Asked != nil {
		r.open = s.Asked
		for _, q := range s.Asked.Requests {
			r.newest[q.Session] = q
		}
		r.waiting = nil
	}
	if s.Made != "" && r.open != nil {
		r.open.Batch = s.Made
	}
	if len(s.Results) > 0 && r.open != nil {
		r.came(s.Results, s.Time)
	}
}

// came takes the results of the open batch. What has failed for a reason that may pass waits for the next one.
func (r *Rounds) came(all []*result, at time.Time) {
	sum := Summary{ID: r.open.Batch, Asked: r.open.Time, Took: at.Sub(r.open.Time), Requests: len(r.open.Requests)}
	for _, q := range r.open.Requests {
		for _, a := range all {
			if a.ID == q.ID {
				q.came = a
			}
		}
		if q.came == nil || q.came.Outcome == provider.BatchSucceeded {
			continue
		}
		sum.Failed = append(sum.Failed, q.came.Why)
		if !q.came.refused() && q.Tries < mostTries {
			again := *q
			again.came, again.ID, again.Tries = nil, "", q.Tries+1
			r.newest[q.Session] = &again
			r.waiting = append(r.waiting, &again)
		}
	}
	r.batches, r.open = append(r.batches, sum), nil
}

// write keeps a step, and takes it then.
func (r *Rounds) write(ctx context.Context, s *step) error {
	if r.broken != nil {
		return r.broken
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = r.o.Journals.AddSteps(ctx, &store.Addition{Key: r.key, Length: r.length, Kind: kind, Time: r.o.Now(), Steps: [][]byte{b}})
	}
	if err != nil {
		r.broken = fmt.Errorf("the batches of the run cannot be kept: %w", err)
		return r.broken
	}
	r.take(s)
	r.length++
	return nil
}

// Batches describes the batches whose results are kept.
func (r *Rounds) Batches() []Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Summary(nil), r.batches...)
}

// Waits returns the id of the batch that is waited for; empty: there is none, or nobody knows it.
func (r *Rounds) Waits() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return ""
	}
	return r.open.Batch
}
