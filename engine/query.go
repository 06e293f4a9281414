package engine

import (
	"bytes"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/refs"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A request is what a client has sent, as far as decisions depend on it.
type request struct {
	Who      lineage.Start
	Prompt   *prompt.Prompt
	Body     []byte    // as the client sent it
	Betas    []string  // that it asks for
	Upstream string    // base URL of the provider that it goes to
	Begun    time.Time // when it came
	Count    bool      // only its size is asked for
	Observed bool      // nothing is changed
}

// A query is one request at its place in a conversation, with what is settled before anything is decided about it.
type query struct {
	env   *env
	req   *request
	match *lineage.Match
	refs  *refs.Map

	model  token.Model
	est    *token.Estimator
	fixed  int               // tokens of system prompt and tools
	known  account.Knowledge // of the account that the request is for
	demand forced            // what a refusal of the provider demands

	most    int // bytes that the body may have
	preset  *preset.Preset
	limits  policy.Limits
	pressed bool // a budget is nearly spent
}

// An env is what decisions about a request need besides it.
type env struct {
	IDs                              *store.IDs
	Now                              func() time.Time
	Model                            func(id string, learned int, betas []string) token.Model // see Engine.model
	DropBlock, NoEarlyPours          bool                                                     // see Options
	OptionalTimeout, RequiredTimeout time.Duration
}

// switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used, as far as a request tells.
func (q *query) switched() bool {
	if q.match.State == nil || q.match.State.Head.Model == "" {
		return false
	}
	h := &q.match.State.Head
	return h.Fixed != q.refs.Conv.Fixed.Version || h.Model != q.refs.Conv.Model && q.env.Model(h.Model, 0, nil).ID != q.model.ID
}

// mismatch returns what the client wants to happen to thinking that does not fit, empty when it does not say.
func (q *query) mismatch() string {
	at := q.req.Prompt.Doc.Member("thinking")
	if at.IsZero() {
		return ""
	}
	return anthropic.MismatchOf(at.Of(q.req.Body))
}

// cleared reports whether the request asks the provider to leave out some of it.
func (q *query) cleared() bool {
	edits := q.req.Prompt.Doc.Member("context_management")
	return !edits.IsZero() && (bytes.Contains(edits.Of(q.req.Body), []byte("clear_tool_uses")) || bytes.Contains(edits.Of(q.req.Body), []byte("compact")))
}

// asks reports whether the client itself asks the provider to change the context in a way that leaves no room
// for a clearing of ours: for its own clearing, or for a compaction, which goes with no editing at all.
func (q *query) asks() bool {
	return q.cleared() || !q.req.Prompt.Doc.Member("compaction").IsZero()
}

// editable reports whether the provider can be asked to clear old results of this conversation at all.
func (q *query) editable() bool {
	if q.model.Provider != token.Anthropic || !q.model.Editing || q.known.Says(account.Editing(q.model.ID), q.env.Now()) != "" {
		return false
	}
	var tools []byte
	if at := q.req.Prompt.Doc.Member("tools"); !at.IsZero() {
		tools = at.Of(q.req.Body)
	}
	return q.req.Prompt.Doc.Member("mcp_servers").IsZero() && anthropic.Editable(q.req.Body, tools) && !anthropic.Served(q.refs.Conv)
}

// checkpoints returns the number of the newest checkpoint, revoked ones included.
func (q *query) checkpoints() int {
	n := 0
	if q.match.State != nil {
		for _, cp := range q.match.State.Checkpoints() {
			n = max(n, cp.Number)
		}
	}
	return n
}

// refOf returns the transcript reference of the i-th block of the spine.
func (q *query) refOf(i int) decant.Ref {
	at := q.req.Prompt.At(i)
	if q.refs.Same {
		return at.Ref
	}
	return q.refs.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
}
