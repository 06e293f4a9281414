package book

import (
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
)

// Batch returns the commit of everything that is new in the ticket.
func (tk *Outgoing) Batch() *store.Batch {
	in, m := tk.Draft.Input, tk.Draft.Match
	b := &store.Batch{Time: in.Now().UTC(), Decisions: tk.Draft.Made, Head: tk.head()}
	from := tk.EntriesFrom()
	switch {
	case tk.Starts():
		b.Key = store.Key{Tenant: in.Start.Tenant, ID: tk.NewID()}
		b.Create = &store.Creation{Session: in.Start.Session, Agent: in.Conv.Agent, Project: in.Project, Origin: tk.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(m.Arrived(), tk.outgrown(), tk.lost(), b.Decisions)
		}
	default:
		b.Key, b.Version = m.Stored.Key, m.State.Version
		if tk.Base() < len(m.State.Chain) {
			b.Replace = tk.Base() + 1
		}
		if !tk.Stored() {
			b.Decisions = slices.Concat(tk.Draft.Withdrawn, tk.lost(), b.Decisions)
		}
	}
	n := max(0, len(in.Prompt.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(in.Prompt.Blocks); i++ {
		tk.entry(b, i)
	}
	for i := range tk.Draft.Made {
		if orig := in.Conv.Block(tk.Draft.Made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), tk.Draft.Made[i].Target.Hash)
		}
	}
	b.Fixed, b.Events.Spends = tk.fixedPart(), own(tk.Draft, b.Time)
	return b
}

// Summarizer stands in the ledger in place of the name of a model, which only the summariser knows.
const Summarizer = "summarizer"

// own returns what was spent on the record of a draft's pour.
func own(dr *plan.Draft, at time.Time) []store.Spend {
	for i := range dr.Made {
		d := &dr.Made[i]
		if paid := dr.Outcome.Spent; paid > 0 && d.Kind == decant.Cover {
			return []store.Spend{{ID: d.ID, Time: at, Model: Summarizer, Own: true, Cost: store.Money(paid * 1e9)}}
		}
	}
	return nil
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (tk *Outgoing) outgrown() (out []decant.Decision) {
	in := tk.Draft.Input
	first := in.Match.FirstNew(in.Refs)
	for _, d := range decant.InForce(in.Match.AtBranch()) {
		if d.Checkpoint == nil || d.Checkpoint.To < first {
			continue
		}
		id, _ := in.IDs.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: in.Now().UTC(), Reason: "the fork has more in the last message that it covers",
		})
	}
	return out
}

// entry adds the i-th atom to a batch.
func (tk *Outgoing) entry(b *store.Batch, i int) {
	in := tk.Draft.Input
	at := &in.Prompt.Blocks[i]
	e := store.Entry{
		Raw: at.Raw(), Role: at.Role, Kind: at.Kind, Author: at.Author,
		CallID: at.CallID, Name: at.Name, Ref: at.Ref, Tokens: in.Prompt.Tokens(i, in.Estimator),
	}
	if !in.Refs.Same {
		e.Ref = in.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
	}
	e.Chain = tk.chainAt(i)
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

// chainAt returns the hash of the chain up to and with the i-th atom.
func (tk *Outgoing) chainAt(i int) decant.Hash {
	in := tk.Draft.Input
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
func (tk *Outgoing) fixedPart() *store.Fixed {
	in := tk.Draft.Input
	v := in.Conv.Fixed.Version
	if v.IsZero() || in.Match.State != nil && in.Match.State.Head.Fixed == v {
		return nil
	}
	f := &store.Fixed{Version: v, Tokens: in.Fixed}
	f.System, f.Tools = in.Prompt.Dialect.Fixed(in.Prompt.Doc)
	return f
}

// head returns what changes with the conversation.
func (tk *Outgoing) head() *store.Head {
	in, m := tk.Draft.Input, tk.Draft.Match
	h := store.Head{}
	if m.State != nil {
		h = m.State.Head
	}
	h.Model, h.Fixed, h.Hold = in.Conv.Model, in.Conv.Fixed.Version, m.OnHold(tk.Draft.InForce)
	switch {
	case tk.Draft.Outcome.Reason != "":
		h.Suppressed = 0
		tk.Draft.Meter.Poor = 0
	case tk.Draft.NotWorth > 0 && m.State != nil && tk.Draft.ChangedSince():
		h.Suppressed = tk.Draft.NotWorth
	default:
		h.Suppressed += tk.Draft.NotWorth
	}
	return &h
}

// NoteMeter notes what this draft knows of the size of its conversation.
func (tk *Outgoing) NoteMeter() {
	plan.CachedOf(tk.Draft.Match.Stored).ChangeMeter(func(m *plan.Meter) {
		if m.Futile.Until > tk.Draft.Meter.Futile.Until {
			tk.Draft.Meter.Futile = m.Futile // found by a request after this one
		}
		*m = tk.Draft.Meter
	})
}
