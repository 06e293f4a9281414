package book

import (
	"fmt"
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/store"
)

// lost returns the decisions that a request was sent with and that are not in force where it is archived:
// another process had taken its tail for given up and replaced it. What was sent stays as it was.
func (tk *Outgoing) lost() (out []decant.Decision) {
	in, m := tk.Draft.Input, tk.Draft.Match
	if m.Relation == match.Continues || m.Relation == match.Returns { // nothing was replaced: what is not in force people have taken back
		return nil
	}
	have := map[string]bool{}
	for _, d := range m.Applicable(in.Refs, tk.Draft.Withdrawn) {
		have[d.ID] = true
	}
	used := map[string]bool{} // ids are unique within a conversation
	if m.State != nil {
		for i := range m.State.Decisions {
			used[m.State.Decisions[i].ID] = true
		}
	}
	w := match.Presence{Conv: in.Conv, Unknown: math.MaxInt}
	for _, d := range slices.Concat(tk.Draft.InForce, tk.Sent) {
		if have[d.ID] || !(d.Checkpoint != nil && w.Covers(d.Checkpoint) || d.Kind.Edits() && w.Confirms(&d.Target)) {
			continue
		}
		if used[d.ID] {
			d.ID += " again" // it was taken back with the tail
		}
		out = append(out, tk.renumbered(d))
	}
	return out
}

// renumbered returns a decision that was made when the conversation was another. The number of a checkpoint that
// another one has since, or the same one before it was taken back, is replaced; what it says stays.
func (tk *Outgoing) renumbered(d decant.Decision) decant.Decision {
	in, m := tk.Draft.Input, tk.Draft.Match
	if d.Checkpoint == nil || m.State == nil {
		return d
	}
	have := m.State.Decisions
	if tk.Starts() {
		have = m.AtBranch()
	}
	if !slices.ContainsFunc(have, func(o decant.Decision) bool { return o.Checkpoint != nil && o.Checkpoint.Number == d.Checkpoint.Number }) {
		return d
	}
	cp := *d.Checkpoint
	cp.Number = in.Checkpoints() + 1
	d.Checkpoint, d.Handle = &cp, decant.Handle(fmt.Sprintf("c:%d", cp.Number))
	return d
}

// origin returns where the request's own conversation begins, nil when it shares nothing with another.
func (tk *Outgoing) origin() *store.Origin {
	m := tk.Draft.Match
	if m.Stored == nil || tk.Base() == 0 {
		return nil
	}
	if m.Branch != nil {
		o := m.Branch.Origin
		return &o
	}
	return &store.Origin{Parent: m.Stored.Key.ID, Version: m.State.Version, Position: tk.Base(), InForce: m.State.Version}
}
