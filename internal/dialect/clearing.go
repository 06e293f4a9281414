package dialect

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// A Clearer is a dialect whose provider can be asked to leave old results out of the prompt that it reads.
type Clearer interface {
	// Clears reports whether the provider can be asked at all: by request r, for the conversation c, some of whose
	// messages r may lack.
	Clears(r *wire.Document, c *decant.Conversation) bool

	// Clearing returns what leads from what is sent to a view in which blocks were changed by native decisions. It is nil
	// when no block was, and false when there is no way to ask for just that.
	Clearing(view *decant.Conversation, native func(id string) bool) (ProviderClearing, bool)
}

// A ProviderClearing is what a request asks the provider to leave out of its prompt.
type ProviderClearing interface {
	// Results returns how many results go.
	Results() int

	// Ask returns a body that asks for it.
	Ask(body []byte) ([]byte, error)

	// Beta returns the beta that such a request needs, empty when it needs none.
	Beta() string
}
