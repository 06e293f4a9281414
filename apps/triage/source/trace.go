package source

import "time"

// A Trace is what a request did in which an error happened.
type Trace struct {
	Errors []Event // that happened in it, with their whole call stacks
	Spans  []Span  // its steps, in their order
}

// A Span is one step of a request.
type Span struct {
	Name     string
	Service  string
	Start    time.Time
	Duration time.Duration
	Class    string // of the error, empty: none
	Message  string // of the error
}

// TraceID returns the id by which a source finds the trace of the request in which the event happened; empty: none is known. It is a text
// without spaces of a few characters, as tracing makes it.
func (e *Event) TraceID() string {
	id := e.Attributes["traceId"]
	if len(id) < 8 || len(id) > 64 {
		return ""
	}
	for _, c := range id {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-') {
			return ""
		}
	}
	return id
}
