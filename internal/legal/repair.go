package legal

import (
	"slices"

	"github.com/decantdev/decant"
)

// The texts that a view has where history was broken.
const (
	interrupted = "[decant: this call was interrupted; no result was recorded and its outcome is unknown]"
	beginning   = "[decant: the conversation before this message is not available]"
)

// Repair repairs messages that are broken for an API. It returns the result and one decision of kind
// repair for each change, or ms itself if nothing is wrong. It does not modify ms or its blocks.
//
// Each call gets its result in the message directly after it. Results behind other content, or in a
// later message, move up; a call without a result gets one which says that it was interrupted. Results
// that answer no call, second results and empty messages are left out. For the Messages API empty texts
// are left out, and so are calls that the server answers itself without a result and results without such a call;
// a conversation that starts with the assistant gets a first message. Blocks that move keep their Ref; blocks that
// Decant adds have none.
//
// A result belongs to the newest call with its id that is still unanswered, because ids may repeat.
func Repair(api API, ms []decant.Message) ([]decant.Message, []decant.Decision) {
	if !broken(api, ms) {
		return ms, nil
	}
	r := &repairer{api: api, in: ms, drop: map[place]bool{}, carrier: carrier(api, ms)}
	r.leaveOut()
	for r.pair(); r.deduplicate(); r.pair() {
	}
	r.assemble()
	r.serve()
	return r.out, r.made
}

// broken reports whether there is anything to repair.
func broken(api API, ms []decant.Message) bool {
	if len(ms) == 0 {
		return false
	}
	c := &checker{rules: Rules{API: api, Prefill: true, ReuseIDs: true}, view: &decant.Conversation{}, ms: ms}
	switch api {
	case Chat:
		c.chat()
	case Responses:
		c.outputs(c.items())
	default:
		c.pairing(turnsOf(ms))
	}
	return len(c.found) > 0
}

// carrier returns the role that messages with results have in a conversation for an API.
func carrier(api API, ms []decant.Message) decant.Role {
	role := decant.RoleUser
	if api != Messages {
		role = decant.RoleTool
	}
	for i := range ms {
		for k := range ms[i].Blocks {
			answers := ms[i].Role == decant.RoleUser || ms[i].Role == decant.RoleTool
			if answers && ms[i].Blocks[k].Kind == decant.KindResult {
				return ms[i].Role
			}
		}
	}
	return role
}

type repairer struct {
	api     API
	in      []decant.Message
	carrier decant.Role
	drop    map[place]bool  // blocks to omit
	answer  map[place]place // place of the result of each answered call
	out     []decant.Message
	made    []decant.Decision
}

func (r *repairer) at(p place) *decant.Block { return &r.in[p.message].Blocks[p.block] }

// decide records a repair of a block.
func (r *repairer) decide(b *decant.Block, reason, text string) {
	r.made = append(r.made, decant.Decision{
		Kind: decant.Repair, Reduction: decant.ReductionRepair, Reason: reason, Target: decant.TargetOf(b), Text: text,
	})
}

// remove leaves a block out.
func (r *repairer) remove(p place, reason string) {
	r.drop[p] = true
	r.decide(r.at(p), reason, "")
}

// each calls f with every block that is not left out, and its place.
func (r *repairer) each(f func(p place, b *decant.Block)) {
	for i := range r.in {
		for k := range r.in[i].Blocks {
			if p := (place{i, k}); !r.drop[p] {
				f(p, r.at(p))
			}
		}
	}
}

// leaveOut removes what cannot be paired: empty texts, and calls and results of the wrong speaker.
func (r *repairer) leaveOut() {
	r.each(func(p place, b *decant.Block) {
		role := r.in[p.message].Role
		switch {
		case b.Kind == decant.KindText && r.api == Messages && blank(b):
			r.remove(p, "the text is empty")
		case b.Kind == decant.KindUse && role != decant.RoleAssistant:
			r.remove(p, "a call in a message that is not the assistant's")
		case b.Kind == decant.KindResult && (role == decant.RoleAssistant || role == decant.RoleSystem):
			r.remove(p, "a result in a message of the "+string(role))
		}
	})
}

// pair finds the result of each call and leaves out the results that answer none.
func (r *repairer) pair() {
	r.answer = map[place]place{}
	open := map[string][]place{}
	r.each(func(p place, b *decant.Block) {
		switch b.Kind {
		case decant.KindUse:
			open[b.CallID] = append(open[b.CallID], p)
		case decant.KindResult:
			calls := open[b.CallID]
			if len(calls) == 0 {
				r.remove(p, "the result answers no call, or one that is answered already")
				return
			}
			r.answer[calls[len(calls)-1]] = p
			open[b.CallID] = calls[:len(calls)-1]
		}
	})
}

// deduplicate leaves out calls with the id of another call in their turn, and reports whether there
// were any. The caller must pair again, because their results are now without a call.
func (r *repairer) deduplicate() (found bool) {
	for _, c := range r.runs() {
		seen := map[string]bool{}
		for _, p := range r.calls(c.turn) {
			id := r.at(p).CallID
			if seen[id] {
				r.remove(p, "the same call is recorded twice")
				found = true
			}
			seen[id] = true
		}
	}
	return found
}

// A run is an assistant's turn and what follows it until the next one, as indices of messages. What comes
// before the assistant's first turn is a run without a turn.
type run struct{ turn, reply []int }

// runs splits the messages that are not left out. If results have messages of their own, each message of
// the assistant is a turn, because its calls must be answered directly after it.
func (r *repairer) runs() (out []run) {
	for _, i := range r.kept() {
		assistant := r.in[i].Role == decant.RoleAssistant
		fresh := len(out) == 0 || assistant && (len(out[len(out)-1].reply) > 0 || r.api != Messages)
		if fresh {
			out = append(out, run{})
		}
		c := &out[len(out)-1]
		if assistant {
			c.turn = append(c.turn, i)
		} else {
			c.reply = append(c.reply, i)
		}
	}
	return out
}

// kept returns the indices of the messages that are not left out as a whole.
func (r *repairer) kept() (out []int) {
	for i := range r.in {
		keep := false
		for k := range r.in[i].Blocks {
			keep = keep || !r.drop[place{i, k}]
		}
		if keep {
			out = append(out, i)
		}
	}
	return out
}

// calls returns the calls in messages.
func (r *repairer) calls(turn []int) (out []place) {
	for _, i := range turn {
		for k := range r.in[i].Blocks {
			if p := (place{i, k}); r.at(p).Kind == decant.KindUse && !r.drop[p] {
				out = append(out, p)
			}
		}
	}
	return out
}

// assemble writes the messages out run by run.
func (r *repairer) assemble() {
	r.noteEmpty()
	runs := r.runs()
	if len(runs) > 0 && len(runs[0].turn) > 0 {
		r.insertFirst(&r.in[runs[0].turn[0]])
	}
	for _, c := range runs {
		for _, i := range c.turn {
			r.emit(i, nil)
		}
		r.reply(c)
	}
}

// noteEmpty records the messages that were empty from the start.
func (r *repairer) noteEmpty() {
	for i := range r.in {
		if len(r.in[i].Blocks) == 0 {
			r.made = append(r.made, decant.Decision{Kind: decant.Repair, Reduction: decant.ReductionRepair,
				Reason: "the message is empty", Target: decant.Target{Ref: decant.Ref{Message: r.in[i].Number}}})
		}
	}
}

func (r *repairer) insertFirst(m *decant.Message) {
	if r.api != Messages || compacted(m) {
		return
	}
	b := decant.Block{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text(beginning)}
	r.out = append(r.out, decant.Message{Role: decant.RoleUser, Blocks: []decant.Block{b}})
	r.decide(&m.Blocks[0], "the conversation starts with the assistant", beginning)
}

// reply writes the messages that follow a turn of the assistant, the results of its calls first.
func (r *repairer) reply(c run) {
	var results []decant.Message
	if calls := r.calls(c.turn); !r.inPlace(calls, c.reply) {
		results = r.results(calls, c.reply)
	}
	if len(results) > 0 && len(c.reply) > 0 && r.carrier == decant.RoleUser && r.in[c.reply[0]].Role == decant.RoleUser {
		r.emit(c.reply[0], blocksOf(results))
		results, c.reply = nil, c.reply[1:]
	}
	if r.carrier == decant.RoleUser && len(results) > 1 {
		results = []decant.Message{{Role: decant.RoleUser, Blocks: blocksOf(results)}}
	}
	r.out = append(r.out, results...)
	for _, i := range c.reply {
		r.emit(i, nil)
	}
}

func blocksOf(ms []decant.Message) (out []decant.Block) {
	for i := range ms {
		out = append(out, ms[i].Blocks...)
	}
	return out
}

// inPlace reports whether the reply starts with exactly one result of each call, in any order.
func (r *repairer) inPlace(calls []place, reply []int) bool {
	n := 0
	for _, call := range calls {
		p, answered := r.answer[call]
		if !answered || !r.stands(p, reply) {
			return false
		}
		n++
	}
	return n == len(calls)
}

// stands reports whether a result is in the reply with only results before it.
func (r *repairer) stands(p place, reply []int) bool {
	for _, i := range reply {
		if r.in[i].Role == decant.RoleSystem {
			return false
		}
		for k := range r.in[i].Blocks {
			q := place{i, k}
			if q == p {
				return true
			}
			if !r.drop[q] && r.at(q).Kind != decant.KindResult {
				return false
			}
		}
	}
	return false
}

// results returns one message for each call with its result, made up if it is missing, and removes the
// results from where they stood.
func (r *repairer) results(calls []place, reply []int) (out []decant.Message) {
	moved := map[place]bool{}
	for _, call := range calls {
		p, answered := r.answer[call]
		if !answered {
			out = append(out, r.missing(call))
			continue
		}
		if !r.stands(p, reply) {
			r.decide(r.at(p), "the result stands behind other content and moves up to its call", "")
		}
		m := decant.Message{Role: r.carrier, Blocks: []decant.Block{*r.at(p)}}
		if in := &r.in[p.message]; in.Role == decant.RoleTool && len(in.Blocks) == 1 {
			m = *in
		}
		out = append(out, m)
		moved[p] = true
	}
	for p := range moved {
		r.drop[p] = true
	}
	return out
}

// missing makes a result for a call that has none.
func (r *repairer) missing(call place) decant.Message {
	b := r.at(call)
	r.decide(b, "the call was interrupted and has no result", interrupted)
	return decant.Message{Role: r.carrier, Blocks: []decant.Block{{
		Kind: decant.KindResult, Author: decant.AuthorDecant, CallID: b.CallID, Name: b.Name,
		Error: true, Content: decant.Text(interrupted),
	}}}
}

// emit writes the given blocks and behind them what is left of message i. A message without blocks
// vanishes.
func (r *repairer) emit(i int, before []decant.Block) {
	m := r.in[i]
	blocks := slices.Clone(before)
	for k := range m.Blocks {
		if !r.drop[place{i, k}] {
			blocks = append(blocks, m.Blocks[k])
		}
	}
	if len(before) == 0 && len(blocks) == len(m.Blocks) {
		r.out = append(r.out, m)
		return
	}
	if m.Blocks = blocks; len(blocks) > 0 {
		r.out = append(r.out, m)
	}
}

// serve leaves out the server's calls that can get no result any more, and its results that answer no call.
func (r *repairer) serve() {
	if r.api != Messages {
		return
	}
	c := &checker{ms: r.out}
	s := c.served(turnsOf(r.out))
	gone := map[place]bool{}
	for _, p := range s.missed {
		gone[p] = true
		r.decide(c.block(p), "the server's call was interrupted and has no result", "")
	}
	for _, p := range s.orphans {
		gone[p] = true
		r.decide(c.block(p), "the server's result answers no call", "")
	}
	if len(gone) == 0 {
		return
	}
	r.in, r.drop, r.out = r.out, gone, nil
	for i := range r.in {
		r.emit(i, nil)
	}
}
