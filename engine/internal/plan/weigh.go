package plan

import (
	"slices"

	"github.com/decantdev/decant"
)

// Weighed returns the tokens of the messages of a view, all of them estimated: so every view is metered that
// is another one than was reported about.
func (dr *Draft) Weighed(view *decant.Conversation) int {
	return dr.Meter.Scale(dr.Estimate(view, decant.Ref{}))
}

// Behind returns the tokens of the view from the first block on that is different from before: what
// the provider's cache has to be written anew.
func (dr *Draft) Behind() int {
	n := min(len(dr.Before.Messages), len(dr.View.Messages))
	for i := range n {
		if !slices.EqualFunc(dr.Before.Messages[i].Blocks, dr.View.Messages[i].Blocks, alike) {
			return dr.Weighed(dr.View.With(dr.View.Messages[i:]))
		}
	}
	return dr.Weighed(dr.View.With(dr.View.Messages[n:]))
}

func alike(x, y decant.Block) bool {
	return x.Ref == y.Ref && x.Kind == y.Kind && x.Changed == y.Changed
}
