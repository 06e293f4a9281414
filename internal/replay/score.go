package replay

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/wire"
)

// weigh judges what a request was sent.
func (r *run) weigh(q int, s step) {
	o := &r.out
	v := r.judge.judge(q, s.messages)
	o.Gold, o.Kept, o.Grounded = o.Gold+v.gold, o.Kept+v.kept, o.Grounded+v.grounded
	r.anywhere += v.anywhere
	if s.reason != "" {
		v = r.judge.of(r.judge.later(q), r.seg.requests[q].messages, s.messages)
		o.Later, o.LaterKept, o.LaterGrounded = o.Later+v.gold, o.LaterKept+v.kept, o.LaterGrounded+v.grounded
	}
	if len(s.made) > 0 || q == len(r.seg.requests)-1 {
		o.Illegal += r.illegal(q, s.messages)
	}
}

// illegal returns how many rules a view breaks that the recording does not.
func (r *run) illegal(q int, view []decant.Message) int {
	req := &r.seg.requests[q]
	rules := legal.RulesFor(legal.Messages, req.model, r.seg.conv.Thinking)
	rules.Record = true
	was := map[legal.Rule]int{}
	whole := r.seg.conv.With(r.seg.conv.Messages[:req.messages])
	for _, v := range legal.Check(whole, rules) {
		was[v.Rule]++
	}
	bad := 0
	for _, v := range legal.Check(r.seg.conv.With(view), rules) {
		if was[v.Rule]--; was[v.Rule] < 0 {
			bad++
		}
	}
	return bad
}

// prove says which must-keep facts of the conversation the last view still has.
func (r *run) prove(view []decant.Message) {
	if len(view) == 0 {
		return
	}
	n := r.seg.requests[len(r.seg.requests)-1].messages
	if r.judge.facts == nil {
		r.judge.facts = fact.Extract(context.Background(), r.seg.conv.Messages[:n])
	}
	res := fact.Check(context.Background(), r.judge.facts, wire.Text(r.seg.conv.With(view)))
	r.out.Facts += len(r.judge.facts)
	r.out.AtRisk += len(res.Missing)
}
