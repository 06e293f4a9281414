package agent

import (
	stdjson "encoding/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// An EventKind is what an Event tells of.
type EventKind string

// The kinds of events.
const (
	EventUser     EventKind = "user"     // Text came from the user, at the beginning of a run or in the middle of it (Session.Steer)
	EventText     EventKind = "text"     // Text is a piece of what the model says
	EventThinking EventKind = "thinking" // Text is a piece of its thinking
	EventMessage  EventKind = "message"  // the model has said Text, all of it
	EventCall     EventKind = "call"     // Call is about to be made
	EventProgress EventKind = "progress" // Call tells in Text how far it is
	EventResult   EventKind = "result"   // Call has returned Text
	EventApproval EventKind = "approval" // somebody must allow Call: the run ends here, Session.Resume goes on
	EventStatus   EventKind = "status"   // Text says what takes a while, or what a run goes on with
	EventPour     EventKind = "pour"     // Pour was made
	EventWarning  EventKind = "warning"  // Text says what is nearly used up, or what went wrong and does not matter
	EventDone     EventKind = "done"     // the run has ended: Outcome
)

// An Event is something that happens during a run. Fields that its kind does not name are zero.
type Event struct {
	Kind    EventKind `json:"kind"`
	Text    string    `json:"text,omitzero"`
	Call    *Call     `json:"call,omitzero"`
	Pour    *Pour     `json:"pour,omitzero"`
	Outcome *Outcome  `json:"outcome,omitzero"`

	Index  int   `json:"index,omitzero"`  // of the message that the user's text stands in, with EventUser
	Size   int   `json:"size,omitzero"`   // tokens of the request that EventMessage answers
	Window int   `json:"window,omitzero"` // tokens that the model takes, with EventMessage
	Spent  Spent `json:"spent,omitzero"`  // by the run so far, with EventMessage
}

// Spent is what a run has used.
type Spent struct {
	Turns int          `json:"turns,omitzero"` // answers of the model
	Usage decant.Usage `json:"usage,omitzero"`
	Money store.Money  `json:"money,omitzero"` // of a model whose price is known
}

// Tokens returns how many tokens were used, read from the provider's cache or not.
func (s *Spent) Tokens() int { return s.Usage.Context() }

// A Call is a call of a tool that a model asks for.
type Call struct {
	ID        string             `json:"id"`
	Tool      string             `json:"tool"`
	Arguments stdjson.RawMessage `json:"arguments"`
	Preview   string             `json:"preview,omitzero"` // what it would change, with EventApproval
	Error     bool               `json:"error,omitzero"`   // the result reports a failure

	// Progress tells whoever watches the run how far the call is. What makes the call may use it at any time until it returns.
	Progress func(text string) `json:"-"`
}

// A Pour is what a pour did, for people.
type Pour struct {
	Before  int    `json:"before"`           // tokens of the request without it
	After   int    `json:"after"`            // and with it
	Covered int    `json:"covered,omitzero"` // messages that a record stands for
	Record  string `json:"record,omitzero"`
}

// A Stop is why a run ended.
type Stop string

// The stops.
const (
	StopAnswered  Stop = "answered"  // the model has nothing more to do
	StopApproval  Stop = "approval"  // calls wait to be allowed
	StopBudget    Stop = "budget"    // what may be spent is spent; the answer is the forced one
	StopTurns     Stop = "turns"     // as many turns as there may be; the answer is the forced one
	StopLength    Stop = "length"    // the answer is longer than Options.MaxTokens, twice
	StopRefused   Stop = "refused"   // the model refuses to answer
	StopCancelled Stop = "cancelled" // the context ended, or the caller left
	StopFailed    Stop = "failed"    // the error beside the event says why
)

// An Outcome is how a run ended.
type Outcome struct {
	Stop   Stop   `json:"stop"`
	Text   string `json:"text"`            // what the model said last
	Forced bool   `json:"forced,omitzero"` // it was asked for its final answer
	Spent  Spent  `json:"spent"`
}
