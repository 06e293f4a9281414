package deliver

import (
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// A bill is what a run was billed for prompts, and what it would have been with other layers, in tokens of a fresh prompt. It is computed from the prompts that
// there were, as if the model had asked the same and answered as often: what a limit of tokens or answers has prevented nobody knows.
type bill struct {
	On, Off   int     // as it was, and without the layers below
	Shares    []share // of the layers that have changed something
	Remainder int     // that they have saved together and not one by one
}

// A share is what a layer has in a bill.
type share struct {
	Layer   investigate.Layer
	Without int // billed, had it alone been missing
	Only    int // billed, had it been the only one
}

// billOf returns what the layers have saved of what prompts cost, nil where no layer has changed anything.
func billOf(r *Report) *bill {
	l := &r.Totals.Layers
	var all []investigate.Layer
	for _, name := range investigate.AllLayers() {
		if e, ok := l.Effects.Of(name); ok && e.Tokens != 0 || name == investigate.LayerPromptCache && l.Usage.CacheRead+l.Usage.CacheWrite > 0 {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	with := func(keep func(investigate.Layer) bool) int {
		cached := keep(investigate.LayerPromptCache)
		sum := float64(l.Usage.Prompt())
		if cached {
			sum = investigate.Billed(l.Usage)
		}
		for _, name := range all {
			if e, ok := l.Effects.Of(name); ok && !keep(name) {
				sum += e.Billed(cached)
			}
		}
		return int(sum)
	}
	out := &bill{On: with(func(investigate.Layer) bool { return true }), Off: with(func(investigate.Layer) bool { return false })}
	out.Remainder = out.Off - out.On
	for _, name := range all {
		s := share{name, with(func(l investigate.Layer) bool { return l != name }), with(func(l investigate.Layer) bool { return l == name })}
		out.Shares = append(out.Shares, s)
		out.Remainder -= out.Off - s.Only
	}
	return out
}

// billText says what the figures of a bill are.
const billText = "Billed for prompts, in tokens of a fresh one: those read from the provider's cache count a tenth, those written " +
	"to it 1.25 or 2. Computed from the prompts of this run, as if the model had asked the same. The effect of limits, thinking " +
	"and the code cache does not show in one run."
