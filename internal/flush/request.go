package flush

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Request is a conversation that will be poured soon, has just been poured before anybody was told, or has been
// closed by its program. Nothing of it may be changed.
type Request struct {
	Conversation store.Key
	Project      string
	Cycle        int // checkpoints that the conversation had: the first cycle is 0

	Dialect  dialect.Dialect
	Upstream string      // base URL of the provider
	Model    token.Model // that the conversation is held with
	Sent     []byte      // the request as it was sent, or as it would have been sent without the pour
	Betas    []string    // that Sent needs
	Answer   []byte      // to Sent, a JSON list of blocks; nil: there was none
	Tokens   int         // of Sent and its answer
	Room     bool        // the window takes Sent and one more turn

	View   *decant.Conversation // what Sent says; its messages have the numbers of the transcript
	Preset *preset.Preset
}
