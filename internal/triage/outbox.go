package triage

import (
	"context"

	"github.com/decantdev/decant/internal/triage/deliver"
	"github.com/decantdev/decant/internal/triage/source"
)

// A box keeps in the journal of a run what is sent.
type box struct{ r *Run }

// Entry returns how far an item has come.
func (b box) Entry(id string) (deliver.Entry, bool) {
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	e, ok := b.r.sent[id]
	return e, ok
}

// Write writes down how far an item has come.
func (b box) Write(ctx context.Context, e deliver.Entry) error {
	return b.r.write(ctx, &step{Sent: &e})
}

// Deliver sends what the run has found, as far as it was not sent before. An error means that it cannot be written down what is sent, so that
// nothing more is; what a service does not take is in the result.
func (r *Run) Deliver(ctx context.Context, o deliver.Options) (*deliver.Result, error) {
	if o.Now == nil {
		o.Now = r.o.Now
	}
	return deliver.Run(ctx, o, r.Report(), box{r})
}

// DeliverFailure says in Slack that the run could not do its work, and why. What it has found is left for when it is finished.
func (r *Run) DeliverFailure(ctx context.Context, o deliver.Options, why error) (*deliver.Result, error) {
	if o.Now == nil {
		o.Now = r.o.Now
	}
	rep := r.Report()
	rep.Failed = source.Unprinted(why)
	return deliver.Run(ctx, o, rep, box{r})
}
