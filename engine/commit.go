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
	ctx, cancel := tk.e.waiting(ctx)
	defer cancel()
	return tk.store(ctx, tk.batch())
}

// store commits a batch and brings the cached line up to date.
func (tk *ticket) store(ctx context.Context, b *store.Batch) error {
	version, err := tk.e.store.Commit(ctx, b)
	tk.e.busy.judge(err)
	if errors.Is(err, store.ErrNotFound) && tk.dr.q.match.Stored != nil { // collected since it was read
		tk.e.finder.Cache.Forget(tk.dr.q.match.Stored.Key)
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
		s, err := tk.e.store.Load(ctx, b.Key, version)
		if err != nil {
			tk.e.finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		l = lineage.NewStored(s, notes.New(notes.Meter{}))
		if b.Create == nil {
			tk.dr.meter = notes.Recall(ctx, tk.e.store, s) // an answer was recorded meanwhile
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
	tk.settleMeter()
	tk.dr.q.match.Kept = len(tk.dr.q.match.State.Chain)
	tk.committed = true
	tk.dr.q.match.Stored.Saw(tk.dr.q.req.Prompt, len(tk.dr.q.req.Prompt.Spine))
	tk.e.finder.Cache.Put(tk.dr.q.req.Who, tk.dr.q.match.Stored)
	return nil
}

// batch returns the commit of everything that is new in the ticket.
func (tk *ticket) batch() *store.Batch {
	b := &store.Batch{Time: tk.dr.q.env.Now().UTC(), Decisions: tk.dr.made, Head: tk.head()}
	from := tk.entriesFrom()
	switch {
	case tk.starts():
		b.Key = store.Key{Tenant: tk.dr.q.req.Who.Tenant, ID: tk.newID()}
		b.Create = &store.Creation{Session: tk.dr.q.req.Who.Session, Agent: tk.dr.q.refs.Conv.Agent, Project: tk.req.Project, Origin: tk.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(tk.dr.q.match.Arrived(), tk.outgrown(), tk.lost(), b.Decisions)
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
	n := max(0, len(tk.dr.q.req.Prompt.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(tk.dr.q.req.Prompt.Blocks); i++ {
		tk.entry(b, i)
	}
	for i := range tk.dr.made {
		if orig := tk.dr.q.refs.Conv.Block(tk.dr.made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), tk.dr.made[i].Target.Hash)
		}
	}
	b.Fixed = tk.fixedPart()
	return b
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (tk *ticket) outgrown() (out []decant.Decision) {
	first := tk.dr.q.match.FirstNew(tk.dr.q.refs)
	for _, d := range decant.InForce(tk.dr.q.match.AtBranch()) {
		if d.Checkpoint == nil || d.Checkpoint.To < first {
			continue
		}
		id, _ := tk.dr.q.env.IDs.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: tk.dr.q.env.Now().UTC(), Reason: "the fork has more in the last message that it covers",
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
func (tk *ticket) entriesFrom() int {
	if tk.dr.q.match.Stored == nil || !tk.dr.q.refs.Fits {
		return 0
	}
	if tk.dr.q.match.Relation == lineage.Returns {
		return len(tk.dr.q.req.Prompt.Blocks)
	}
	from := 0
	for i, k := range tk.dr.q.match.Entries {
		if k < 0 || k >= tk.dr.q.match.Kept {
			break
		}
		from = tk.dr.q.req.Prompt.Spine[i] + 1
	}
	return from
}

// entry adds the i-th atom to a batch.
func (tk *ticket) entry(b *store.Batch, i int) {
	at := &tk.dr.q.req.Prompt.Blocks[i]
	e := store.Entry{
		Raw: at.Raw(), Role: at.Role, Kind: at.Kind, Author: at.Author,
		CallID: at.CallID, Name: at.Name, Ref: at.Ref, Tokens: tk.dr.q.req.Prompt.Tokens(i, tk.dr.q.est),
	}
	if !tk.dr.q.refs.Same {
		e.Ref = tk.dr.q.refs.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
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
func (tk *ticket) chainAt(i int) decant.Hash {
	lo, hi := 0, len(tk.dr.q.req.Prompt.Spine)
	for lo < hi {
		if mid := (lo + hi) / 2; tk.dr.q.req.Prompt.Spine[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return tk.dr.q.req.Prompt.Hash(lo - 1)
}

// fixedPart returns system prompt and tools to be stored, nil when the conversation has them.
func (tk *ticket) fixedPart() *store.Fixed {
	v := tk.dr.q.refs.Conv.Fixed.Version
	if v.IsZero() || tk.dr.q.match.State != nil && tk.dr.q.match.State.Head.Fixed == v {
		return nil
	}
	f := &store.Fixed{Version: v, Tokens: tk.dr.q.fixed}
	if at := tk.dr.q.req.Prompt.Doc.Member("system"); !at.IsZero() {
		f.System = at.Of(tk.dr.q.req.Body)
	}
	if at := tk.dr.q.req.Prompt.Doc.Member("tools"); !at.IsZero() {
		f.Tools = at.Of(tk.dr.q.req.Body)
	}
	return f
}

// head returns what changes with the conversation.
func (tk *ticket) head() *store.Head {
	h := store.Head{}
	if tk.dr.q.match.State != nil {
		h = tk.dr.q.match.State.Head
	}
	h.Model, h.Fixed, h.Hold = tk.dr.q.refs.Conv.Model, tk.dr.q.refs.Conv.Fixed.Version, tk.dr.onHold()
	switch {
	case tk.dr.outcome.Reason != "":
		h.Suppressed = 0
		tk.dr.meter.Poor = 0
	case tk.dr.suppress > 0 && tk.dr.q.match.State != nil && tk.dr.changedSince():
		h.Suppressed = tk.dr.suppress
	default:
		h.Suppressed += tk.dr.suppress
	}
	return &h
}

// settleMeter notes what this draft knows of the size of its conversation.
func (tk *ticket) settleMeter() {
	notes.Of(tk.dr.q.match.Stored).Change(func(m *notes.Meter) {
		if m.Futile.Until > tk.dr.meter.Futile.Until {
			tk.dr.meter.Futile = m.Futile // found by a request after this one
		}
		*m = tk.dr.meter
	})
}
