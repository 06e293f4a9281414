package book

import (
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
)

// Batch returns the commit of everything that is new in the ticket.
func (out *Outgoing) Batch() *store.Batch {
	in, m := out.Input, out.Match
	b := &store.Batch{Time: in.Now().UTC(), Decisions: out.Made, Head: out.head()}
	from := out.EntriesFrom()
	switch {
	case out.Starts():
		b.Key = store.Key{Tenant: in.Start.Tenant, ID: out.NewID()}
		b.Create = &store.Creation{Session: in.Start.Session, Agent: in.Conv.Agent, Project: in.Project, Origin: out.origin()}
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
	b.Fixed, b.Events.Spends = out.fixedPart(), own(out.Draft, b.Time)
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

// entry adds the i-th atom to a batch.
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

// chainAt returns the hash of the chain up to and with the i-th atom.
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
	if v.IsZero() || in.Match.State != nil && in.Match.State.Head.Fixed == v {
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
