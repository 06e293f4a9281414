package dialect

import "github.com/decantdev/decant/wire"

// A Dropper is a dialect whose models bind thinking to the messages before it, and whose provider can be
// asked to drop what no longer fits.
type Dropper interface {
	// Unfit returns what a request asks to be done with thinking that does not fit.
	Unfit(r *wire.Document) Unfit

	// Drop returns the parameters by which a request asks for it to be dropped, and the beta that it then needs. It
	// returns false when the request says itself what shall happen, or does not think.
	Drop(body []byte) (params []byte, beta string, ok bool)

	// WithParams returns body with such parameters in place of its own.
	WithParams(body, params []byte) []byte
}

// Unfit is the treatment of thinking that does not match the messages before it.
type Unfit uint8

// What a request may say about it.
const (
	UnfitUnsaid  Unfit = iota // nothing: it depends on the account
	UnfitRefused              // the request is refused
	UnfitDropped              // it is dropped
)
