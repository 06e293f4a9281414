package engine

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/engine/internal/ticket"
)

// fallBack prepares a request after a step of the engine's own has failed: by replaying the decisions
// that are known to be committed and making no new ones, else by the client's own bytes. These are
// right as long as nothing was decided that the model's thinking is bound to.
func (e *Engine) fallBack(req *Request, who lineage.Start, r *prompt.Prompt, fault error) (*Prepared, error) {
	l := longest(e.finder.Cache.From(who), r)
	if l == nil || e.mode(req) == Observe {
		return &Prepared{Body: req.Body, Fault: fault}, nil
	}
	known, s := l.Shared(r)
	dr, err := e.replay(req, who, r, lineage.Locate(l, s, r, known))
	if err == nil {
		body, err := dr.Render()
		if err == nil {
			p := preparedOf(ticket.Of(dr), body)
			p.Fault = fault
			return p, nil
		}
		fault = fmt.Errorf("%w; replay: %w", fault, err)
	}
	return e.original(req, r, l, fault)
}

// longest returns the conversation that shares most with a request, nil when none shares anything.
func longest(ls []*lineage.Stored, r *prompt.Prompt) *lineage.Stored {
	var out *lineage.Stored
	long := 0
	for _, l := range ls {
		if n, _ := l.Shared(r); n > long {
			out, long = l, n
		}
	}
	return out
}

// original prepares the client's own bytes for a conversation whose decisions cannot be replayed.
// Thinking that was written on top of them is left out where that is legal.
func (e *Engine) original(req *Request, r *prompt.Prompt, l *lineage.Stored, fault error) (*Prepared, error) {
	p := &Prepared{Body: req.Body, Fault: fault}
	c := r.Doc.Conversation
	m := e.model(c.Model, 0, req.Betas)
	q := e.query(req, lineage.Start{}, r, &lineage.Match{Relation: lineage.Begins, Entries: lineage.Unknown(len(r.Spine))})
	q.Model, q.Estimator = m, e.sizes.For(m)
	dr, err := draft.New(q, notes.Meter{}, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if len(decant.InForce(l.State().Decisions)) == 0 || !dr.Bound() {
		return p, nil
	}
	if c.OpenRound() {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, fault)
	}
	view, err := decant.View(c, dr.AllThinking())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if p.Body, err = r.Doc.Render(view); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return p, nil
}

// ErrUnavailable means that neither the view nor the client's own bytes can be sent: what was
// decided before cannot be read, and without it the request would be refused.
var ErrUnavailable = errors.New("the conversation's decisions cannot be read")
