package pour

import (
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/policy"
)

// Cold returns about how many tokens the prompt of an answered request would have after the pour that comes if the next one finds
// nothing in the cache, and how many of them are messages; 0 where there would be no such pour.
func Cold(dr *draft.Draft) (tokens, messages int) {
	q := dr.Query
	p := &Pour{Draft: dr, Summarizer: q.Request.Summarizer}
	if q.Env.NoEarlyPours && !q.Pressed || !q.Preset.EarlyPours.On() || dr.OnHold() || p.early() == notEarly {
		return 0, 0
	}
	t := p.thinning()
	t.Cold = true
	tokens = dr.Outcome.After - policy.MeasureEarly(live(dr.View), t).Freed
	if target := p.earlyTarget(); target > 0 {
		tokens = min(tokens, q.Fixed+target)
	}
	return tokens, max(0, tokens-q.Fixed)
}
