package engine

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// terms returns what the outcome of a pour for money depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func (a *attempt) terms() string {
	text := fmt.Sprintf("%d %q %s %q %v", len(a.State.Decisions), a.Conv.Model, a.Conv.Fixed.Version, a.preset.Name, a.preset.Thrift)
	return decant.HashBytes([]byte(text)).String()
}

// futile reports whether a pour for money has brought nothing to the conversation and nothing has changed
// since.
func (a *attempt) futile() bool { return a.meter.Futile.Waits(len(a.req.Body), a.terms) }

// noteFutile remembers that a pour for money brought nothing to the request.
func (a *attempt) noteFutile() {
	const bytesPerToken = 4 // as policy.Spare has it
	a.meter.Futile = a.meter.Futile.Again(a.terms(), len(a.req.Body), bytesPerToken*policy.Spare(a.view, a.thinning()).Whole)
	if a.req.Count {
		return
	}
	notesOf(a.Stored).set(func(m *meter) { m.Futile = a.meter.Futile })
}
