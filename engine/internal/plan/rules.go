package plan

import (
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/preset"
)

// TakesRules reports whether the provider can be given rules for the prompt of this request at all.
func (in *Input) TakesRules() bool {
	p := in.Prompt
	d, ok := p.Dialect.(dialect.Pauser)
	return ok && !in.Observed && in.Model.Provider == p.Dialect.About().Provider &&
		in.Known.Says(TopicRules(in.Model.ID), in.Now()) == "" && d.TakesRules(p.Doc)
}

// carries reports whether the request can have a summary behind which the model has paused.
func (in *Input) carries() bool { return in.Model.Threshold && in.TakesRules() }

// Pauses reports whether the provider shall write a summary in place of an answer once the prompt is large: the preset has a second
// stage, the model can, and whoever sends the request goes on behind the pause.
func (dr *Draft) Pauses() bool {
	n := dr.Preset.Native
	return dr.Continues && !dr.Count && !dr.Demand.Unpause && n.Compaction.On() && n.Route != preset.RouteLocal && dr.carries()
}

// Slides reports whether the provider clears by the rules of the preset as they are written, with each request anew: the preset
// wants that, and names no tools, which these rules could not tell apart.
func (dr *Draft) Slides() bool {
	set := dr.Preset
	return set.Prune == preset.PruneEveryRequest && set.Native.Editing.On() && set.Native.Route != preset.RouteLocal &&
		len(set.Tools.Include)+len(set.Tools.Exclude)+len(set.Tools.Pin) == 0 && dr.Model.Editing && dr.TakesRules()
}
