package engine

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
)

// size returns the tokens that a view takes, system prompt and tools included: what the provider
// reported last, and an estimate of what came after. Once decisions have changed what it reported
// about, everything is estimated.
func (dr *draft) size(view *decant.Conversation) int {
	reported, estimated := dr.measure(view)
	return reported + estimated
}

// measure returns the two parts of a view's size: what the provider reported, and what is estimated.
func (dr *draft) measure(view *decant.Conversation) (reported, estimated int) {
	if !dr.anchored() || len(dr.made) > 0 && view != dr.before && dr.pourMade() {
		return 0, dr.q.fixed + dr.scale(dr.estimate(view, decant.Ref{}))
	}
	m := &dr.meter
	last := dr.q.match.State.Chain[m.Length-1].Ref
	drift := 0
	if m.Fixed > 0 {
		drift = dr.q.fixed - m.Fixed
	}
	return m.Usage.Context() + drift, dr.scale(dr.estimate(view, last))
}

// mostOff is how many times its estimate text may take, at the worst.
const mostOff = 4

// unsure reports whether the request may be larger than its trigger, for all that is estimated of it.
func (dr *draft) unsure() bool {
	reported, estimated := dr.measure(dr.view)
	return reported+mostOff*estimated > dr.q.limits.Trigger
}

// pourMade reports whether this draft has decided about something that the anchor counts.
func (dr *draft) pourMade() bool {
	last := dr.q.match.State.Chain[dr.meter.Length-1].Ref
	for i := range dr.made {
		if d := &dr.made[i]; d.Checkpoint != nil || d.Target.Message > 0 && !d.Target.Ref.After(last) {
			return true
		}
	}
	return false
}

// anchored reports whether the meter's report is about a beginning of this request as it would be sent.
func (dr *draft) anchored() bool {
	m := &dr.meter
	return (dr.q.match.Relation == lineage.Continues || dr.q.match.Relation == lineage.Replaces) && len(dr.suspended) == 0 && m.Length > 0 && m.Length <= dr.q.match.Kept && m.Length <= len(dr.q.match.State.Chain) &&
		dr.q.match.State.Chain[m.Length-1].Chain == m.Chain && dr.q.holds(m.Length) && len(dr.q.match.State.Decisions) == m.Decisions
}

// holds reports whether the request has the first n entries of the chain.
func (q *query) holds(n int) bool {
	for i := len(q.match.Entries) - 1; i >= 0; i-- {
		if q.match.Entries[i] >= 0 {
			return q.match.Entries[i]+1 >= n || lineage.ThinkingOnly(q.match.State.Chain[q.match.Entries[i]+1:n])
		}
	}
	return false
}

// estimate returns the tokens of the blocks of a view behind a reference, without calibration. The
// answer that followed a reported request was reported with it.
func (dr *draft) estimate(view *decant.Conversation, behind decant.Ref) int {
	n := 0
	answer := behind.Message > 0 && dr.meter.Usage.Output > 0
	for i := len(view.Messages) - 1; i >= 0; i-- {
		m := &view.Messages[i]
		if behind.Message > 0 && m.Number > 0 && m.Number < behind.Message {
			break
		}
		if answer && m.Role == decant.RoleAssistant && dr.q.first(view, i, behind) {
			continue
		}
		n += dr.q.weigh(m, behind)
	}
	return n
}

// first reports whether the view's i-th message is the first of the assistant behind a reference.
func (q *query) first(view *decant.Conversation, i int, behind decant.Ref) bool {
	for k := i - 1; k >= 0 && view.Messages[k].Number > behind.Message; k-- {
		if view.Messages[k].Role == decant.RoleAssistant {
			return false
		}
	}
	return view.Messages[i].Number > behind.Message
}

// weigh returns the tokens of the blocks of m behind a reference.
func (q *query) weigh(m *decant.Message, behind decant.Ref) int {
	n := 0
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if behind.Message > 0 && !b.Ref.After(behind) { // also what Decant wrote, which was reported too
			continue
		}
		n += q.tokens(b)
	}
	if n > 0 {
		n += messageFrame
	}
	return n
}

// messageFrame is how many tokens a message takes besides its blocks.
const messageFrame = 4

// tokens returns the estimated tokens of a block of the view. Those of the request are counted once.
func (q *query) tokens(b *decant.Block) int {
	if i := q.atomOf(b); i >= 0 {
		return q.req.Prompt.Tokens(i, q.est)
	}
	return q.est.Block(b)
}

// atomOf returns the index of the atom that a block of the view is, -1 when it is none or was changed.
func (q *query) atomOf(b *decant.Block) int {
	m := b.Ref.Message - 1
	if !q.refs.Same || b.Changed != "" || m < 0 || m >= len(q.req.Prompt.Starts) {
		return -1
	}
	i := q.req.Prompt.Starts[m] + b.Ref.Block
	if i >= len(q.req.Prompt.Blocks) || q.req.Prompt.Blocks[i].Ref != b.Ref || q.req.Prompt.Blocks[i].Content != b.Content {
		return -1
	}
	return i
}

// scale applies what was learned about the conversation to an estimate.
func (dr *draft) scale(n int) int { return dr.meter.Scale(n) }
