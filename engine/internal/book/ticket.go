package book

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
)

// A Ticket is what was sent for a query, or is about to be: the only thing that Finish gets. Its archive brings it up to
// date with what has become of the conversation since; nothing else looks at it then.
type Outgoing struct {
	*plan.Draft
	ID        string            // of the conversation that the request begins
	Announced string            // id under which the store knows that the request is under way, empty when it does not
	Trial     *Trial            // of a request that is only observed; nil: it is not
	Snapshot  *Snapshot         // how it stood when it was sent
	Decisions []decant.Decision // made for the request when it was sent
	Decided   int               // decisions of the conversation when it was sent, its own included; -1: what is stored is not what was sent
	State     State
}

// A State is how far a ticket has come: forward only, but for one that has lost its place in the store.
type State uint8

// The states.
const (
	Prepared State = iota // nothing of it has been stored since it was prepared
	Tried                 // its archive has begun: another request may have begun the same conversation since
	Stored                // what it brought is in the store
)

// Stored reports whether what the request brought is in the store.
func (out *Outgoing) Stored() bool { return out.State == Stored }

// Try notes that the archive begins, at the place where the request was prepared.
func (out *Outgoing) Try() { out.State = max(out.State, Tried) }

// Lose notes that what the request brought is not in the store any longer: another process has replaced it.
func (out *Outgoing) Lose() { out.State, out.ID = Tried, "" }

// Of returns the ticket of what a draft has become. It shares nothing with it that changes.
func Of(dr *plan.Draft) *Outgoing {
	out := &Outgoing{Draft: dr.Copy()}
	if out.Input = dr.WithOwnMatch(); out.Match.State != nil {
		out.Decided = len(out.Match.State.Decisions)
	}
	return out
}

// Copy returns a copy that shares nothing which an archive changes.
func (out *Outgoing) Copy() *Outgoing {
	c := *out
	c.Draft = out.Draft.Copy()
	c.Input = out.WithOwnMatch()
	return &c
}

// Look notes how the request stands to its conversation before what it brings is committed.
func (out *Outgoing) Look() {
	if out.Snapshot == nil {
		out.Snapshot = snapshotOf(out.Draft)
	}
}

// Send notes what the request is sent with. What was made for it counts as sent only now: before, a commit brings it.
func (out *Outgoing) Send() {
	out.Look()
	out.Decisions = out.Made
}

// Starts reports whether the request will begin a conversation of its own in the store.
func (out *Outgoing) Starts() bool {
	m := out.Match
	return !out.Stored() && (m.Stored == nil || m.Relation == match.Forks || m.Relation == match.Returns && len(out.Made) > 0)
}

// NewID returns the id that the request's new conversation gets.
func (out *Outgoing) NewID() string {
	if out.ID == "" {
		out.ID, _ = out.IDs.Next() // without an id the store refuses the commit and says so
	}
	return out.ID
}

// Within reports whether everything that a would archive is part of b.
func (out *Outgoing) Within(b *Outgoing) bool {
	in := out.Input
	n := len(in.Prompt.Spine)
	if in.Conv.Fixed.Version != b.Conv.Fixed.Version { // a commit brings one
		return false
	}
	if out.Stored() || b.Stored() || out.NotWorth > 0 || out.Outcome.Reason != "" || n == 0 || n > len(b.Prompt.Spine) || len(in.Prompt.Blocks) > len(b.Prompt.Blocks) {
		return false
	}
	return in.Prompt.Begins(b.Prompt)
}

// Current reports whether the conversation's decisions are those that the request was sent under: then what
// was reported is the size of its view.
func (out *Outgoing) Current() bool {
	in, m := out.Input, out.Match
	switch {
	case m.State == nil:
		return true
	case m.Relation == match.Forks && !out.Stored(): // its own conversation begins with these
		return out.sentUnder(m.Applicable(in.Refs, nil))
	}
	return out.Decided == len(m.State.Decisions)
}

// LeaveAlone makes the ticket one that sends the client's own bytes, whatever was decided about them.
func (out *Outgoing) LeaveAlone() {
	if len(out.InForce) > 0 {
		out.Decided = -1 // what is reported will not be about the view that they make
	}
	out.Made, out.InForce, out.Withdrawn = nil, nil, nil
	out.Before, out.View = out.Conv, out.Conv
	out.Outcome.Before = out.Size(out.View)
	out.Outcome.After = out.Outcome.Before
}

// sentUnder reports whether the request was sent under all of ds.
func (out *Outgoing) sentUnder(ds []decant.Decision) bool {
	under := map[string]bool{}
	for _, d := range slices.Concat(out.InForce, out.Decisions) {
		under[d.ID] = true
	}
	return !slices.ContainsFunc(ds, func(d decant.Decision) bool { return !under[d.ID] })
}

// Base returns how many entries of the chain stay in front of what is new.
func (out *Outgoing) Base() int {
	in := out.Input
	if out.Stored() {
		return in.Match.Kept // the chain is what it made it
	}
	if !in.Refs.Fits {
		return 0
	}
	return in.Match.Leaves()
}

// EntriesFrom returns the index of the first atom that a commit has to add.
func (out *Outgoing) EntriesFrom() int {
	in, m := out.Input, out.Match
	if m.Stored == nil || !in.Refs.Fits {
		return 0
	}
	if m.Relation == match.Returns {
		return len(in.Prompt.Blocks)
	}
	from := 0
	for i, k := range m.Entries {
		if k < 0 || k >= m.Kept {
			break
		}
		from = in.Prompt.Spine[i] + 1
	}
	return from
}
