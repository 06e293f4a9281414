package plan

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Recall returns what a model is told of earlier conversations, as a counter counts it; empty: nothing.
type Recall func(context.Context, decant.Counter) (string, error)

// An Input is a request at its place in its conversation, with all that is settled before anything is decided about it.
// It is never changed: drafts share it.
type Input struct {
	*Settings

	// What the client has sent.
	Start     match.Start
	Prompt    *match.Prompt
	Body      []byte    // as the client sent it
	Betas     []string  // that it asks for
	Upstream  string    // base URL of the provider that it goes to
	Begun     time.Time // when it came
	Count     bool      // only its size is asked for
	Observed  bool      // nothing is changed
	Focus     string    // what somebody wants a record to be about; the summariser is told
	Project   string    // what it is about, when the client says
	Continues bool      // who sends it continues where the model pauses behind a summary

	// What it may use.
	Summarizer provider.Summarizer // writes records for it, nil: they are extractive
	Recall     Recall              // nil: nothing is recalled
	Asker      owncalls.Asker      // asks its provider for summaries, nil: none is asked for
	Budgets    []budget.Budget     // that it falls under
	Own        int                 // how many of them, at their end, came with it

	// Its place.
	Match *match.Match
	Refs  *archive.References
	Conv  *decant.Conversation // the request in transcript references

	// What it goes to.
	Model     token.Model
	Estimator *token.Estimator
	Fixed     int       // tokens of system prompt and tools
	Known     Knowledge // of the account that the request is for
	Demand    Demand    // what a refusal of the provider demands
	MaxBytes  int       // bytes that the body may have
	Warmed    time.Time // when a call of ours used last what the request before has left in the cache; zero: none did
}

// Settings are the engine's, the same for all requests.
type Settings struct {
	IDs                     *store.IDs
	Now                     func() time.Time
	LookupModel             func(id, upstream string, learned int, betas []string) token.Model // a model as the engine's options and the provider have it, with a window that was learned and betas
	DropBlock, NoEarlyPours bool                                                               // see engine.Options

	OptionalTimeout, RequiredTimeout time.Duration
}

// WithOwnMatch returns the same request with a match of its own, which whoever has it may bring up to date.
func (in *Input) WithOwnMatch() *Input {
	out, m := *in, *in.Match
	out.Match = &m
	return &out
}

// At returns the same request at another place.
func (in *Input) At(m *match.Match) *Input {
	out := *in
	out.Match, out.Refs = m, match.References(in.Prompt, m)
	out.Conv = out.Refs.Conv
	return &out
}

// Switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used, as far as a request tells.
func (in *Input) Switched() bool {
	s := in.Match.State
	if s == nil || s.Head.Model == "" {
		return false
	}
	h := &s.Head
	return h.Fixed != in.Conv.Fixed.Version || h.Model != in.Conv.Model && in.LookupModel(h.Model, in.Upstream, 0, nil).ID != in.Model.ID
}

// AsksForClearing reports whether the request asks the provider to leave out some of it.
func (in *Input) AsksForClearing() bool {
	return in.Prompt.Dialect.Edits(in.Prompt.Doc) == dialect.Clearing
}

// AsksForEditing reports whether the client itself asks the provider to change the context in a way that leaves no room
// for a clearing of ours: for its own clearing, or for a compaction, which goes with no editing at all.
func (in *Input) AsksForEditing() bool {
	return in.Prompt.Dialect.Edits(in.Prompt.Doc) != dialect.NoEdits
}

// Editable reports whether the provider can be asked to clear old results of this conversation at all.
func (in *Input) Editable() bool {
	p := in.Prompt
	d, ok := p.Dialect.(dialect.Clearer)
	if !ok || in.Model.Provider != p.Dialect.About().Provider || !in.Model.Editing || in.Known.Says(TopicEditing(in.Model.ID), in.Now()) != "" {
		return false
	}
	return d.Clears(p.Doc, in.Conv)
}

// Compactable reports whether the provider can be asked for a summary in this conversation, and a request can carry it:
// the model knows it, the account is not known to refuse it, and the request asks for nothing that excludes it.
func (in *Input) Compactable() bool {
	p := in.Prompt
	d, ok := p.Dialect.(dialect.Compacter)
	return ok && in.Model.Provider == p.Dialect.About().Provider && in.Model.OnDemand &&
		in.Known.Says(TopicCompaction(in.Model.ID), in.Now()) == "" && d.Compacts(p.Doc)
}

// Checkpoints returns the number of the newest checkpoint, revoked ones included.
func (in *Input) Checkpoints() int {
	n := 0
	if in.Match.State != nil {
		for _, cp := range in.Match.State.Checkpoints() {
			n = max(n, cp.Number)
		}
	}
	return n
}

// RefOf returns the transcript reference of the i-th block of the spine.
func (in *Input) RefOf(i int) decant.Ref {
	at := in.Prompt.At(i)
	if in.Refs.Same {
		return at.Ref
	}
	return in.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
}

// Demand is what a refusal of the provider demands of the next attempt.
type Demand struct {
	Again  bool // the request was sent before
	Reason policy.Reason
	Tried  string        // the route of the form that was refused, where that was made for a refusal itself; empty: none
	Factor float64       // reported as a share of estimated, 0: not known
	Window int           // that the provider named, 0: none
	Bytes  int           // most bytes of the body, 0: the API's limit
	Unedit bool          // the provider does not take the clearing of old results, a summary of its own, or rules for the prompt
	Topic  dialect.Topic // of these, what the provider has named

	Summary *dialect.ProviderSummary // that the model has written in place of an answer, nil: none
	Unpause bool                     // it has written none, or is not to write another one
	Paid    decant.Usage             // of the passes behind which it has paused
}

// Adjust takes over what the provider has said of the size of a request.
func (f *Demand) Adjust(m *Meter) {
	if f.Window > 0 {
		m.Window = f.Window
	}
	if f.Factor > 0 {
		m.Calibration = token.Calibration{Factor: min(max(f.Factor, 0.5), 2), Seen: m.Seen + 1}
	}
	if f.Reason == policy.Overflow {
		m.Length = 0 // what was reported before has proved wrong
	}
}

// TakesRules reports whether the provider can be given rules for the prompt of this request at all.
func (in *Input) TakesRules() bool {
	p := in.Prompt
	d, ok := p.Dialect.(dialect.Pauser)
	return ok && !in.Observed && in.Model.Provider == p.Dialect.About().Provider &&
		in.Known.Says(TopicRules(in.Model.ID), in.Now()) == "" && d.TakesRules(p.Doc)
}

// carries reports whether the request can have a summary behind which the model has paused.
func (in *Input) carries() bool { return in.Model.Threshold && in.TakesRules() }

// KeepsThinking reports whether thinking is left out only with what the model said behind it.
func (in *Input) KeepsThinking() bool { return legal.ForFormat(in.Prompt.API()).KeepsThinking() }

// Unfit returns what the client asks to be done with thinking that does not fit.
func (in *Input) Unfit() dialect.Unfit {
	if d, ok := in.Prompt.Dialect.(dialect.Dropper); ok {
		return d.Unfit(in.Prompt.Doc)
	}
	return dialect.UnfitUnsaid
}

// clearingBy returns what the provider has to be asked for so that the model reads the view, in which blocks were
// changed by native decisions; see dialect.Clearer.
func (in *Input) clearingBy(view *decant.Conversation, native func(id string) bool) (dialect.ProviderClearing, bool) {
	if d, ok := in.Prompt.Dialect.(dialect.Clearer); ok {
		return d.Clearing(view, native)
	}
	return nil, false
}

// Account returns the account that the request is for: the one that answered the conversation last, if the
// request goes to the same provider. It is nil while nobody has answered.
func (in *Input) Account(m *Meter, set *preset.Preset) *Account {
	who := m.Account
	if who == nil || !in.Model.Binds && in.Asker == nil && set.Native.Compaction.Tokens <= 0 || who.Upstream != AccountName(in.Upstream) && in.Upstream != "" {
		return nil
	}
	return who
}

// Price prices usage; what has no known price counts nothing.
func (in *Input) Price(u decant.Usage, t cost.Terms) store.Money {
	n, _ := cost.Billionths(in.Model, u, t)
	return store.Money(n)
}

// Withdrawals returns decisions that take back the pours which were made for a tail that the request
// replaces: it may need none. What people have decided meanwhile stays.
func (s *Settings) Withdrawals(m *match.Match) (out []decant.Decision) {
	if m.Branch == nil || m.Relation != match.Replaces {
		return nil
	}
	behind := make(map[string]bool, len(m.Branch.Behind))
	for _, id := range m.Branch.Behind {
		behind[id] = true
	}
	for _, d := range decant.InForce(m.State.Decisions) {
		if d.Pour == "" || !behind[d.ID] {
			continue
		}
		id, _ := s.IDs.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: s.Now().UTC(), Reason: "it was made for a request that was not answered and is no more",
		})
	}
	return out
}
