package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/store"
)

// commit stores what this attempt decided together with the blocks that it decided about, before any
// byte of it leaves. Without decisions there is nothing to do yet: the archive follows when the
// request has been answered. It waits for the store only as long as the request's patience lasts, also with a pour that
// is necessary: when the provider refuses what leaves without it, the request is prepared anew with more.
func (a *attempt) commit(ctx context.Context) error {
	if len(a.made) == 0 || a.req.Count {
		return nil
	}
	ctx, cancel := a.e.waiting(ctx)
	defer cancel()
	return a.store(ctx, a.batch())
}

// store commits a batch and brings the cached line up to date.
func (a *attempt) store(ctx context.Context, b *store.Batch) error {
	version, err := a.e.store.Commit(ctx, b)
	a.e.busy.judge(err)
	if errors.Is(err, store.ErrNotFound) && a.Stored != nil { // collected since it was read
		a.e.finder.Cache.Forget(a.Stored.Key)
		return fmt.Errorf("commit: %w: %w", err, store.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return a.stored(ctx, b, version)
}

// stored makes the attempt one about the state that its commit made.
func (a *attempt) stored(ctx context.Context, b *store.Batch, version int64) error {
	l, current := a.Stored, a.current()
	switch {
	case b.Create == nil && l.Advance(a.State, b, version):
	case b.Create != nil && b.Create.Origin == nil:
		s := &store.State{Conversation: store.Conversation{Key: b.Key, Session: b.Create.Session, Agent: b.Create.Agent, Project: b.Create.Project}}
		l = lineage.NewStored(s, &notes{})
		l.Advance(s, b, version)
	default:
		s, err := a.e.store.Load(ctx, b.Key, version)
		if err != nil {
			a.e.finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		l = lineage.NewStored(s, &notes{})
		if b.Create == nil {
			a.meter = a.e.recall(ctx, s) // an answer was recorded meanwhile
		} else {
			a.meter.length = 0 // what was reported is about the parent
		}
	}
	if b.Create != nil {
		notesOf(l).adopt(a.trial)
	}
	a.Stored, a.State = l, l.State()
	if len(b.Decisions) > 0 || b.Create != nil && current {
		a.decided = len(a.State.Decisions)
	}
	a.settleMeter()
	a.Kept = len(a.State.Chain)
	a.committed = true
	a.Stored.Saw(a.r, len(a.r.Spine))
	a.e.finder.Cache.Put(a.who, a.Stored)
	return nil
}

// batch returns the commit of everything that is new in the attempt.
func (a *attempt) batch() *store.Batch {
	b := &store.Batch{Time: a.e.opts.Now().UTC(), Decisions: a.made, Head: a.head()}
	from := a.entriesFrom()
	switch {
	case a.starts():
		b.Key = store.Key{Tenant: a.req.Tenant, ID: a.newID()}
		b.Create = &store.Creation{Session: a.req.Session, Agent: a.Conv.Agent, Project: a.req.Project, Origin: a.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(a.Arrived(), a.outgrown(), a.lost(), b.Decisions)
		}
	default:
		b.Key, b.Version = a.Stored.Key, a.State.Version
		if a.base() < len(a.State.Chain) {
			b.Replace = a.base() + 1
		}
		if !a.committed {
			b.Decisions = slices.Concat(a.withdrawn, a.lost(), b.Decisions)
		}
	}
	n := max(0, len(a.r.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(a.r.Blocks); i++ {
		a.entry(b, i)
	}
	for i := range a.made {
		if orig := a.Conv.Block(a.made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), a.made[i].Target.Hash)
		}
	}
	b.Fixed = a.fixedPart()
	return b
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (a *attempt) outgrown() (out []decant.Decision) {
	first := a.FirstNew(a.Map)
	for _, d := range decant.InForce(a.AtBranch()) {
		if d.Checkpoint == nil || d.Checkpoint.To < first {
			continue
		}
		id, _ := a.e.ids.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: a.e.opts.Now().UTC(), Reason: "the fork has more in the last message that it covers",
		})
	}
	return out
}

// base returns how many entries of the chain stay in front of what is new.
func (a *attempt) base() int {
	if a.committed {
		return a.Kept // the chain is what it made it
	}
	if !a.Fits {
		return 0
	}
	return a.Leaves()
}

// entriesFrom returns the index of the first atom that a commit has to add.
func (a *attempt) entriesFrom() int {
	if a.Stored == nil || !a.Fits {
		return 0
	}
	if a.Relation == lineage.Returns {
		return len(a.r.Blocks)
	}
	from := 0
	for i, k := range a.Entries {
		if k < 0 || k >= a.Kept {
			break
		}
		from = a.r.Spine[i] + 1
	}
	return from
}

// entry adds the i-th atom to a batch.
func (a *attempt) entry(b *store.Batch, i int) {
	at := &a.r.Blocks[i]
	e := store.Entry{
		Raw: at.Raw(), Role: at.Role, Kind: at.Kind, Author: at.Author,
		CallID: at.CallID, Name: at.Name, Ref: at.Ref, Tokens: a.r.Tokens(i, a.est),
	}
	if !a.Same {
		e.Ref = a.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
	}
	e.Chain = a.chainAt(i)
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
func (a *attempt) chainAt(i int) decant.Hash {
	lo, hi := 0, len(a.r.Spine)
	for lo < hi {
		if mid := (lo + hi) / 2; a.r.Spine[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return a.r.Hash(lo - 1)
}

// fixedPart returns system prompt and tools to be stored, nil when the conversation has them.
func (a *attempt) fixedPart() *store.Fixed {
	v := a.Conv.Fixed.Version
	if v.IsZero() || a.State != nil && a.State.Head.Fixed == v {
		return nil
	}
	f := &store.Fixed{Version: v, Tokens: a.fixed}
	if at := a.r.Doc.Member("system"); !at.IsZero() {
		f.System = at.Of(a.req.Body)
	}
	if at := a.r.Doc.Member("tools"); !at.IsZero() {
		f.Tools = at.Of(a.req.Body)
	}
	return f
}

// head returns what changes with the conversation.
func (a *attempt) head() *store.Head {
	h := store.Head{}
	if a.State != nil {
		h = a.State.Head
	}
	h.Model, h.Fixed, h.Hold = a.Conv.Model, a.Conv.Fixed.Version, a.onHold()
	switch {
	case a.report.Reason != "":
		h.Suppressed = 0
		a.meter.Poor = 0
	case a.suppress > 0 && a.State != nil && a.changedSince():
		h.Suppressed = a.suppress
	default:
		h.Suppressed += a.suppress
	}
	return &h
}

// settleMeter gives the line what this attempt knows of its size.
func (a *attempt) settleMeter() {
	notesOf(a.Stored).set(func(m *meter) {
		if m.Futile.Until > a.meter.Futile.Until {
			a.meter.Futile = m.Futile // found by a request after this one
		}
		*m = a.meter
	})
}
