package plan

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/preset"
)

// keepDropping has the provider go on dropping thinking that was written on top of what a pour, or the client, has
// changed since: the instruction holds for one request only.
func (dr *Draft) keepDropping() {
	in := dr.Input
	if !in.DropBlock || !in.Model.Binds || !poured(dr.InForce) && !dr.Meter.Drops {
		return
	}
	dr.LetDrop()
}

// poured reports whether a pour is among ds that changed what is sent of old history.
func poured(ds []decant.Decision) bool {
	return slices.ContainsFunc(ds, func(d decant.Decision) bool {
		return d.Kind != decant.Native && d.Kind != decant.Insert && d.Pour != ""
	})
}

// Bound reports whether the view holds thinking that is bound to what stands before it, so that nothing there
// may change: the model binds it, and neither is the account known for not enforcing that nor has the client
// asked the provider to drop what does not fit.
func (dr *Draft) Bound() bool {
	in := dr.Input
	if !in.Model.Binds || in.Conv.Thinking == decant.ThinkingOff {
		return false
	}
	switch in.Unfit() {
	case dialect.UnfitDropped:
		return false
	case dialect.UnfitUnsaid:
		if in.Known.Says(TopicBinding, in.Now()) == Unenforced {
			return false
		}
	}
	return dr.Before.Has(decant.KindThinking)
}

// Account returns the account that the request is for: the one that answered the conversation last, if the
// request goes to the same provider. It is nil while nobody has answered.
func (in *Input) Account(m *Meter, set *preset.Preset) *Account {
	who := m.Account
	if who == nil || !in.Model.Binds && in.Asker == nil && !set.Native.Compaction.On() || who.Upstream != AccountName(in.Upstream) && in.Upstream != "" {
		return nil
	}
	return who
}
