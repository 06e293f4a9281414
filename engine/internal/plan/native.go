package plan

import (
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
)

// Clearing returns what the request has to ask the provider for so that the model reads the view; nil when
// nothing, and false when it cannot be asked for.
func (dr *Draft) Clearing() (dialect.ProviderClearing, bool) {
	native := policy.NativeIn(dr.InForce, dr.Made)
	if native == nil {
		return nil, true
	}
	return dr.clearingBy(dr.View, native)
}

// Sent returns what goes to the provider: the view with everything that the provider leaves out.
func (dr *Draft) Sent() (*decant.Conversation, error) {
	if policy.NativeIn(dr.InForce, dr.Made) == nil {
		return dr.View, nil
	}
	return decant.Replay(dr.Conv, decant.Sent(slices.Concat(dr.InForce, dr.Made)))
}

// ask returns a body that asks the provider for what the view needs: another thinking parameter, the clearing of old
// results, and rules for the prompt.
func (dr *Draft) ask(body []byte) ([]byte, error) {
	if dr.Params != nil {
		body = dr.Prompt.Dialect.(dialect.Dropper).WithParams(body, dr.Params) // which has made them
	}
	c, ok := dr.Clearing()
	if !ok {
		return nil, errors.New("render: the provider cannot be asked to clear just what was decided")
	}
	if c != nil {
		var err error
		if body, err = c.Ask(body); err != nil {
			return nil, err
		}
	}
	if r := dr.Rules(); r.Any() {
		return dr.Prompt.Dialect.(dialect.Pauser).Rule(body, r) // there are none otherwise
	}
	return body, nil
}

// NeededBetas returns the betas that the request needs beyond those that the client asks for.
func (dr *Draft) NeededBetas() []string {
	out := dr.Betas[:len(dr.Betas):len(dr.Betas)]
	if c, _ := dr.Clearing(); c != nil && c.Beta() != "" {
		out = append(out, c.Beta())
	}
	if d, ok := dr.Prompt.Dialect.(dialect.Compacter); ok && dialect.Summarised(dr.View) && !dr.carried() {
		out = append(out, d.CompactionBeta())
	}
	if r := dr.Rules(); r.Any() {
		out = append(out, dr.Prompt.Dialect.(dialect.Pauser).RuleBetas(r)...)
	}
	return slices.Compact(out)
}

// suspend takes decisions out of the request that the provider cannot carry out in it, or whose summary it would
// refuse: it goes out whole.
func (dr *Draft) suspend() error {
	in := dr.Input
	native, summarised := policy.NativeIn(dr.InForce), dialect.Summarised(dr.View)
	if native == nil && !summarised {
		return nil
	}
	if native != nil {
		_, ok := in.clearingBy(dr.View, native)
		if ok = ok && !in.AsksForEditing() && in.Editable(); ok {
			native = nil
		}
	}
	if dr.carried() {
		summarised = !in.carries()
	} else {
		summarised = summarised && !in.Compactable()
	}
	if native == nil && !summarised {
		return nil
	}
	var stay []decant.Decision
	for _, d := range dr.InForce {
		if d.Kind == decant.Native && native != nil || d.Checkpoint.Foreign() && summarised {
			dr.Suspended = append(dr.Suspended, d)
		} else {
			stay = append(stay, d)
		}
	}
	dr.InForce = stay
	v, err := decant.Replay(in.Conv, dr.InForce)
	if err != nil {
		return err
	}
	dr.Before, dr.View = v, v
	return nil
}

// Rules returns what the request asks the provider to do with its prompt by itself. A summary that came in place of an
// answer goes with no request that does not ask for the next one; where nobody would go on behind it, at a size that is
// never reached.
func (dr *Draft) Rules() (r dialect.Rules) {
	in := dr.Input
	has := dr.carried()
	if !has && (in.Demand.Unedit || !dr.Pausing && !dr.Slides()) {
		return r
	}
	if dr.Slides() && policy.NativeIn(dr.InForce, dr.Made) == nil {
		e := dr.Preset.Native.Editing
		r.Results, r.KeepCalls, r.Least = e.Tokens, e.KeepCalls, e.Least
		if in.Conv.Thinking.On() {
			r.Thinking = e.KeepThinking
		}
	}
	// A summary would leave less to send: where the provider may find that the time for one has come, something stands before
	// what stays.
	helps := dr.Outcome.Before <= dr.pauseSize() || len(dr.View.Messages) > dr.Preset.Keep.Messages+1
	switch {
	case dr.Pauses() && !(dr.Bound() && in.Conv.OpenRound()) && (has || dr.Pausing || helps):
		r.Summary, r.Instructions = dr.pauseSize(), dr.Preset.Summary.Instructions
	case has:
		r.Summary = in.Model.Window
	}
	return r
}

// pauseSize returns the size at which the model pauses behind a summary: that of the second stage, or less where a pour
// is due before.
func (dr *Draft) pauseSize() int {
	second := &dr.Preset.Native.Compaction
	n := second.Tokens
	if t := dr.Limits.Trigger; t > 0 {
		n = min(n, t)
	}
	return n
}

// carried reports whether the view begins with a summary behind which the model has paused.
func (dr *Draft) carried() bool {
	d, ok := dr.Prompt.Dialect.(dialect.Pauser)
	return ok && dialect.Summarised(dr.View) && d.Unsigned(dr.View.Messages[0].Blocks[0].Text())
}

// Pauses reports whether the provider shall write a summary in place of an answer once the prompt is large: the preset
// has a second stage, the model can, and whoever sends the request goes on behind the pause.
func (dr *Draft) Pauses() bool {
	n := dr.Preset.Native
	return dr.Continues && !dr.Count && !dr.Demand.Unpause && n.Compaction.Tokens > 0 && n.Route != preset.RouteLocal && dr.carries()
}

// Slides reports whether the provider clears by the rules of the preset as they are written, with each request anew:
// the preset wants that, and names no tools, which these rules could not tell apart.
func (dr *Draft) Slides() bool {
	set := dr.Preset
	return set.Prune == preset.PruneEveryRequest && set.Native.Editing.Tokens > 0 && set.Native.Route != preset.RouteLocal &&
		len(set.Tools.Include)+len(set.Tools.Exclude)+len(set.Tools.Pin) == 0 && dr.Model.Editing && dr.TakesRules()
}

// LetDrop has the provider drop thinking that does not fit. It reports false where it cannot be asked to.
func (dr *Draft) LetDrop() bool {
	p := dr.Prompt
	d, ok := p.Dialect.(dialect.Dropper)
	if !ok {
		return false
	}
	params, beta, ok := d.Drop(p.Doc.Source)
	if !ok {
		return false
	}
	dr.Params, dr.Betas = params, nil
	if beta != "" {
		dr.Betas = []string{beta}
	}
	return true
}
