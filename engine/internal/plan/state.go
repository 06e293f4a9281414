package plan

import (
	"context"
	"errors"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// A Pour is the pours of one draft: whether one is due, by which routes, and what becomes of it.
type Pour struct {
	Draft      *Draft
	Summarizer policy.Summarizer // writes the record, nil: it stays the extractive one

	money    policy.Economy   // as it was when it was asked last whether a pour is due
	quick    bool             // there is no time for more than the last rung
	proposal *policy.Proposal // that the draft carries out, nil: there is none
	prepared *decant.Plan     // that was made beside the conversation, nil: a route makes its own
}

// copy returns a pour of a copy of the draft.
func (p *Pour) copy() *Pour {
	next, dr := *p, *p.Draft
	next.Draft = &dr
	return &next
}

// isOptional reports whether nobody has to wait for a pour: it is for money, or only observed.
func (p *Pour) isOptional(why policy.Reason) bool {
	return why == policy.Free || why == policy.Paid || why == policy.Routine || p.Draft.Observed
}

// resumesCold reports whether a pour is of a request that finds nothing in the cache. The provider takes longer to write all
// of it again than any plan takes, and without the pour it would be dearer: so it is waited for as if it had to be.
func resumesCold(p *Pour, why policy.Reason) bool {
	return why == policy.Free && p.money.Cold() && !p.Draft.Observed
}

// Errors of a pour that the next route or target may not have.
var (
	errPoor     = errors.New("the pour would free too little")
	errTooLarge = errors.New("the view would still be too large")
	errNoRoute  = errors.New("not possible here")
)

// A route is one way to carry out a pour.
type route struct {
	name   string
	carry  func(ctx context.Context, p *Pour, target int) error // makes the decisions; what it leaves illegal is refused afterwards
	plans  bool                                                 // a plan that was prepared will do for it
	unsure bool                                                 // whether the provider takes thinking behind it is found out by sending it
}
