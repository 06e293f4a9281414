package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/preset"
)

// A Draft is what would be sent for an input: the decisions in force, those that are new, and the view under all of
// them. Each route of a pour gets a copy, so that one which is refused leaves nothing behind.
type Draft struct {
	*Input
	Preset  *preset.Preset
	Limits  policy.Limits
	Pressed bool // a budget is nearly spent
	Meter   Meter

	InForce   []decant.Decision // committed before, as far as they concern the request
	Withdrawn []decant.Decision // take back what was made for a tail that the request replaces
	Suspended []decant.Decision // native ones that are in force and cannot be carried out
	Made      []decant.Decision // by this draft, in order
	Before    *decant.Conversation
	View      *decant.Conversation // under all of them
	Betas     []string
	Params    []byte // replaces the request's thinking parameter, nil: it stays
	Outcome   Outcome
	Economy   policy.Economy // of early pours, as it was when it was asked whether one pays; the zero value: it was not

	Pausing  bool   // the provider is asked for a summary in place of an answer, if it finds the prompt large, too
	PourID   string // of the pour under way, empty when there is none
	NotWorth int    // pours of this draft that were not worth it
}

// NewDraft returns a draft under the decisions that are in force at an input's place, with some that are taken back
// there.
func NewDraft(in *Input, set *preset.Preset, m Meter, withdrawn []decant.Decision) (*Draft, error) {
	dr := &Draft{Input: in, Preset: set, Meter: m, Withdrawn: withdrawn, InForce: in.Match.Applicable(in.Refs, withdrawn)}
	dr.keepDropping()
	v, err := decant.Replay(in.Conv, dr.InForce)
	if err != nil {
		return nil, err
	}
	dr.Before, dr.View = v, v
	return dr, dr.suspend()
}

// Copy returns a copy. What it shares with the draft does not change.
func (dr *Draft) Copy() *Draft {
	out := *dr
	return &out
}

// Add makes decisions of this draft and brings the view up to date.
func (dr *Draft) Add(ds []decant.Decision) error {
	if len(ds) == 0 {
		return nil
	}
	if err := dr.Name(ds); err != nil {
		return err
	}
	all := append(dr.Made[:len(dr.Made):len(dr.Made)], ds...)
	v, err := decant.Replay(dr.Conv, append(dr.InForce[:len(dr.InForce):len(dr.InForce)], all...))
	if err != nil {
		return fmt.Errorf("apply decisions: %w", err)
	}
	dr.Made, dr.View = all, v
	return nil
}

// Covering returns the checkpoint of the pour under way, nil when it makes none.
func (dr *Draft) Covering() *decant.Checkpoint {
	for i := range dr.Made {
		if d := &dr.Made[i]; d.Kind == decant.Cover && d.Pour == dr.PourID {
			return d.Checkpoint
		}
	}
	return nil
}

// Record puts the record of r into the checkpoint of the pour under way, and what was spent on it.
func (dr *Draft) Record(r *decant.Checkpoint) error {
	cp, made := *dr.Covering(), slices.Clone(dr.Made)
	cp.Summary, cp.Rung, cp.CostUSD, cp.Segments = r.Summary, r.Rung, r.CostUSD, r.Segments
	cp.Facts, cp.Score, cp.Share, cp.Poor, cp.Compressed = r.Facts, r.Score, r.Share, r.Poor, r.Compressed
	for i := range made {
		if d := &made[i]; d.Checkpoint == dr.Covering() {
			d.Checkpoint, d.After = &cp, cp.Compressed
		}
	}
	v, err := decant.Replay(dr.Conv, slices.Concat(dr.InForce, made))
	if err != nil {
		return fmt.Errorf("apply decisions: %w", err)
	}
	dr.Made, dr.View = made, v
	return nil
}

// Name gives decisions that were made together their ids, which begin alike, and the time. All
// decisions of one pour are made together.
func (dr *Draft) Name(ds []decant.Decision) error {
	group := dr.PourID
	if group == "" {
		var err error
		if group, err = dr.IDs.Next(); err != nil {
			return err
		}
	}
	now := dr.Now().UTC()
	for i := range ds {
		ds[i].ID = fmt.Sprintf("%s.%d", group, len(dr.Made)+i+1)
		ds[i].Pour, ds[i].Created = dr.PourID, now
	}
	return nil
}

// Render returns the bytes of the view: the request's own body when nothing is different.
func (dr *Draft) Render() ([]byte, error) {
	if len(dr.InForce)+len(dr.Made) == 0 {
		return dr.ask(dr.Body)
	}
	sent, err := dr.Sent()
	if err != nil {
		return nil, err
	}
	marked := policy.MarkView(sent, dr.View, dr.Conv, slices.Concat(dr.InForce, dr.Made))
	body, err := dr.Prompt.Doc.Render(dr.Refs.InRequest(marked))
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return dr.ask(body)
}

// Poured reports whether something was changed that had been sent before.
func (o *Outcome) Poured() bool { return o.Reason != "" }

// An Outcome is what has become of a request so far.
type Outcome struct {
	Reason      policy.Reason // why there was a pour, empty when there was none
	Route       string        // how it was carried out
	Plan        *decant.Plan  // of the pour, or of the one that would have been made
	Before      int           // tokens of the request before the decisions that are new
	After       int           // and with them
	Spent       float64       // on its record, in dollars, as far as it is not booked
	Uncompacted error         // why the summary of a provider that was asked for one is not the pour's, nil when it is, or none was asked
	Unused      error         // why the record that a summariser wrote is not the pour's, nil when it is, or none was asked
}

// Bytes returns about how large the body will be. It is exact when nothing was decided.
func (dr *Draft) Bytes() int {
	n := len(dr.Body)
	if n <= dr.MaxBytes || len(dr.InForce)+len(dr.Made) == 0 {
		return n
	}
	body, err := dr.Render()
	if err != nil {
		return n
	}
	return len(body)
}

// ChangedSince reports whether the conversation is another one than when its last pours were not
// worth it: another model, other tools, or a twentieth of the window more of it.
func (dr *Draft) ChangedSince() bool {
	in := dr.Input
	h := &in.Match.State.Head
	return h.Model != in.Conv.Model || h.Fixed != in.Conv.Fixed.Version ||
		dr.Meter.Poor == 0 || dr.Outcome.Before > dr.Meter.Poor+dr.Limits.Window/20
}

// Idle returns the time since the request before was made, or a call of ours kept warm what it had left in the cache.
// Cache entries live from there on.
func (dr *Draft) Idle() time.Duration {
	in, was := dr.Input, dr.lastUsed()
	switch {
	case was.IsZero():
		return 0
	case in.Warmed.After(was):
		was = in.Warmed
	}
	return in.Begun.Sub(was)
}

// KeptWarm reports whether the client would find expired what the request before has left in the cache for so long, had
// no call of ours kept it warm.
func (dr *Draft) KeptWarm(life time.Duration) bool {
	in, was := dr.Input, dr.lastUsed()
	return !was.IsZero() && in.Warmed.After(was) && in.Begun.Sub(was) >= life
}

// lastUsed returns when the request before was made, zero where there was none.
func (dr *Draft) lastUsed() time.Time {
	client, s := &dr.Meter.Newest.Client, dr.Match.State
	if !client.At.IsZero() || s == nil {
		return client.At
	}
	return s.Anchor.Time
}

// AllThinking returns decisions that drop every thinking block of the view.
func (dr *Draft) AllThinking() []decant.Decision {
	return policy.ThinkingFrom(dr.View, 0, 0, dr.Estimator)
}

// keepDropping has the provider go on dropping thinking that was written on top of what a pour, or the client, has
// changed since: the instruction holds for one request only.
func (dr *Draft) keepDropping() {
	in := dr.Input
	if !in.DropBlock || !in.Model.Binds || !poured(dr.InForce) && !dr.Meter.Drops {
		return
	}
	dr.LetDrop()
}

// poured reports whether a pour is among ds that changed what is sent of old history.
func poured(ds []decant.Decision) bool {
	return slices.ContainsFunc(ds, func(d decant.Decision) bool {
		return d.Kind != decant.Native && d.Kind != decant.Insert && d.Pour != ""
	})
}

// Bound reports whether the view holds thinking that is bound to what stands before it, so that nothing there
// may change: the model binds it, and neither is the account known for not enforcing that nor has the client
// asked the provider to drop what does not fit.
func (dr *Draft) Bound() bool {
	in := dr.Input
	if !in.Model.Binds || in.Conv.Thinking == decant.ThinkingOff {
		return false
	}
	switch in.Unfit() {
	case dialect.UnfitDropped:
		return false
	case dialect.UnfitUnsaid:
		if in.Known.Says(TopicBinding, in.Now()) == Unenforced {
			return false
		}
	}
	return dr.Before.Has(decant.KindThinking)
}

// Reservation returns what the request may cost at most in a conversation: all of it written to the cache, if it asks
// for that, and as long an answer as it asks for.
func (dr *Draft) Reservation(conversation string) *purse.Reservation {
	in := dr.Input
	u := Uncached(in.Conv, dr.Size(dr.View)).Add(in.Demand.Paid)
	return &purse.Reservation{
		Tenant: in.Start.Tenant, Conversation: conversation, Budgets: in.Budgets, Own: in.Own,
		Most: purse.Amount{Tokens: u.Context(), Money: dr.Price(u, cost.Terms{At: in.Now()})},
	}
}
