package plan

import (
	"github.com/decantdev/decant/dialect"
)

// probes reports whether an early edit in front of bound thinking may be tried, to see whether the provider
// minds: nothing is known about the account yet, and the client has not asked for the binding. A probe that
// is refused costs the time of a refusal and nothing else: it is taken back, and the client's own bytes go
// out in the same exchange.
func (p *Pour) probes() bool {
	in := p.Draft.Input
	return p.Draft.Meter.Account != nil && in.Unfit() == dialect.UnfitUnsaid && in.Known.Says(TopicBinding, in.Now()) == ""
}

// An earlyMode is how history may be poured for money.
type earlyMode uint8

const (
	notEarly   earlyMode = iota // there is no legal way
	byEditing                   // old results are edited, and old thinking goes
	byProbing                   // the same, but all thinking stays: whether that is legal is found out
	byClearing                  // the provider leaves old results out
	byDropping                  // old results are edited, and the provider drops thinking behind them
)

// early returns how the request may be poured for money.
func (p *Pour) early() earlyMode {
	switch {
	case !p.Draft.Bound() || !p.Draft.Conv.OpenRound():
		return byEditing
	case p.Draft.Switched(): // that breaks the binding by itself: an edit would be blamed, and the refusal teach nothing
		return notEarly
	case p.probes():
		return byProbing
	case p.clears():
		return byClearing
	case p.Draft.DropBlock:
		return byDropping
	}
	return notEarly
}

// clears reports whether the provider can be asked to clear old results in this request.
func (p *Pour) clears() bool {
	return !p.Draft.AsksForEditing() && !p.Draft.Slides() && len(p.Draft.Suspended) == 0 && p.Draft.Editable()
}
