package plan

import (
	"github.com/decantdev/decant/policy"
)

// PoursCold reports whether the request behind an answered one would be poured if it found nothing in the cache.
func PoursCold(dr *Draft) bool {
	q := dr.Query
	p := &Pour{Draft: dr, Summarizer: q.Request.Summarizer}
	if q.Env.NoEarlyPours && !q.Pressed || !q.Preset.EarlyPours.On() || p.early() == notEarly {
		return false
	}
	p.money = policy.Economy{Early: true, Switched: true}
	p.money.Excess = policy.MeasureExcess(live(dr.View), dr.Outcome.After-q.Fixed, p.earlyTarget())
	e := p.money.Weigh(policy.MeasureEarly(live(dr.View), p.thinning()), q.Fixed, 0, true)
	return policy.Due(policy.Situation{Limits: q.Limits, Tokens: dr.Outcome.After, Hold: dr.OnHold(), Economy: e}) != ""
}
