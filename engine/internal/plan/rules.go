package plan

import (
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/preset"
)

// TakesRules reports whether the provider can be given rules for the prompt of this request at all.
func (q *Input) TakesRules() bool {
	p := q.Request.Prompt
	d, ok := p.Dialect.(dialect.Pauser)
	return ok && !q.Request.Observed && q.Model.Provider == p.Dialect.About().Provider &&
		q.Known.Says(TopicRules(q.Model.ID), q.Env.Now()) == "" && d.TakesRules(p.Doc)
}

// carries reports whether the request can have a summary behind which the model has paused.
func (q *Input) carries() bool { return q.Model.Threshold && q.TakesRules() }

// Pauses reports whether the provider shall write a summary in place of an answer once the prompt is large: the preset has a second
// stage, the model can, and whoever sends the request goes on behind the pause.
func (q *Input) Pauses() bool {
	n := q.Preset.Native
	return q.GoesOn && !q.Request.Count && !q.Demand.Unpause && n.Compaction.On() && n.Route != preset.RouteLocal && q.carries()
}

// Slides reports whether the provider clears by the rules of the preset as they are written, with each request anew: the preset
// wants that, and names no tools, which these rules could not tell apart.
func (q *Input) Slides() bool {
	set := q.Preset
	return set.Prune == preset.PruneEveryRequest && set.Native.Editing.On() && set.Native.Route != preset.RouteLocal &&
		len(set.Tools.Include)+len(set.Tools.Exclude)+len(set.Tools.Pin) == 0 && q.Model.Editing && q.TakesRules()
}
