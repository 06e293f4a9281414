package engine

import (
	"time"

	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/internal/refs"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// A query is one request at its place in a conversation, with what is settled before anything is decided about it.
type query struct {
	match *lineage.Match
	refs  *refs.Map
	e     *Engine
	req   *Request
	who   lineage.Start
	r     *prompt.Prompt
	begun time.Time // when the request came

	model  token.Model
	est    *token.Estimator
	fixed  int               // tokens of system prompt and tools
	known  account.Knowledge // of the account that the request is for
	demand forced            // what a refusal of the provider demands

	must    policy.Reason // a pour that must happen, whatever the meter says
	most    int           // bytes that the body may have
	preset  *preset.Preset
	limits  policy.Limits
	pressed bool // a budget is nearly spent
}
