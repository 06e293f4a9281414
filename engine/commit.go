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

// A committer stores what becomes of a ticket, and brings the ticket up to date.
type committer struct {
	e  *Engine
	tk *ticket
}

// commit stores what was decided together with the blocks that it decided about, before any
// byte of it leaves. Without decisions there is nothing to do yet: the archive follows when the
// request has been answered. It waits for the store only as long as the request's patience lasts, also with a pour that
// is necessary: when the provider refuses what leaves without it, the request is prepared anew with more.
func (c *committer) commit(ctx context.Context) error {
	if len(c.tk.dr.Made) == 0 || c.tk.dr.Query.Request.Count {
		return nil
	}
	ctx, cancel := c.e.patience.Waiting(ctx)
	defer cancel()
	return c.store(ctx, c.tk.batch())
}

// store commits a batch and brings the cached line up to date.
func (c *committer) store(ctx context.Context, b *store.Batch) error {
	version, err := c.e.store.Commit(ctx, b)
	c.e.patience.Judge(err)
	if errors.Is(err, store.ErrNotFound) && c.tk.dr.Query.Match.Stored != nil { // collected since it was read
		c.e.finder.Cache.Forget(c.tk.dr.Query.Match.Stored.Key)
		return fmt.Errorf("commit: %w: %w", err, store.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return c.stored(ctx, b, version)
}

// stored makes the ticket one about the state that its commit made.
func (c *committer) stored(ctx context.Context, b *store.Batch, version int64) error {
	l, current := c.tk.dr.Query.Match.Stored, c.tk.current()
	switch {
	case b.Create == nil && l.Advance(c.tk.dr.Query.Match.State, b, version):
	case b.Create != nil && b.Create.Origin == nil:
		s := &store.State{Conversation: store.Conversation{Key: b.Key, Session: b.Create.Session, Agent: b.Create.Agent, Project: b.Create.Project}}
		l = lineage.NewStored(s, notes.New(notes.Meter{}))
		l.Advance(s, b, version)
	default:
		s, err := c.e.store.Load(ctx, b.Key, version)
		if err != nil {
			c.e.finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		l = lineage.NewStored(s, notes.New(notes.Meter{}))
		if b.Create == nil {
			c.tk.dr.Meter = notes.Recall(ctx, c.e.store, s) // an answer was recorded meanwhile
		} else {
			c.tk.dr.Meter.Length = 0 // what was reported is about the parent
		}
	}
	if b.Create != nil {
		if c.tk.trial != nil { // what was planned for the request that the conversation begins with
			notes.Of(l).Read(c.tk.trial.all)
		}
	}
	c.tk.dr.Query.Match.Stored, c.tk.dr.Query.Match.State = l, l.State()
	if len(b.Decisions) > 0 || b.Create != nil && current {
		c.tk.decided = len(c.tk.dr.Query.Match.State.Decisions)
	}
	c.tk.settleMeter()
	c.tk.dr.Query.Match.Kept = len(c.tk.dr.Query.Match.State.Chain)
	c.tk.committed = true
	c.tk.dr.Query.Match.Stored.Saw(c.tk.dr.Query.Request.Prompt, len(c.tk.dr.Query.Request.Prompt.Spine))
	c.e.finder.Cache.Put(c.tk.dr.Query.Request.Who, c.tk.dr.Query.Match.Stored)
	return nil
}

// batch returns the commit of everything that is new in the ticket.
func (tk *ticket) batch() *store.Batch {
	b := &store.Batch{Time: tk.dr.Query.Env.Now().UTC(), Decisions: tk.dr.Made, Head: tk.head()}
	from := tk.entriesFrom()
	switch {
	case tk.starts():
		b.Key = store.Key{Tenant: tk.dr.Query.Request.Who.Tenant, ID: tk.newID()}
		b.Create = &store.Creation{Session: tk.dr.Query.Request.Who.Session, Agent: tk.dr.Query.Refs.Conv.Agent, Project: tk.dr.Query.Request.Project, Origin: tk.origin()}
		if b.Create.Origin != nil {
			b.Decisions = slices.Concat(tk.dr.Query.Match.Arrived(), tk.outgrown(), tk.lost(), b.Decisions)
		}
	default:
		b.Key, b.Version = tk.dr.Query.Match.Stored.Key, tk.dr.Query.Match.State.Version
		if tk.base() < len(tk.dr.Query.Match.State.Chain) {
			b.Replace = tk.base() + 1
		}
		if !tk.committed {
			b.Decisions = slices.Concat(tk.dr.Withdrawn, tk.lost(), b.Decisions)
		}
	}
	n := max(0, len(tk.dr.Query.Request.Prompt.Blocks)-from)
	b.Entries, b.Blobs, b.Hashes = make([]store.Entry, 0, n), make([][]byte, 0, 2*n), make([]decant.Hash, 0, 2*n)
	for i := from; i < len(tk.dr.Query.Request.Prompt.Blocks); i++ {
		tk.entry(b, i)
	}
	for i := range tk.dr.Made {
		if orig := tk.dr.Query.Refs.Conv.Block(tk.dr.Made[i].Target.Ref); orig != nil {
			bring(b, []byte(orig.Text()), tk.dr.Made[i].Target.Hash)
		}
	}
	b.Fixed = tk.fixedPart()
	return b
}

// outgrown returns decisions that take back the checkpoints which a fork would inherit, and in whose last
// message it says more than its parent did: they know nothing of that, and must not stand for it.
func (tk *ticket) outgrown() (out []decant.Decision) {
	first := tk.dr.Query.Match.FirstNew(tk.dr.Query.Refs)
	for _, d := range decant.InForce(tk.dr.Query.Match.AtBranch()) {
		if d.Checkpoint == nil || d.Checkpoint.To < first {
			continue
		}
		id, _ := tk.dr.Query.Env.IDs.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: tk.dr.Query.Env.Now().UTC(), Reason: "the fork has more in the last message that it covers",
		})
	}
	return out
}

// entry adds the i-th atom to a batch.
func (tk *ticket) entry(b *store.Batch, i int) {
	at := &tk.dr.Query.Request.Prompt.Blocks[i]
	e := store.Entry{
		Raw: at.Raw(), Role: at.Role, Kind: at.Kind, Author: at.Author,
		CallID: at.CallID, Name: at.Name, Ref: at.Ref, Tokens: tk.dr.Query.Request.Prompt.Tokens(i, tk.dr.Query.Estimator),
	}
	if !tk.dr.Query.Refs.Same {
		e.Ref = tk.dr.Query.Refs.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
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
	lo, hi := 0, len(tk.dr.Query.Request.Prompt.Spine)
	for lo < hi {
		if mid := (lo + hi) / 2; tk.dr.Query.Request.Prompt.Spine[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return tk.dr.Query.Request.Prompt.Hash(lo - 1)
}

// fixedPart returns system prompt and tools to be stored, nil when the conversation has them.
func (tk *ticket) fixedPart() *store.Fixed {
	v := tk.dr.Query.Refs.Conv.Fixed.Version
	if v.IsZero() || tk.dr.Query.Match.State != nil && tk.dr.Query.Match.State.Head.Fixed == v {
		return nil
	}
	f := &store.Fixed{Version: v, Tokens: tk.dr.Query.Fixed}
	if at := tk.dr.Query.Request.Prompt.Doc.Member("system"); !at.IsZero() {
		f.System = at.Of(tk.dr.Query.Request.Body)
	}
	if at := tk.dr.Query.Request.Prompt.Doc.Member("tools"); !at.IsZero() {
		f.Tools = at.Of(tk.dr.Query.Request.Body)
	}
	return f
}

// head returns what changes with the conversation.
func (tk *ticket) head() *store.Head {
	h := store.Head{}
	if tk.dr.Query.Match.State != nil {
		h = tk.dr.Query.Match.State.Head
	}
	h.Model, h.Fixed, h.Hold = tk.dr.Query.Refs.Conv.Model, tk.dr.Query.Refs.Conv.Fixed.Version, tk.dr.OnHold()
	switch {
	case tk.dr.Outcome.Reason != "":
		h.Suppressed = 0
		tk.dr.Meter.Poor = 0
	case tk.dr.NotWorth > 0 && tk.dr.Query.Match.State != nil && tk.dr.ChangedSince():
		h.Suppressed = tk.dr.NotWorth
	default:
		h.Suppressed += tk.dr.NotWorth
	}
	return &h
}

// settleMeter notes what this draft knows of the size of its conversation.
func (tk *ticket) settleMeter() {
	notes.Of(tk.dr.Query.Match.Stored).Change(func(m *notes.Meter) {
		if m.Futile.Until > tk.dr.Meter.Futile.Until {
			tk.dr.Meter.Futile = m.Futile // found by a request after this one
		}
		*m = tk.dr.Meter
	})
}
