package engine

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
)

// fallBack prepares a request after a step of the engine's own has failed: by replaying the decisions
// that are known to be committed and making no new ones, else by the client's own bytes. These are
// right as long as nothing was decided that the model's thinking is bound to.
func (a *incoming) fallBack(fault error) (*Prepared, error) {
	l := longest(a.e.finder.Cache.From(a.start), a.prompt)
	if l == nil || a.observed() {
		return &Prepared{Body: a.req.Body, Fault: fault}, nil
	}
	known, s := l.Shared(a.prompt)
	dr, err := a.replay(match.Locate(l, s, a.prompt, known), plan.Demand{})
	if err == nil {
		body, err := dr.Render()
		if err == nil {
			p := preparedOf(book.Of(dr), body)
			p.Fault = fault
			return p, nil
		}
		fault = fmt.Errorf("%w; replay: %w", fault, err)
	}
	return a.original(l, fault)
}

// longest returns the conversation that shares most with a request, nil when none shares anything.
func longest(ls []*match.Stored, r *match.Prompt) *match.Stored {
	var out *match.Stored
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
func (a *incoming) original(l *match.Stored, fault error) (*Prepared, error) {
	p := &Prepared{Body: a.req.Body, Fault: fault}
	c := a.prompt.Doc.Conversation
	dr, err := a.apart()
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
	if p.Body, err = a.prompt.Doc.Render(view); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return p, nil
}

// apart returns the request as a conversation of its own.
func (a *incoming) apart() (*plan.Draft, error) {
	alone := &match.Match{Relation: match.Begins, Entries: match.Unknown(len(a.prompt.Spine))}
	in, set := a.input(alone, &plan.Meter{}, plan.Demand{})
	return plan.NewDraft(in, set, plan.Meter{}, nil)
}

// ErrUnavailable means that neither the view nor the client's own bytes can be sent: what was
// decided before cannot be read, and without it the request would be refused.
var ErrUnavailable = errors.New("the conversation's decisions cannot be read")
