package engine

import (
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
)

// A ticket is what was sent for a query, or is about to be: the only thing that Finish gets. Its archive brings it up to
// date with what has become of the conversation since; nothing else looks at it then.
type ticket struct {
	dr        *draft
	id        string // of the conversation that the request begins
	announced string // id under which the store knows that the request is under way, empty when it does not
	trial     *trial // of a request that is only observed; nil: it is not
	sight     *sight // how it stood when it was sent
	decided   int    // decisions of the conversation when it was sent, its own included; -1: what is stored is not what was sent
	committed bool   // what it brought is in the store
	moved     bool   // its place must be found anew before it is archived
}

// copy returns a copy that shares nothing which an archive changes.
func (tk *ticket) copy() *ticket {
	out := *tk
	q, d := *tk.dr.q, *tk.dr
	d.q, out.dr = &q, &d
	return &out
}

// prepared returns what is sent for the ticket, in a body.
func (tk *ticket) prepared(body []byte) *Prepared {
	if tk.sight == nil {
		tk.sight = tk.dr.look()
	}
	tk.dr.report.Decisions, tk.dr.report.LeftOut = tk.dr.made, tk.sight.lacks
	if len(tk.dr.made) > 0 && !tk.dr.q.req.Count { // what is only counted is decided by the request itself
		tk.dr.report.Freed = tk.dr.report.LeftOut - policy.LeftOut(tk.dr.inForce)
	}
	p := &Prepared{Body: body, Betas: tk.dr.neededBetas(), Report: tk.dr.report, ticket: tk}
	switch {
	case tk.starts():
		p.Conversation = tk.newID()
	case tk.dr.q.match.Stored != nil:
		p.Conversation = tk.dr.q.match.Stored.Key.ID
		p.Report.Version = tk.dr.q.match.State.Version
	}
	return p
}

// starts reports whether the request will begin a conversation of its own in the store.
func (tk *ticket) starts() bool {
	return !tk.committed && (tk.dr.q.match.Stored == nil || tk.dr.q.match.Relation == lineage.Forks || tk.dr.q.match.Relation == lineage.Returns && len(tk.dr.made) > 0)
}

// newID returns the id that the request's new conversation gets.
func (tk *ticket) newID() string {
	if tk.id == "" {
		tk.id, _ = tk.dr.q.e.ids.Next() // without an id the store refuses the commit and says so
	}
	return tk.id
}
