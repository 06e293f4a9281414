package triage

import (
	"context"

	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/source"
)

// A box records deliveries in the journal of a run.
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

// Deliver sends the findings of the run that were not sent before. An error means that deliveries cannot be recorded, so
// nothing more is sent. What a service rejects is in the result.
func (r *Run) Deliver(ctx context.Context, o deliver.Options) (*deliver.Result, error) {
	if o.Now == nil {
		o.Now = r.o.Now
	}
	return deliver.Run(ctx, o, r.Report(), box{r})
}

// DeliverFailure reports in Slack that the run failed, and why. Its findings are delivered when it is finished.
func (r *Run) DeliverFailure(ctx context.Context, o deliver.Options, why error) (*deliver.Result, error) {
	if o.Now == nil {
		o.Now = r.o.Now
	}
	rep := r.Report()
	rep.Failed = source.Unprinted(why)
	return deliver.Run(ctx, o, rep, box{r})
}
