package engine

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/policy"
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
	report    Report

	group    string // how the ids of a pour's decisions begin, empty when there is none
	cold     bool   // nothing of the request before can be read from the cache
	quick    bool   // there is no time for more than the last rung
	suppress int    // pours of this draft that were not worth it
}

// ticket returns the ticket of what the draft has become. It shares nothing that changes with the draft.
func (dr *draft) ticket() *ticket {
	q, d := *dr.q, *dr
	d.q = &q
	return &ticket{dr: &d, decided: d.decisions()}
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
		if group, err = dr.q.e.ids.Next(); err != nil {
			return err
		}
	}
	now := dr.q.e.opts.Now().UTC()
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
	body, err := dr.q.r.Doc.Render(dr.q.refs.InRequest(policy.MarkView(sent, dr.view, dr.q.refs.Conv, slices.Concat(dr.inForce, dr.made))))
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if dr.params != nil {
		body = anthropic.WithThinking(body, dr.params)
	}
	return dr.withClearing(body)
}
