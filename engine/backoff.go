package engine

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/policy"
)

// terms returns what the outcome of an early pour depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func (q *query) terms() string {
	text := fmt.Sprintf("%d %q %s %q %v", len(q.match.State.Decisions), q.refs.Conv.Model, q.refs.Conv.Fixed.Version, q.preset.Name, q.preset.Thrift)
	return decant.HashBytes([]byte(text)).String()
}

// futile reports whether an early pour has brought nothing to the conversation and nothing has changed
// since.
func (dr *draft) futile() bool { return dr.meter.Futile.Waits(len(dr.q.req.Body), dr.q.terms) }

// noteFutile remembers that an early pour brought nothing to the request.
func (dr *draft) noteFutile() {
	const bytesPerToken = 4 // as policy.MeasureEarly has it
	dr.meter.Futile = dr.meter.Futile.Again(dr.q.terms(), len(dr.q.req.Body), bytesPerToken*policy.MeasureEarly(dr.view, dr.thinning()).Whole)
	if dr.q.req.Count {
		return
	}
	notes.Of(dr.q.match.Stored).Change(func(m *notes.Meter) { m.Futile = dr.meter.Futile })
}
