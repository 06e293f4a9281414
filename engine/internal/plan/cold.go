package plan

import (
	"github.com/decantdev/decant/policy"
)

// PoursCold reports whether the request behind an answered one would be poured if it found nothing in the cache.
func PoursCold(dr *Draft) bool {
	in := dr.Input
	p := &Pour{Draft: dr, Summarizer: in.Summarizer}
	if in.NoEarlyPours && !dr.Pressed || !dr.Preset.EarlyPours.On() || p.early() == notEarly {
		return false
	}
	p.money = policy.Economy{Early: true, Switched: true}
	p.money.Excess = policy.MeasureExcess(live(dr.View), dr.Outcome.After-in.Fixed, p.earlyTarget())
	e := p.money.Weigh(policy.MeasureEarly(live(dr.View), p.thinning()), in.Fixed, 0, true)
	return policy.Due(policy.Situation{Limits: dr.Limits, Tokens: dr.Outcome.After, Hold: dr.OnHold(), Economy: e}) != ""
}
