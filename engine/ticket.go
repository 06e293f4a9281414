package engine

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
)

// A ticket is what was sent for a query, or is about to be: the only thing that Finish gets. Its archive brings it up to
// date with what has become of the conversation since; nothing else looks at it then.
type ticket struct {
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

// ticketOf returns the ticket of what a draft has become. It shares nothing with it that changes.
func ticketOf(dr *draft.Draft) *ticket { return &ticket{dr: dr.Copy(), decided: dr.Decisions()} }

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

// within reports whether everything that a would archive is part of b.
func (tk *ticket) within(b *ticket) bool {
	n := len(tk.dr.Query.Request.Prompt.Spine)
	if tk.dr.Query.Refs.Conv.Fixed.Version != b.dr.Query.Refs.Conv.Fixed.Version { // a commit brings one
		return false
	}
	if tk.committed || b.committed || tk.dr.NotWorth > 0 || tk.dr.Outcome.Reason != "" || n == 0 || n > len(b.dr.Query.Request.Prompt.Spine) || len(tk.dr.Query.Request.Prompt.Blocks) > len(b.dr.Query.Request.Prompt.Blocks) {
		return false
	}
	return tk.dr.Query.Request.Prompt.Begins(b.dr.Query.Request.Prompt)
}

// current reports whether the conversation's decisions are those that the request was sent under: then what
// was reported is the size of its view.
func (tk *ticket) current() bool {
	switch {
	case tk.dr.Query.Match.State == nil:
		return true
	case tk.dr.Query.Match.Relation == lineage.Forks && !tk.committed: // its own conversation begins with these
		return tk.sentUnder(tk.dr.Query.Match.Applicable(tk.dr.Query.Refs, nil))
	}
	return tk.decided == len(tk.dr.Query.Match.State.Decisions)
}

// leaveAlone makes the ticket one that sends the client's own bytes, whatever was decided about them.
func (tk *ticket) leaveAlone() {
	if len(tk.dr.InForce) > 0 {
		tk.decided = -1 // what is reported will not be about the view that they make
	}
	tk.dr.Made, tk.dr.InForce, tk.dr.Withdrawn = nil, nil, nil
	tk.dr.Before, tk.dr.View = tk.dr.Query.Refs.Conv, tk.dr.Query.Refs.Conv
	tk.dr.Outcome.Before = tk.dr.Size(tk.dr.View)
	tk.dr.Outcome.After = tk.dr.Outcome.Before
}

// sentUnder reports whether the request was sent under all of ds.
func (tk *ticket) sentUnder(ds []decant.Decision) bool {
	under := map[string]bool{}
	for _, d := range slices.Concat(tk.dr.InForce, tk.sent) {
		under[d.ID] = true
	}
	return !slices.ContainsFunc(ds, func(d decant.Decision) bool { return !under[d.ID] })
}

// base returns how many entries of the chain stay in front of what is new.
func (tk *ticket) base() int {
	if tk.committed {
		return tk.dr.Query.Match.Kept // the chain is what it made it
	}
	if !tk.dr.Query.Refs.Fits {
		return 0
	}
	return tk.dr.Query.Match.Leaves()
}

// entriesFrom returns the index of the first atom that a commit has to add.
func (tk *ticket) entriesFrom() int {
	if tk.dr.Query.Match.Stored == nil || !tk.dr.Query.Refs.Fits {
		return 0
	}
	if tk.dr.Query.Match.Relation == lineage.Returns {
		return len(tk.dr.Query.Request.Prompt.Blocks)
	}
	from := 0
	for i, k := range tk.dr.Query.Match.Entries {
		if k < 0 || k >= tk.dr.Query.Match.Kept {
			break
		}
		from = tk.dr.Query.Request.Prompt.Spine[i] + 1
	}
	return from
}
