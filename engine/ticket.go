package engine

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
)

// A ticket is what was sent for a query, or is about to be: the only thing that Finish gets. Its archive brings it up to
// date with what has become of the conversation since; nothing else looks at it then.
type ticket struct {
	req       *Request
	dr        *draft.Draft
	id        string            // of the conversation that the request begins
	announced string            // id under which the store knows that the request is under way, empty when it does not
	trial     *trial            // of a request that is only observed; nil: it is not
	sight     *sight            // how it stood when it was sent
	sent      []decant.Decision // made for the request when it was sent
	decided   int               // decisions of the conversation when it was sent, its own included; -1: what is stored is not what was sent
	committed bool              // what it brought is in the store
	moved     bool              // its place must be found anew before it is archived
}

// copy returns a copy that shares nothing which an archive changes.
func (tk *ticket) copy() *ticket {
	out := *tk
	out.dr = tk.dr.Copy()
	return &out
}

// prepared returns what is sent for the ticket, in a body.
func (tk *ticket) prepared(body []byte) *Prepared {
	if tk.sight == nil {
		tk.sight = sightOf(tk.dr)
	}
	tk.sent = tk.dr.Made
	p := &Prepared{Body: body, Betas: tk.dr.NeededBetas(), Report: tk.report(), ticket: tk}
	switch {
	case tk.starts():
		p.Conversation = tk.newID()
	case tk.dr.Query.Match.Stored != nil:
		p.Conversation = tk.dr.Query.Match.Stored.Key.ID
		p.Report.Version = tk.dr.Query.Match.State.Version
	}
	return p
}

// starts reports whether the request will begin a conversation of its own in the store.
func (tk *ticket) starts() bool {
	return !tk.committed && (tk.dr.Query.Match.Stored == nil || tk.dr.Query.Match.Relation == lineage.Forks || tk.dr.Query.Match.Relation == lineage.Returns && len(tk.dr.Made) > 0)
}

// newID returns the id that the request's new conversation gets.
func (tk *ticket) newID() string {
	if tk.id == "" {
		tk.id, _ = tk.dr.Query.Env.IDs.Next() // without an id the store refuses the commit and says so
	}
	return tk.id
}

// report returns what was decided about the request.
func (tk *ticket) report() Report {
	q, o := tk.dr.Query, &tk.dr.Outcome
	r := Report{
		Relation: string(q.Match.Relation), Reason: o.Reason, Route: o.Route, Plan: o.Plan, Before: o.Before, After: o.After,
		Decisions: tk.sent, LeftOut: tk.sight.lacks, Window: q.Model.Window, Messages: len(q.Refs.Conv.Messages),
	}
	if len(tk.sent) > 0 && !q.Request.Count { // what is only counted is decided by the request itself
		r.Freed = r.LeftOut - policy.LeftOut(tk.dr.InForce)
	}
	return r
}
