package reduce

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// result is one tool result with the call it answers.
type result struct {
	block  *decant.Block
	shrunk *decant.Decision // the decision that made it what it is, nil: it is verbatim
	orig   *decant.Block    // the block of the transcript: block itself when it is verbatim
	at     int              // index of its message
	round  int              // index of its round, -1: outside of any
	call   tool.Call
	used   bool // its call was found
	text   string
	loaded bool
	mask   func(text string) string
	safe   *string // text with its secrets masked, once it was needed
	closed bool    // in a round that may be touched at a pour
	fresh  bool    // in the open round, and verbatim
}

// verbatim reports whether the transcript has the same r.
func (r *result) verbatim() bool { return r.block.Changed == "" }

// read returns the original text of r, decoded once.
func (r *result) read() string {
	if !r.loaded {
		r.text, r.loaded = r.orig.Text(), true
	}
	return r.text
}

// shown returns the text of r as the view has it now.
func (r *result) shown() string {
	if r.verbatim() {
		return r.read()
	}
	return r.block.Text()
}

// size returns about how long the text of r is now, in bytes, without decoding it.
func (r *result) size() int { return r.block.Content.Size() }

// masked returns the text of r without its secrets. Whatever a stub quotes is taken from it before
// it is cut, because half a secret is not recognised.
func (r *result) masked() string {
	if r.safe == nil {
		text := r.mask(r.read())
		r.safe = &text
	}
	return *r.safe
}
