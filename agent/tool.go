package agent

import (
	"context"
	stdjson "encoding/json"
	"time"
)

// A Tool is something that a model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      stdjson.RawMessage // JSON schema of the arguments, an object; nil: there are none

	// ReadOnly says that it changes nothing. Where a model asks for several calls at once and all of them are of such tools,
	// they are made side by side.
	ReadOnly bool

	// Parallel says that its calls may be made side by side with each other and with those of tools that are ReadOnly, though it
	// may change something: what one of them does is nothing to the others.
	Parallel bool

	// Idempotent says that to make a call twice does the same as to make it once. So it is made again where nobody knows whether it was
	// made. Call.ID is the same then.
	Idempotent bool

	// Ask says that somebody must allow each call, where Options.Permit is nil.
	Ask bool

	// Timeout is the longest that a call may take. Zero means two minutes; less than zero, no limit.
	Timeout time.Duration

	// Most is the most characters of a result that the model is given; zero: Options.MostResult. Of a longer one it gets
	// the beginning and the end, and between them what is missing and how to get it.
	Most int

	// Run makes a call. An error becomes a result that reports a failure, and so does a panic: neither ends the run. It must
	// return when ctx is done; one that does not is left behind, and the run goes on.
	Run func(ctx context.Context, c *Call) (Result, error)

	// Preview says what a call would change, as a unified diff or in words; nil: nothing is shown.
	Preview func(ctx context.Context, c *Call) (string, error)
}

// A Result is what a call returns.
type Result struct {
	Text  string `json:"text"`
	Error bool   `json:"error,omitzero"` // it reports a failure
	Rest  string `json:"rest,omitzero"`  // how to get what a cut leaves out, for the model: "read it with offset 200"

	// Images are shown to the model behind the text. What is no image that models look at is named in its place.
	Images []Attachment `json:"images,omitzero"`
}

// A Verdict is what is to be done about a call.
type Verdict struct {
	Kind      VerdictKind        `json:"kind"`
	Reason    string             `json:"reason,omitzero"`    // for the model, of a call that is denied
	Arguments stdjson.RawMessage `json:"arguments,omitzero"` // in place of the model's, of a call that was edited
}

// A VerdictKind is the kind of a Verdict.
type VerdictKind string

// The kinds of verdicts.
const (
	Allow VerdictKind = "allow"
	Deny  VerdictKind = "deny"
	Edit  VerdictKind = "edit" // allow it with other arguments
	Ask   VerdictKind = "ask"  // somebody must be asked
)
