package plan

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
)

// keepDropping has the provider go on dropping thinking that was written on top of what a pour, or the client, has
// changed since: the instruction holds for one request only.
func (dr *Draft) keepDropping() {
	q := dr.Query
	if !q.Env.DropBlock || !q.Model.Binds || !poured(dr.InForce) && !dr.Meter.Drops {
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
	q := dr.Query
	if !q.Model.Binds || q.Refs.Conv.Thinking == decant.ThinkingOff {
		return false
	}
	switch q.Unfit() {
	case dialect.UnfitDropped:
		return false
	case dialect.UnfitUnsaid:
		if q.Known.Says(TopicBinding, q.Env.Now()) == Unenforced {
			return false
		}
	}
	return dr.Before.Has(decant.KindThinking)
}

// Account returns the account that the request is for: the one that answered the conversation last, if the
// request goes to the same provider. It is nil while nobody has answered.
func (q *Input) Account(m *Meter) *Account {
	who := m.Account
	if who == nil || !q.Model.Binds && q.Request.Asker == nil && !q.Preset.Native.Compaction.On() || who.Upstream != AccountName(q.Request.Upstream) && q.Request.Upstream != "" {
		return nil
	}
	return who
}
