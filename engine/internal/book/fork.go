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
func (out *Outgoing) lost() (lost []decant.Decision) {
	in, m := out.Input, out.Match
	if m.Relation == match.Continues || m.Relation == match.Returns { // nothing was replaced: what is not in force people have taken back
		return nil
	}
	have := map[string]bool{}
	for _, d := range m.Applicable(in.Refs, out.Withdrawn) {
		have[d.ID] = true
	}
	used := map[string]bool{} // ids are unique within a conversation
	if m.State != nil {
		for i := range m.State.Decisions {
			used[m.State.Decisions[i].ID] = true
		}
	}
	w := match.Presence{Conv: in.Conv, Unknown: math.MaxInt}
	for _, d := range slices.Concat(out.InForce, out.Decisions) {
		if have[d.ID] || !(d.Checkpoint != nil && w.Covers(d.Checkpoint) || d.Kind.Edits() && w.Confirms(&d.Target)) {
			continue
		}
		if used[d.ID] {
			d.ID += " again" // it was taken back with the tail
		}
		lost = append(lost, out.renumbered(d))
	}
	return lost
}

// renumbered returns a decision that was made when the conversation was another. The number of a checkpoint that
// another one has since, or the same one before it was taken back, is replaced; what it says stays.
func (out *Outgoing) renumbered(d decant.Decision) decant.Decision {
	in, m := out.Input, out.Match
	if d.Checkpoint == nil || m.State == nil {
		return d
	}
	have := m.State.Decisions
	if out.Starts() {
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
func (out *Outgoing) origin() *store.Origin {
	m := out.Match
	if m.Stored == nil || out.Base() == 0 {
		return nil
	}
	if m.Branch != nil {
		o := m.Branch.Origin
		return &o
	}
	return &store.Origin{Parent: m.Stored.Key.ID, Version: m.State.Version, Position: out.Base(), InForce: m.State.Version}
}
