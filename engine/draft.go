package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/token"
)

// A draft is what would be sent for a query: the decisions in force, those that are new, and the view under all of them.
// Each route of a pour gets a copy, so that one which is refused leaves nothing behind.
type draft struct {
	q     *query
	meter notes.Meter

	inForce   []decant.Decision // committed before, as far as they concern the request
	withdrawn []decant.Decision // take back what was made for a tail that the request replaces
	suspended []decant.Decision // native ones that are in force and cannot be carried out
	made      []decant.Decision // by this draft, in order
	before    *decant.Conversation
	view      *decant.Conversation // under all of them
	betas     []string
	params    []byte // replaces the request's thinking parameter, nil: it stays
	outcome   outcome

	group    string // how the ids of a pour's decisions begin, empty when there is none
	suppress int    // pours of this draft that were not worth it
}

// newDraft returns a draft under the decisions that are in force at a query's place, with some that are taken back there.
func newDraft(q *query, m notes.Meter, withdrawn []decant.Decision) (*draft, error) {
	dr := &draft{q: q, meter: m, withdrawn: withdrawn, inForce: q.match.Applicable(q.refs, withdrawn)}
	dr.keepDropping()
	v, err := decant.Replay(q.refs.Conv, dr.inForce)
	if err != nil {
		return nil, err
	}
	dr.before, dr.view = v, v
	return dr, dr.suspend()
}

// copy returns a copy that shares nothing which changes.
func (dr *draft) copy() *draft {
	q, d := *dr.q, *dr
	d.q = &q
	return &d
}

// decisions returns how many decisions the conversation has.
func (dr *draft) decisions() int {
	if dr.q.match.State == nil {
		return 0
	}
	return len(dr.q.match.State.Decisions)
}

// add makes decisions of this draft and brings the view up to date.
func (dr *draft) add(ds []decant.Decision) error {
	if len(ds) == 0 {
		return nil
	}
	if err := dr.name(ds); err != nil {
		return err
	}
	all := append(dr.made[:len(dr.made):len(dr.made)], ds...)
	v, err := decant.Replay(dr.q.refs.Conv, append(dr.inForce[:len(dr.inForce):len(dr.inForce)], all...))
	if err != nil {
		return fmt.Errorf("apply decisions: %w", err)
	}
	dr.made, dr.view = all, v
	return nil
}

// name gives decisions that were made together their ids, which begin alike, and the time. All
// decisions of one pour are made together.
func (dr *draft) name(ds []decant.Decision) error {
	group := dr.group
	if group == "" {
		var err error
		if group, err = dr.q.env.IDs.Next(); err != nil {
			return err
		}
	}
	now := dr.q.env.Now().UTC()
	for i := range ds {
		ds[i].ID = fmt.Sprintf("%s.%d", group, len(dr.made)+i+1)
		ds[i].Created = now
	}
	return nil
}

// render returns the bytes of the view: the request's own body when nothing is different.
func (dr *draft) render() ([]byte, error) {
	if len(dr.inForce)+len(dr.made) == 0 {
		return dr.q.req.Body, nil
	}
	sent, err := dr.sent()
	if err != nil {
		return nil, err
	}
	body, err := dr.q.req.Prompt.Doc.Render(dr.q.refs.InRequest(policy.MarkView(sent, dr.view, dr.q.refs.Conv, slices.Concat(dr.inForce, dr.made))))
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if dr.params != nil {
		body = anthropic.WithThinking(body, dr.params)
	}
	return dr.withClearing(body)
}

// poured reports whether something was changed that had been sent before.
func (o *outcome) poured() bool { return o.Reason != "" }

// An outcome is what has become of a request so far.
type outcome struct {
	Reason policy.Reason // why there was a pour, empty when there was none
	Route  string        // how it was carried out
	Plan   *decant.Plan  // of the pour, or of the one that would have been made
	Before int           // tokens of the request before the decisions that are new
	After  int           // and with them
}

// bytes returns about how large the body will be. It is exact when nothing was decided.
func (dr *draft) bytes() int {
	n := len(dr.q.req.Body)
	if n <= dr.q.most || len(dr.inForce)+len(dr.made) == 0 {
		return n
	}
	body, err := dr.render()
	if err != nil {
		return n
	}
	return len(body)
}

// changedSince reports whether the conversation is another one than when its last pours were not
// worth it: another model, other tools, or a twentieth of the window more of it.
func (dr *draft) changedSince() bool {
	h := &dr.q.match.State.Head
	return h.Model != dr.q.refs.Conv.Model || h.Fixed != dr.q.refs.Conv.Fixed.Version ||
		dr.meter.Poor == 0 || dr.outcome.Before > dr.meter.Poor+dr.q.limits.Window/20
}

// onHold reports whether pours have been put off until somebody releases the conversation.
func (dr *draft) onHold() bool {
	if dr.q.match.Relation != lineage.Forks && dr.q.match.Relation != lineage.Returns {
		return dr.q.match.State != nil && dr.q.match.State.Head.Hold
	}
	return slices.ContainsFunc(dr.inForce, func(d decant.Decision) bool { return d.Kind == decant.Hold })
}

// idle returns the time since the request before was made. Cache entries live from there on.
func (dr *draft) idle() time.Duration {
	before := dr.meter.Client.At
	if before.IsZero() && dr.q.match.State != nil {
		before = dr.q.match.State.Anchor.Time
	}
	if before.IsZero() {
		return 0
	}
	return dr.q.req.Begun.Sub(before)
}

// allThinking returns decisions that drop every thinking block of the view.
func (dr *draft) allThinking() []decant.Decision {
	return policy.ThinkingFrom(dr.view, 0, 0, dr.q.est)
}

// force takes over what a refusal of the provider demands.
func (dr *draft) force(f forced) {
	dr.q.demand = f
	if f.bytes > 0 {
		dr.q.most = min(dr.q.most, f.bytes)
	}
	if f.window > 0 {
		dr.meter.Window = f.window
		dr.q.model = dr.q.env.Model(dr.q.refs.Conv.Model, f.window, dr.q.req.Betas)
	}
	if f.factor > 0 {
		dr.meter.Calibration = token.Calibration{Factor: min(max(f.factor, 0.5), 2), Seen: dr.meter.Seen + 1}
	}
	if f.reason == policy.Overflow {
		dr.meter.Length = 0 // what was reported before has proved wrong
	}
}
