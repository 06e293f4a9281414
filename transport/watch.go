package transport

import (
	"context"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A Watcher is told how the work on one managed request goes on. Its methods are called one after the other.
type Watcher interface {
	// Step is called when a step begins, and what it returns when the step is over. The context that it returns is
	// that of the step.
	Step(ctx context.Context, s Step) (_ context.Context, end func())

	// Prepared is called with what is about to be sent; more than once if the provider refuses it and another form
	// of it may pass. model returns the model that the request asks for; it has to look for it.
	Prepared(p *engine.Prepared, model func() string)
}

// A Step is a part of the work on a managed request.
type Step string

// The steps. Between preparing and finishing, requests are sent, and answers pass.
const (
	Reading    Step = "read"    // the body, as it comes from the client
	Preparing  Step = "prepare" // what is sent in its place
	Recovering Step = "recover" // preparing another form of what the provider has refused
	Finishing  Step = "finish"  // what the answer means; it is archived behind the request
)

// step tells the watcher, if there is one, of a step.
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

// model returns the model that a prepared request asks for: the first that it names, because it is only shown.
// It is empty when the body was not understood.
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
