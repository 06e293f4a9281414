package report

import (
	"fmt"
	"math"
)

// Trials are requests that were only observed: what was sent was the clients' own, and what Decant would have
// made of it was planned and not done.
type Trials struct {
	Requests int     `json:"requests"`
	Sent     int     `json:"sent_tokens"`  // of their prompts
	Would    int     `json:"would_tokens"` // that would have been sent instead
	Spent    float64 `json:"spent_usd"`
	Cost     float64 `json:"would_usd"` // what they would have cost
	Pours    int     `json:"pours"`     // that would have been made
	Risk     int     `json:"facts_at_risk"`
}

// net returns what would have been saved, negative when it would have cost more than it saved.
func (t *Trials) net() float64 { return t.Spent - t.Cost }

// shown returns net as it is printed: what rounds to no cent is neither saved nor lost.
func (t *Trials) shown() float64 {
	if net := t.net(); math.Abs(net) >= .005 {
		return net
	}
	return 0
}

// fact says what would have been saved.
func (t *Trials) fact() string {
	return fmt.Sprintf("%s, %s, and %s tokens, %s, on %s that %s only observed; %s, with %s at risk",
		usd(t.shown()), t.share(), Thousands(t.Sent-t.Would), percent(t.Sent-t.Would, t.Sent),
		plural(t.Requests, "request"), map[bool]string{true: "was", false: "were"}[t.Requests == 1], plural(t.Pours, "pour"), plural(t.Risk, "fact"))
}

// share returns what is shown as a share of what was spent.
func (t *Trials) share() string { return percent(int(1e4*t.shown()), int(1e4*t.Spent)) }

// verdict says it in a few words.
func (t *Trials) verdict() string {
	if t.shown() < 0 {
		return fmt.Sprintf("%s would have been lost, %s of what was spent; nothing was changed", usd(-t.shown()), percent(int(-1e4*t.shown()), int(1e4*t.Spent)))
	}
	return fmt.Sprintf("%s would have been saved, %s of what was spent; nothing was changed", usd(t.shown()), t.share())
}
