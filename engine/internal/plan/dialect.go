package plan

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
)

// Unfit returns what the client asks to be done with thinking that does not fit.
func (in *Input) Unfit() dialect.Unfit {
	if d, ok := in.Prompt.Dialect.(dialect.Dropper); ok {
		return d.Unfit(in.Prompt.Doc)
	}
	return dialect.UnfitUnsaid
}

// LetDrop has the provider drop thinking that does not fit. It reports false where it cannot be asked to.
func (dr *Draft) LetDrop() bool {
	p := dr.Prompt
	d, ok := p.Dialect.(dialect.Dropper)
	if !ok {
		return false
	}
	params, beta, ok := d.Drop(p.Doc.Source)
	if !ok {
		return false
	}
	dr.Params, dr.Betas = params, nil
	if beta != "" {
		dr.Betas = []string{beta}
	}
	return true
}

// clearingBy returns what the provider has to be asked for so that the model reads the view, in which blocks were changed
// by native decisions; see dialect.Clearer.
func (in *Input) clearingBy(view *decant.Conversation, native func(id string) bool) (dialect.ProviderClearing, bool) {
	if d, ok := in.Prompt.Dialect.(dialect.Clearer); ok {
		return d.Clearing(view, native)
	}
	return nil, false
}
