package engine

import (
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/preset"
)

// Mode is how much of its work an engine does.
type Mode string

// The modes.
const (
	Manage  Mode = "manage"  // decide and send views
	Observe Mode = "observe" // record and plan, change nothing
	Off     Mode = "off"     // neither
)

// A Request is one request of a client for an answer of a model.
type Request struct {
	Dialect dialect.Dialect // of the API that it is made to; nil: the Messages API

	Tenant  string   // whose it is; empty for a store that serves one user
	Session string   // the client's own id of the conversation; empty: the one that the body names, if it does
	Project string   // what it is about, when the client says
	Body    []byte   // as the client sent it; it must not change afterwards
	Betas   []string // that it asks for by headers (docs/reference/anthropic.md, "Betas")

	// Upstream is the base URL of the provider that it goes to: what was found out about an account there
	// is remembered for it.
	Upstream string

	// Budgets limit what may have been spent when this request comes, besides the engine's own.
	Budgets []budget.Budget

	Preset *preset.Preset // nil: the engine's
	Sealed int            // it is what was sent before, with more behind it, and poured only where the window has not so many tokens left; 0: as the preset says
	Mode   Mode           // empty: the engine's
	Pauses bool           // who sends it asks Engine.Paused about each answer before anybody sees it, so that the model may pause behind a summary
	Count  bool           // only the size is asked for: nothing is committed
}
