package engine

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// A futility is a pour for money that was due and brought nothing, so that it is not planned again with
// every request: [Due] goes by what the ballast weighs and does not know whether it can go. It holds
// until what it depended on is different, or more is there to pour: a twentieth of the request, and twice
// as much after each further failure. It is stored with the anchor, so that every engine waits for the
// same request.
type futility struct {
	Terms string `json:"terms,omitzero"` // what it depends on besides the messages
	Times int    `json:"times,omitzero"`
	Until int    `json:"until,omitzero"` // bytes of the request's body from which it is worth planning again
}

// terms returns what the outcome of a pour for money depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func (a *attempt) terms() string {
	text := fmt.Sprintf("%d %q %s %q %v", len(a.state.Decisions), a.Conv.Model, a.Conv.Fixed.Version, a.preset.Name, a.preset.Thrift)
	return decant.HashBytes([]byte(text)).String()
}

// futile reports whether a pour for money has brought nothing to the conversation and nothing has changed
// since.
func (a *attempt) futile() bool {
	f := &a.meter.Futile
	return len(a.req.Body) < f.Until && f.Terms == a.terms()
}

// noteFutile remembers that a pour for money brought nothing to the request.
func (a *attempt) noteFutile() {
	f := futility{Terms: a.terms(), Times: 1}
	if was := &a.meter.Futile; was.Terms == f.Terms {
		f.Times = was.Times + 1
	}
	f.Until = len(a.req.Body) + policy.WaitFor(4*policy.Spare(a.view, a.thinning()).Whole, f.Times)
	a.meter.Futile = f
	if a.req.Count {
		return
	}
	a.line.mu.Lock()
	defer a.line.mu.Unlock()
	a.line.meter.Futile = f // the requests before the archive of this one know it, too
}
