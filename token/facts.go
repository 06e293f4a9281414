package token

// Facts are what a provider says itself about one of its models.
type Facts struct {
	ID        string
	Window    int // tokens of input, 0: it does not say
	MaxOutput int // most output tokens, 0: it does not say

	Editing   Say // whether it takes context-editing instructions
	Threshold Say // whether it compacts when a threshold is passed
	OnDemand  Say // whether it compacts on request
}

// Say is what a provider says about something that a model may be able to do.
type Say uint8

// The values of Say.
const (
	Unsaid Say = iota
	Cannot
	Can
)

// SayOf returns what a provider says who says whether it is so.
func SayOf(is bool) Say {
	if is {
		return Can
	}
	return Cannot
}

// over returns what holds where something was known before.
func (s Say) over(known bool) bool {
	if s == Unsaid {
		return known
	}
	return s == Can
}

// With returns the model with what its provider says about it. That counts for what the model can do. Sizes
// are taken where the catalogue does not know them: it tells apart what a model takes by itself and what it
// takes with a beta.
func (m Model) With(f Facts) Model {
	m.Editing, m.Threshold, m.OnDemand = f.Editing.over(m.Editing), f.Threshold.over(m.Threshold), f.OnDemand.over(m.OnDemand)
	if m.Assumed && f.Window > 0 {
		m.Window, m.Assumed = f.Window, false
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = f.MaxOutput
	}
	return m
}
