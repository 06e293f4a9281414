package book

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
)

// An Outgoing is what was sent for a request, or is about to be: a draft with what its archive needs when the answer
// comes. The archive works on a copy, and brings that up to date with what has become of the conversation since.
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

// A State is how far an outgoing request has come: forward only, but for one that has lost its place in the store.
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

// Of returns what is sent for a draft. It shares nothing with it that changes.
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

// LeaveAlone sends the client's own bytes, whatever was decided about them.
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

// EntriesFrom returns the index of the first block that a commit has to add.
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

// Batch returns the commit of everything that is new.
func (out *Outgoing) Batch() *store.Batch {
	in, m := out.Input, out.Match
	b := &store.Batch{Time: in.Now().UTC(), Decisions: out.Made, Head: out.head()}
	from := out.EntriesFrom()
	switch {
	case out.Starts():
		b.Key = store.Key{Tenant: in.Start.Tenant, ID: out.NewID()}
		b.Create = &store.Creation{Session: in.Start.Session, Agent: in.Conv.Agent, Project: cmp.Or(in.Project, directoryOf(in.Conv)), Origin: out.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(m.Arrived(), out.outgrown(), out.lost(), b.Decisions)
		}
	default:
		b.Key, b.Version = m.Stored.Key, m.State.Version
		if out.Base() < len(m.State.Chain) {
			b.Replace = out.Base() + 1
		}
		if !out.Stored() {
			b.Decisions = slices.Concat(out.Withdrawn, out.lost(), b.Decisions)
		}
	}
	n := max(0, len(in.Prompt.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(in.Prompt.Blocks); i++ {
		out.entry(b, i)
	}
	for i := range out.Made {
		if orig := in.Conv.Block(out.Made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), out.Made[i].Target.Hash)
		}
	}
	b.Fixed, b.Events.Spends = out.fixedPart(), out.ownSpends(b.Time)
	return b
}

// Summarizer stands in the ledger in place of the name of a model, which only the summariser knows.
const Summarizer = "summarizer"

// ownSpends returns what was spent on the record of a draft's pour.
func (out *Outgoing) ownSpends(at time.Time) []store.Spend {
	for i := range out.Made {
		d := &out.Made[i]
		if paid := out.Outcome.Spent; paid > 0 && d.Kind == decant.Cover {
			return []store.Spend{{ID: d.ID, Time: at, Model: Summarizer, Own: true, Cost: store.Money(paid * 1e9)}}
		}
	}
	return nil
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (out *Outgoing) outgrown() (ds []decant.Decision) {
	in := out.Input
	first := in.Match.FirstNew(in.Refs)
	for _, d := range decant.InForce(in.Match.AtBranch()) {
		if d.Checkpoint == nil || d.Checkpoint.To < first {
			continue
		}
		id, _ := in.IDs.Next() // without an id the store refuses the commit and says so
		ds = append(ds, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: in.Now().UTC(), Reason: "the fork has more in the last message that it covers",
		})
	}
	return ds
}

// entry adds the i-th block to a batch.
func (out *Outgoing) entry(b *store.Batch, i int) {
	in := out.Input
	at := &in.Prompt.Blocks[i]
	e := store.Entry{
		Raw: at.Raw(), Role: at.Role, Kind: at.Kind, Author: at.Author,
		CallID: at.CallID, Name: at.Name, Ref: at.Ref, Tokens: in.Prompt.Tokens(i, in.Estimator),
	}
	if !in.Refs.Same {
		e.Ref = in.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
	}
	e.Chain = out.chainAt(i)
	if e.Chain.IsZero() {
		return // thinking before anything else, which no API accepts
	}
	bring(b, at.Bytes, e.Raw)
	if at.Content != nil {
		text := []byte(at.Text())
		e.Text = decant.HashBytes(text)
		bring(b, text, e.Text)
	}
	b.Entries = append(b.Entries, e)
}

// bring adds content with its hash to a batch.
func bring(b *store.Batch, content []byte, h decant.Hash) {
	b.Blobs, b.Hashes = append(b.Blobs, content), append(b.Hashes, h)
}

// chainAt returns the hash of the chain up to and with the i-th block.
func (out *Outgoing) chainAt(i int) decant.Hash {
	in := out.Input
	lo, hi := 0, len(in.Prompt.Spine)
	for lo < hi {
		if mid := (lo + hi) / 2; in.Prompt.Spine[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return in.Prompt.Hash(lo - 1)
}

// fixedPart returns system prompt and tools to be stored, nil when the conversation has them.
func (out *Outgoing) fixedPart() *store.Fixed {
	in := out.Input
	v := in.Conv.Fixed.Version
	s := in.Match.State
	if v.IsZero() || s != nil && s.Head.Fixed == v {
		return nil
	}
	f := &store.Fixed{Version: v, Tokens: in.Fixed}
	f.System, f.Tools = in.Prompt.Dialect.Fixed(in.Prompt.Doc)
	return f
}

// head returns what changes with the conversation.
func (out *Outgoing) head() *store.Head {
	in, m := out.Input, out.Match
	h := store.Head{}
	if m.State != nil {
		h = m.State.Head
	}
	h.Model, h.Fixed, h.Hold = in.Conv.Model, in.Conv.Fixed.Version, m.OnHold(out.InForce)
	switch {
	case out.Outcome.Reason != "":
		h.Suppressed = 0
		out.Meter.Poor = 0
	case out.NotWorth > 0 && m.State != nil && out.ChangedSince():
		h.Suppressed = out.NotWorth
	default:
		h.Suppressed += out.NotWorth
	}
	return &h
}

// NoteMeter notes what this draft knows of the size of its conversation.
func (out *Outgoing) NoteMeter() {
	plan.CachedOf(out.Match.Stored).ChangeMeter(func(m *plan.Meter) {
		if m.Futile.Until > out.Meter.Futile.Until {
			out.Meter.Futile = m.Futile // found by a request after this one
		}
		*m = out.Meter
	})
}

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
