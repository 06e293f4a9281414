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

// commit stores what was decided together with the blocks that it decided about, before any
// byte of it leaves. Without decisions there is nothing to do yet: the archive follows when the
// request has been answered. It waits for the store only as long as the request's patience lasts, also with a pour that
// is necessary: when the provider refuses what leaves without it, the request is prepared anew with more.
func (tk *ticket) commit(ctx context.Context) error {
	if len(tk.made) == 0 || tk.req.Count {
		return nil
	}
	ctx, cancel := tk.e.waiting(ctx)
	defer cancel()
	return tk.store(ctx, tk.batch())
}

// store commits a batch and brings the cached line up to date.
func (tk *ticket) store(ctx context.Context, b *store.Batch) error {
	version, err := tk.e.store.Commit(ctx, b)
	tk.e.busy.judge(err)
	if errors.Is(err, store.ErrNotFound) && tk.Stored != nil { // collected since it was read
		tk.e.finder.Cache.Forget(tk.Stored.Key)
		return fmt.Errorf("commit: %w: %w", err, store.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return tk.stored(ctx, b, version)
}

// stored makes the ticket one about the state that its commit made.
func (tk *ticket) stored(ctx context.Context, b *store.Batch, version int64) error {
	l, current := tk.Stored, tk.current()
	switch {
	case b.Create == nil && l.Advance(tk.State, b, version):
	case b.Create != nil && b.Create.Origin == nil:
		s := &store.State{Conversation: store.Conversation{Key: b.Key, Session: b.Create.Session, Agent: b.Create.Agent, Project: b.Create.Project}}
		l = lineage.NewStored(s, &notes{})
		l.Advance(s, b, version)
	default:
		s, err := tk.e.store.Load(ctx, b.Key, version)
		if err != nil {
			tk.e.finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		l = lineage.NewStored(s, &notes{})
		if b.Create == nil {
			tk.meter = tk.e.recall(ctx, s) // an answer was recorded meanwhile
		} else {
			tk.meter.length = 0 // what was reported is about the parent
		}
	}
	if b.Create != nil {
		notesOf(l).adopt(tk.trial)
	}
	tk.Stored, tk.State = l, l.State()
	if len(b.Decisions) > 0 || b.Create != nil && current {
		tk.decided = len(tk.State.Decisions)
	}
	tk.settleMeter()
	tk.Kept = len(tk.State.Chain)
	tk.committed = true
	tk.Stored.Saw(tk.r, len(tk.r.Spine))
	tk.e.finder.Cache.Put(tk.who, tk.Stored)
	return nil
}

// batch returns the commit of everything that is new in the ticket.
func (tk *ticket) batch() *store.Batch {
	b := &store.Batch{Time: tk.e.opts.Now().UTC(), Decisions: tk.made, Head: tk.head()}
	from := tk.entriesFrom()
	switch {
	case tk.starts():
		b.Key = store.Key{Tenant: tk.req.Tenant, ID: tk.newID()}
		b.Create = &store.Creation{Session: tk.req.Session, Agent: tk.Conv.Agent, Project: tk.req.Project, Origin: tk.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(tk.Arrived(), tk.outgrown(), tk.lost(), b.Decisions)
		}
	default:
		b.Key, b.Version = tk.Stored.Key, tk.State.Version
		if tk.base() < len(tk.State.Chain) {
			b.Replace = tk.base() + 1
		}
		if !tk.committed {
			b.Decisions = slices.Concat(tk.withdrawn, tk.lost(), b.Decisions)
		}
	}
	n := max(0, len(tk.r.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(tk.r.Blocks); i++ {
		tk.entry(b, i)
	}
	for i := range tk.made {
		if orig := tk.Conv.Block(tk.made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), tk.made[i].Target.Hash)
		}
	}
	b.Fixed = tk.fixedPart()
	return b
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (q *query) outgrown() (out []decant.Decision) {
	first := q.FirstNew(q.Map)
	for _, d := range decant.InForce(q.AtBranch()) {
		if d.Checkpoint == nil || d.Checkpoint.To < first {
			continue
		}
		id, _ := q.e.ids.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: q.e.opts.Now().UTC(), Reason: "the fork has more in the last message that it covers",
		})
	}
	return out
}

// base returns how many entries of the chain stay in front of what is new.
func (tk *ticket) base() int {
	if tk.committed {
		return tk.Kept // the chain is what it made it
	}
	if !tk.Fits {
		return 0
	}
	return tk.Leaves()
}

// entriesFrom returns the index of the first atom that a commit has to add.
func (q *query) entriesFrom() int {
	if q.Stored == nil || !q.Fits {
		return 0
	}
	if q.Relation == lineage.Returns {
		return len(q.r.Blocks)
	}
	from := 0
	for i, k := range q.Entries {
		if k < 0 || k >= q.Kept {
			break
		}
		from = q.r.Spine[i] + 1
	}
	return from
}

// entry adds the i-th atom to a batch.
func (q *query) entry(b *store.Batch, i int) {
	at := &q.r.Blocks[i]
	e := store.Entry{
		Raw: at.Raw(), Role: at.Role, Kind: at.Kind, Author: at.Author,
		CallID: at.CallID, Name: at.Name, Ref: at.Ref, Tokens: q.r.Tokens(i, q.est),
	}
	if !q.Same {
		e.Ref = q.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
	}
	e.Chain = q.chainAt(i)
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
func (q *query) chainAt(i int) decant.Hash {
	lo, hi := 0, len(q.r.Spine)
	for lo < hi {
		if mid := (lo + hi) / 2; q.r.Spine[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return q.r.Hash(lo - 1)
}

// fixedPart returns system prompt and tools to be stored, nil when the conversation has them.
func (q *query) fixedPart() *store.Fixed {
	v := q.Conv.Fixed.Version
	if v.IsZero() || q.State != nil && q.State.Head.Fixed == v {
		return nil
	}
	f := &store.Fixed{Version: v, Tokens: q.fixed}
	if at := q.r.Doc.Member("system"); !at.IsZero() {
		f.System = at.Of(q.req.Body)
	}
	if at := q.r.Doc.Member("tools"); !at.IsZero() {
		f.Tools = at.Of(q.req.Body)
	}
	return f
}

// head returns what changes with the conversation.
func (dr *draft) head() *store.Head {
	h := store.Head{}
	if dr.State != nil {
		h = dr.State.Head
	}
	h.Model, h.Fixed, h.Hold = dr.Conv.Model, dr.Conv.Fixed.Version, dr.onHold()
	switch {
	case dr.report.Reason != "":
		h.Suppressed = 0
		dr.meter.Poor = 0
	case dr.suppress > 0 && dr.State != nil && dr.changedSince():
		h.Suppressed = dr.suppress
	default:
		h.Suppressed += dr.suppress
	}
	return &h
}

// settleMeter notes what this draft knows of the size of its conversation.
func (dr *draft) settleMeter() {
	notesOf(dr.Stored).set(func(m *meter) {
		if m.Futile.Until > dr.meter.Futile.Until {
			dr.meter.Futile = m.Futile // found by a request after this one
		}
		*m = dr.meter
	})
}
