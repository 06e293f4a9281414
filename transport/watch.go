package transport

import (
	"context"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A Watcher follows the work on one managed request. Its methods are called one after the other.
type Watcher interface {
	// Step is called when a step begins. It returns the step's context, and a function that is called when the step
	// ends.
	Step(ctx context.Context, s Step) (_ context.Context, end func())

	// Prepared is called with what is about to be sent. It is called again if the provider refuses that and another
	// form may pass. model searches the request for the model that it asks for.
	Prepared(p *engine.Prepared, model func() string)
}

// A Step is a part of the work on a managed request.
type Step string

// The steps. Between preparing and finishing, requests are sent, and answers pass.
const (
	Reading    Step = "read"    // the body, as it comes from the client
	Preparing  Step = "prepare" // finding out what to send in its place
	Recovering Step = "recover" // preparing another form of what the provider has refused
	Finishing  Step = "finish"  // reading what the answer means; it is archived afterwards
)

// step tells the watcher, if there is one, about a step.
func (x *exchange) step(s Step) (context.Context, func()) {
	if x.watcher == nil {
		return x.in.Context(), func() {}
	}
	return x.watcher.Step(x.in.Context(), s)
}

// prepared tells the watcher, if there is one, what is about to be sent.
func (x *exchange) prepared(p *engine.Prepared) {
	if x.watcher != nil {
		x.watcher.Prepared(p, func() string { return x.model(p) })
	}
}

// model returns the first model that a prepared request names, empty if the body was not understood. The result is
// only shown; the provider may read the last one.
func (x *exchange) model(p *engine.Prepared) string {
	if p.Report.Messages == 0 {
		return ""
	}
	s := jsonspan.Scan(x.body, 0)
	for s.Open(); s.Next(); {
		named := string(s.Name()) == "model"
		v := s.Skip().Of(x.body)
		if named && len(v) > 0 && v[0] == '"' {
			return jsonspan.Unquote(v)
		}
	}
	return ""
}
