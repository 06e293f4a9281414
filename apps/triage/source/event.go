package source

import "time"

// An Event is one error that happened, as a source tells it. Only Time and Class or Message are always there.
type Event struct {
	ID          string            `json:"id,omitzero"`          // of the source; empty: the source names none
	Time        time.Time         `json:"time"`                 // when it happened
	Service     string            `json:"service,omitzero"`     // the program, as the source names it
	Environment string            `json:"environment,omitzero"` // such as "production"
	Release     string            `json:"release,omitzero"`     // the version that ran: a tag or a commit
	Class       string            `json:"class,omitzero"`       // of the error, such as "NoMethodError"
	Message     string            `json:"message,omitzero"`     // of the error
	Transaction string            `json:"transaction,omitzero"` // what the program was doing, such as "Controller/orders/create"
	Frames      []Frame           `json:"frames,omitzero"`      // the call stack, innermost first
	Cause       *Event            `json:"cause,omitzero"`       // the error behind it, with its own Frames
	URL         string            `json:"url,omitzero"`         // of the event at its source, for people
	Attributes  map[string]string `json:"attributes,omitzero"`  // whatever else the source tells
}

// A Frame is one level of a call stack.
type Frame struct {
	File     string `json:"file,omitzero"`     // as the program names it: often a path on the machine that ran it
	Line     int    `json:"line,omitzero"`     // from 1; 0: unknown
	Function string `json:"function,omitzero"` // with its package or class where the program says so
	Module   string `json:"module,omitzero"`   // the package, module or library that File is part of
	InApp    bool   `json:"in_app,omitzero"`   // the program's own code, not a library's
}
