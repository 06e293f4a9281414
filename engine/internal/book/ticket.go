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
	Draft     *plan.Draft
	ID        string            // of the conversation that the request begins
	Announced string            // id under which the store knows that the request is under way, empty when it does not
	Trial     *Trial            // of a request that is only observed; nil: it is not
	Sight     *Snapshot         // how it stood when it was sent
	Sent      []decant.Decision // made for the request when it was sent
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
func (tk *Outgoing) Stored() bool { return tk.State == Stored }

// Try notes that the archive begins, at the place where the request was prepared.
func (tk *Outgoing) Try() { tk.State = max(tk.State, Tried) }

// Lose notes that what the request brought is not in the store any longer: another process has replaced it.
func (tk *Outgoing) Lose() { tk.State, tk.ID = Tried, "" }

// Of returns the ticket of what a draft has become. It shares nothing with it that changes.
func Of(dr *plan.Draft) *Outgoing {
	out := &Outgoing{Draft: dr.Copy(), Decided: dr.Decisions()}
	out.Draft.Input = dr.WithOwnMatch()
	return out
}

// Copy returns a copy that shares nothing which an archive changes.
func (tk *Outgoing) Copy() *Outgoing {
	out := *tk
	out.Draft = tk.Draft.Copy()
	out.Draft.Input = tk.Draft.WithOwnMatch()
	return &out
}

// Look notes how the request stands to its conversation before what it brings is committed.
func (tk *Outgoing) Look() {
	if tk.Sight == nil {
		tk.Sight = snapshotOf(tk.Draft)
	}
}

// Send notes what the request is sent with. What was made for it counts as sent only now: before, a commit brings it.
func (tk *Outgoing) Send() {
	tk.Look()
	tk.Sent = tk.Draft.Made
}

// Starts reports whether the request will begin a conversation of its own in the store.
func (tk *Outgoing) Starts() bool {
	m := tk.Draft.Match
	return !tk.Stored() && (m.Stored == nil || m.Relation == match.Forks || m.Relation == match.Returns && len(tk.Draft.Made) > 0)
}

// NewID returns the id that the request's new conversation gets.
func (tk *Outgoing) NewID() string {
	if tk.ID == "" {
		tk.ID, _ = tk.Draft.IDs.Next() // without an id the store refuses the commit and says so
	}
	return tk.ID
}

// Within reports whether everything that a would archive is part of b.
func (tk *Outgoing) Within(b *Outgoing) bool {
	in := tk.Draft.Input
	n := len(in.Prompt.Spine)
	if in.Conv.Fixed.Version != b.Draft.Conv.Fixed.Version { // a commit brings one
		return false
	}
	if tk.Stored() || b.Stored() || tk.Draft.NotWorth > 0 || tk.Draft.Outcome.Reason != "" || n == 0 || n > len(b.Draft.Prompt.Spine) || len(in.Prompt.Blocks) > len(b.Draft.Prompt.Blocks) {
		return false
	}
	return in.Prompt.Begins(b.Draft.Prompt)
}

// Current reports whether the conversation's decisions are those that the request was sent under: then what
// was reported is the size of its view.
func (tk *Outgoing) Current() bool {
	in, m := tk.Draft.Input, tk.Draft.Match
	switch {
	case m.State == nil:
		return true
	case m.Relation == match.Forks && !tk.Stored(): // its own conversation begins with these
		return tk.sentUnder(m.Applicable(in.Refs, nil))
	}
	return tk.Decided == len(m.State.Decisions)
}

// LeaveAlone makes the ticket one that sends the client's own bytes, whatever was decided about them.
func (tk *Outgoing) LeaveAlone() {
	if len(tk.Draft.InForce) > 0 {
		tk.Decided = -1 // what is reported will not be about the view that they make
	}
	tk.Draft.Made, tk.Draft.InForce, tk.Draft.Withdrawn = nil, nil, nil
	tk.Draft.Before, tk.Draft.View = tk.Draft.Conv, tk.Draft.Conv
	tk.Draft.Outcome.Before = tk.Draft.Size(tk.Draft.View)
	tk.Draft.Outcome.After = tk.Draft.Outcome.Before
}

// sentUnder reports whether the request was sent under all of ds.
func (tk *Outgoing) sentUnder(ds []decant.Decision) bool {
	under := map[string]bool{}
	for _, d := range slices.Concat(tk.Draft.InForce, tk.Sent) {
		under[d.ID] = true
	}
	return !slices.ContainsFunc(ds, func(d decant.Decision) bool { return !under[d.ID] })
}

// Base returns how many entries of the chain stay in front of what is new.
func (tk *Outgoing) Base() int {
	in := tk.Draft.Input
	if tk.Stored() {
		return in.Match.Kept // the chain is what it made it
	}
	if !in.Refs.Fits {
		return 0
	}
	return in.Match.Leaves()
}

// EntriesFrom returns the index of the first atom that a commit has to add.
func (tk *Outgoing) EntriesFrom() int {
	in, m := tk.Draft.Input, tk.Draft.Match
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
