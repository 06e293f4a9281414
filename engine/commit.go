package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/store"
)

// commit stores what was decided together with the blocks that it decided about, before any
// byte of it leaves. Without decisions there is nothing to do yet: the archive follows when the
// request has been answered. It waits for the store only as long as the request's patience lasts, also with a pour that
// is necessary: when the provider refuses what leaves without it, the request is prepared anew with more.
func (tk *ticket) commit(ctx context.Context) error {
	if len(tk.dr.made) == 0 || tk.dr.q.req.Count {
		return nil
	}
	ctx, cancel := tk.dr.q.e.waiting(ctx)
	defer cancel()
	return tk.store(ctx, tk.batch())
}

// store commits a batch and brings the cached line up to date.
func (tk *ticket) store(ctx context.Context, b *store.Batch) error {
	version, err := tk.dr.q.e.store.Commit(ctx, b)
	tk.dr.q.e.busy.judge(err)
	if errors.Is(err, store.ErrNotFound) && tk.dr.q.match.Stored != nil { // collected since it was read
		tk.dr.q.e.finder.Cache.Forget(tk.dr.q.match.Stored.Key)
		return fmt.Errorf("commit: %w: %w", err, store.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return tk.stored(ctx, b, version)
}

// stored makes the ticket one about the state that its commit made.
func (tk *ticket) stored(ctx context.Context, b *store.Batch, version int64) error {
	l, current := tk.dr.q.match.Stored, tk.current()
	switch {
	case b.Create == nil && l.Advance(tk.dr.q.match.State, b, version):
	case b.Create != nil && b.Create.Origin == nil:
		s := &store.State{Conversation: store.Conversation{Key: b.Key, Session: b.Create.Session, Agent: b.Create.Agent, Project: b.Create.Project}}
		l = lineage.NewStored(s, notes.New(notes.Meter{}))
		l.Advance(s, b, version)
	default:
		s, err := tk.dr.q.e.store.Load(ctx, b.Key, version)
		if err != nil {
			tk.dr.q.e.finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		l = lineage.NewStored(s, notes.New(notes.Meter{}))
		if b.Create == nil {
			tk.dr.meter = notes.Recall(ctx, tk.dr.q.e.store, s) // an answer was recorded meanwhile
		} else {
			tk.dr.meter.Length = 0 // what was reported is about the parent
		}
	}
	if b.Create != nil {
		if tk.trial != nil { // what was planned for the request that the conversation begins with
			notes.Of(l).Read(tk.trial.all)
		}
	}
	tk.dr.q.match.Stored, tk.dr.q.match.State = l, l.State()
	if len(b.Decisions) > 0 || b.Create != nil && current {
		tk.decided = len(tk.dr.q.match.State.Decisions)
	}
	tk.dr.settleMeter()
	tk.dr.q.match.Kept = len(tk.dr.q.match.State.Chain)
	tk.committed = true
	tk.dr.q.match.Stored.Saw(tk.dr.q.r, len(tk.dr.q.r.Spine))
	tk.dr.q.e.finder.Cache.Put(tk.dr.q.who, tk.dr.q.match.Stored)
	return nil
}

// batch returns the commit of everything that is new in the ticket.
func (tk *ticket) batch() *store.Batch {
	b := &store.Batch{Time: tk.dr.q.e.opts.Now().UTC(), Decisions: tk.dr.made, Head: tk.dr.head()}
	from := tk.dr.q.entriesFrom()
	switch {
	case tk.starts():
		b.Key = store.Key{Tenant: tk.dr.q.req.Tenant, ID: tk.newID()}
		b.Create = &store.Creation{Session: tk.dr.q.req.Session, Agent: tk.dr.q.refs.Conv.Agent, Project: tk.dr.q.req.Project, Origin: tk.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(tk.dr.q.match.Arrived(), tk.dr.q.outgrown(), tk.lost(), b.Decisions)
		}
	default:
		b.Key, b.Version = tk.dr.q.match.Stored.Key, tk.dr.q.match.State.Version
		if tk.base() < len(tk.dr.q.match.State.Chain) {
			b.Replace = tk.base() + 1
		}
		if !tk.committed {
			b.Decisions = slices.Concat(tk.dr.withdrawn, tk.lost(), b.Decisions)
		}
	}
	n := max(0, len(tk.dr.q.r.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(tk.dr.q.r.Blocks); i++ {
		tk.dr.q.entry(b, i)
	}
	for i := range tk.dr.made {
		if orig := tk.dr.q.refs.Conv.Block(tk.dr.made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), tk.dr.made[i].Target.Hash)
		}
	}
	b.Fixed = tk.dr.q.fixedPart()
	return b
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (q *query) outgrown() (out []decant.Decision) {
	first := q.match.FirstNew(q.refs)
	for _, d := range decant.InForce(q.match.AtBranch()) {
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
		return tk.dr.q.match.Kept // the chain is what it made it
	}
	if !tk.dr.q.refs.Fits {
		return 0
	}
	return tk.dr.q.match.Leaves()
}

// entriesFrom returns the index of the first atom that a commit has to add.
func (q *query) entriesFrom() int {
	if q.match.Stored == nil || !q.refs.Fits {
		return 0
	}
	if q.match.Relation == lineage.Returns {
		return len(q.r.Blocks)
	}
	from := 0
	for i, k := range q.match.Entries {
		if k < 0 || k >= q.match.Kept {
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
	if !q.refs.Same {
		e.Ref = q.refs.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
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
	v := q.refs.Conv.Fixed.Version
	if v.IsZero() || q.match.State != nil && q.match.State.Head.Fixed == v {
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
	if dr.q.match.State != nil {
		h = dr.q.match.State.Head
	}
	h.Model, h.Fixed, h.Hold = dr.q.refs.Conv.Model, dr.q.refs.Conv.Fixed.Version, dr.onHold()
	switch {
	case dr.report.Reason != "":
		h.Suppressed = 0
		dr.meter.Poor = 0
	case dr.suppress > 0 && dr.q.match.State != nil && dr.changedSince():
		h.Suppressed = dr.suppress
	default:
		h.Suppressed += dr.suppress
	}
	return &h
}

// settleMeter notes what this draft knows of the size of its conversation.
func (dr *draft) settleMeter() {
	notes.Of(dr.q.match.Stored).Change(func(m *notes.Meter) {
		if m.Futile.Until > dr.meter.Futile.Until {
			dr.meter.Futile = m.Futile // found by a request after this one
		}
		*m = dr.meter
	})
}
