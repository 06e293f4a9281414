package plan

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/refs"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Request is what a client has sent, as far as decisions depend on it.
type Request struct {
	Who      match.Start
	Prompt   *match.Prompt
	Body     []byte    // as the client sent it
	Betas    []string  // that it asks for
	Upstream string    // base URL of the provider that it goes to
	Begun    time.Time // when it came
	Count    bool      // only its size is asked for
	Observed bool      // nothing is changed
	Project  string    // what it is about, when the client says
	Focus    string    // what somebody wants a record to be about; the summariser is told

	Summarizer policy.Summarizer // writes records for it, nil: they are extractive
	Recall     Recall            // nil: nothing is recalled
	Asker      provider.Asker    // asks its provider for summaries, nil: none is asked for

	Budgets []budget.Budget // that it falls under
	Own     int             // how many of them, at their end, came with it
}

// A Recall returns what a model is told of earlier conversations, as a counter counts it; empty: nothing.
type Recall func(context.Context, decant.Counter) (string, error)

// A Query is one request at its place in a conversation, with what is settled before anything is decided about it.
type Input struct {
	Env     *Env
	Request *Request
	Match   *match.Match
	Refs    *refs.Map

	Model     token.Model
	Estimator *token.Estimator
	Fixed     int       // tokens of system prompt and tools
	Known     Knowledge // of the account that the request is for
	Demand    Demand    // what a refusal of the provider demands

	MaxBytes int // bytes that the body may have
	Preset   *preset.Preset
	Limits   policy.Limits
	Pressed  bool      // a budget is nearly spent
	Warmed   time.Time // when a call of ours used last what the request before has left in the cache; zero: none did
	GoesOn   bool      // who sends the request goes on where the model pauses behind a summary
}

// An Env is what decisions about a request need besides it.
type Env struct {
	IDs                              *store.IDs
	Now                              func() time.Time
	Model                            func(id, upstream string, learned int, betas []string) token.Model // a model as the engine's options and the provider have it, with a window that was learned and betas
	DropBlock, NoEarlyPours          bool                                                               // see engine.Options
	OptionalTimeout, RequiredTimeout time.Duration
}

// Switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used, as far as a request tells.
func (q *Input) Switched() bool {
	if q.Match.State == nil || q.Match.State.Head.Model == "" {
		return false
	}
	h := &q.Match.State.Head
	return h.Fixed != q.Refs.Conv.Fixed.Version || h.Model != q.Refs.Conv.Model && q.Env.Model(h.Model, q.Request.Upstream, 0, nil).ID != q.Model.ID
}

// AsksForClearing reports whether the request asks the provider to leave out some of it.
func (q *Input) AsksForClearing() bool {
	return q.Request.Prompt.Dialect.Edits(q.Request.Prompt.Doc) == dialect.Clearing
}

// AsksForEditing reports whether the client itself asks the provider to change the context in a way that leaves no room
// for a clearing of ours: for its own clearing, or for a compaction, which goes with no editing at all.
func (q *Input) AsksForEditing() bool {
	return q.Request.Prompt.Dialect.Edits(q.Request.Prompt.Doc) != dialect.NoEdits
}

// Editable reports whether the provider can be asked to clear old results of this conversation at all.
func (q *Input) Editable() bool {
	p := q.Request.Prompt
	d, ok := p.Dialect.(dialect.Clearer)
	if !ok || q.Model.Provider != p.Dialect.About().Provider || !q.Model.Editing || q.Known.Says(TopicEditing(q.Model.ID), q.Env.Now()) != "" {
		return false
	}
	return d.Clears(p.Doc, q.Refs.Conv)
}

// Compactable reports whether the provider can be asked for a summary in this conversation, and a request can carry it:
// the model knows it, the account is not known to refuse it, and the request asks for nothing that excludes it.
func (q *Input) Compactable() bool {
	p := q.Request.Prompt
	d, ok := p.Dialect.(dialect.Compacter)
	return ok && q.Model.Provider == p.Dialect.About().Provider && q.Model.OnDemand &&
		q.Known.Says(TopicCompaction(q.Model.ID), q.Env.Now()) == "" && d.Compacts(p.Doc)
}

// Checkpoints returns the number of the newest checkpoint, revoked ones included.
func (q *Input) Checkpoints() int {
	n := 0
	if q.Match.State != nil {
		for _, cp := range q.Match.State.Checkpoints() {
			n = max(n, cp.Number)
		}
	}
	return n
}

// RefOf returns the transcript reference of the i-th block of the spine.
func (q *Input) RefOf(i int) decant.Ref {
	at := q.Request.Prompt.At(i)
	if q.Refs.Same {
		return at.Ref
	}
	return q.Refs.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
}
