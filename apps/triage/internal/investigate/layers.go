package investigate

import (
	"cmp"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/preset"
)

// What a plain loop does: as many answers, and as much thinking before each of them, for every error.
const (
	plainIterations = 15
	plainThinking   = 8000 // tokens
)

// limits sets what limits an investigation, as far as its layers are on.
func (v *Investigator) limits(a *agent.Options, e effort) {
	a.Turns = v.iterations(e)
	if v.o.Off.On(LayerBudget) {
		a.Budget, a.Allowance = agent.Budget{Tokens: cmp.Or(v.o.Budget, DefaultBudget)}, v.o.Allowance
	}
	a.Thinking = v.thinking(e)
	a.Preset = staged(v.o.Preset, v.o.Off)
	switch {
	case !v.o.Off.On(LayerPromptCache):
		a.Unmarked = true
	case v.o.LongCache:
		a.LongCache = true
	default:
		a.LongFixed = v.o.LongFixed
	}
}

// iterations returns how many answers an error is worth.
func (v *Investigator) iterations(e effort) int {
	if v.o.Off.On(LayerIterations) {
		return e.iterations
	}
	return plainIterations
}

// thinking returns how much the model may think about an error, nil where it does not.
func (v *Investigator) thinking(e effort) agent.Schedule {
	switch {
	case !v.o.Thinking:
		return nil
	case v.o.Off.On(LayerThinking):
		return agent.Fading(e.complexity.thinking())
	}
	return agent.Steady(plainThinking)
}

// allowed returns how many tokens of thinking a schedule has given for so many answers.
func allowed(s agent.Schedule, iterations, limit int) (n int) {
	if s == nil {
		return 0
	}
	for i := range iterations {
		n += s(i, limit)
	}
	return n
}

// staged returns a preset without the stages that are off.
func staged(p *preset.Preset, off LayerSet) *preset.Preset {
	if p == nil {
		return nil
	}
	out := *p
	if !off.On(LayerEditing) {
		out.Native.Editing = preset.Editing{}
	}
	if !off.On(LayerCompaction) {
		out.Native.Compaction, out.Trigger.Answers = preset.Compaction{}, 0
	}
	return &out
}

// Work is what the layers have done in an investigation, as it was counted. What a process did that was interrupted is not in it.
type Work struct {
	Edits       int `json:"edits_applied"`     // times that old results and thinking were cleared
	Cleared     int `json:"tokens_cleared"`    // by them, as Decant counts them
	Compactions int `json:"compactions"`       // times that a summary took the place of old messages
	Summarised  int `json:"tokens_summarised"` // by them, as Decant counts them
	Thinking    int `json:"thinking_allowed"`  // tokens that the model could have thought
	Earlier     int `json:"earlier_told"`      // summaries of errors of the run
	Prior       int `json:"prior_told"`        // findings of earlier runs
	Cut         int `json:"results_cut"`       // results of tools that were longer than their limit
	Left        int `json:"characters_cut"`    // that they lost

	Effects Effects `json:"effects,omitzero"` // on prompts
}

// heard counts an event.
func (w *Work) heard(e *agent.Event) {
	switch {
	case e.Kind != agent.EventPour || e.Pour == nil:
	case e.Pour.Covered > 0:
		w.Compactions++
		w.Summarised += max(e.Pour.Before-e.Pour.After, 0)
	default:
		w.Edits++
		w.Cleared += max(e.Pour.Before-e.Pour.After, 0)
	}
}

// Plus returns the sum of two counts.
func (w Work) Plus(o Work) Work {
	return Work{
		Edits: w.Edits + o.Edits, Cleared: w.Cleared + o.Cleared, Compactions: w.Compactions + o.Compactions, Summarised: w.Summarised + o.Summarised,
		Effects: w.Effects.Plus(o.Effects), Thinking: w.Thinking + o.Thinking, Earlier: w.Earlier + o.Earlier, Prior: w.Prior + o.Prior, Cut: w.Cut + o.Cut, Left: w.Left + o.Left,
	}
}
