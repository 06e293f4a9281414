package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// archivePatience is how long an archive waits for another process that keeps the database busy, as one does that writes
// the file anew. What is given up then comes back only if the client does.
const archivePatience = 3 * time.Minute

// write archives answers that come one after the other in a conversation: those together that can be written as one.
func (e *Engine) write(fs []finished) {
	for len(fs) > 0 {
		n := together(fs)
		a := &archiver{e, fs[:n], fs[n-1].ticket}
		a.write()
		fs = fs[n:]
	}
}

// together returns how many answers at the beginning of fs can be written as one: requests of which
// each begins with the one before, with the same fixed part, and about which nothing was decided.
func together(fs []finished) int {
	n := 1
	for n < len(fs) && fs[n-1].ticket.Within(fs[n].ticket) {
		n++
	}
	return n
}

// An archiver stores how requests were answered, and what they brought. The last of them holds what the others brought.
type archiver struct {
	e  *Engine
	fs []finished
	tk *book.Outgoing // of the last of them
}

// last returns the last of the answers.
func (a *archiver) last() *finished { return &a.fs[len(a.fs)-1] }

// write archives the answers.
func (a *archiver) write() {
	err := a.try()
	for begun := time.Now(); errors.Is(err, store.ErrBusy) && time.Since(begun) < archivePatience; {
		time.Sleep(plan.BusyWait)
		err = a.try()
	}
	if err != nil {
		a.e.opts.Logger.Error("archive conversation", "conversation", a.last().Conversation, "error", err)
	}
	for i := range a.fs {
		a.e.till.purse.Release(a.fs[i].held) // it is booked now
	}
}

// try archives the answers if that is possible in the time that necessary work may take. While other commits come first
// again and again, it stores at least that the requests were answered, which no commit is in the way of: what they
// brought comes back with the client's next request.
func (a *archiver) try() (err error) {
	defer a.e.caught(&err)
	ctx, cancel := context.WithTimeout(context.Background(), a.e.opts.Timeouts.Required)
	defer cancel()
	for range maxTries {
		err := a.rebase(ctx)
		if err == nil {
			err = a.archive(ctx)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		a.tk.Draft.Match.State = nil // it has moved on
	}
	if err := a.rebase(ctx); err != nil {
		return err
	}
	if a.tk.Draft.Match.Stored == nil {
		return fmt.Errorf("given up after %d tries: %w", maxTries, store.ErrConflict)
	}
	a.tk.Decided = -1 // what is stored of it is not what the report is about
	ev, err := a.booked()
	if err != nil {
		return err
	}
	return a.record(ctx, ev)
}

// rebase finds the ticket's place anew if its conversation has moved on since it was looked for, or
// was created by another request. What has been sent stays as it was.
func (a *archiver) rebase(ctx context.Context) error {
	in := a.tk.Draft.Input
	if a.tk.Stored() {
		a.tk.Draft.Meter = plan.CachedOf(in.Match.Stored).Meter() // answers before this one have been archived since
	}
	if a.stands(ctx) {
		a.tk.Try()
		return nil
	}
	p, err := a.e.finder.Find(ctx, in.Start, in.Prompt)
	if err != nil {
		return err
	}
	if a.tk.Stored() && p.Stored != nil && p.Stored.Key == in.Match.Stored.Key && (p.Relation == match.Continues || p.Relation == match.Returns) {
		return nil // what it brought is still there
	}
	a.tk.Draft.Input, a.tk.Draft.Withdrawn = in.At(p), withdrawn(&a.e.settings, p)
	if a.tk.Stored() { // it is in another conversation, which has the id
		a.tk.Lose()
	}
	if p.Stored != nil {
		a.tk.Draft.Meter = plan.CachedOf(p.Stored).Meter()
	}
	return nil
}

// stands reports whether the ticket's place needs not be looked for anew. A commit finds out by itself
// whether the store has moved on; where there is nothing to commit it must be asked, because another
// process may have replaced what the request has in common with the conversation.
func (a *archiver) stands(ctx context.Context) bool {
	m := a.tk.Draft.Match
	switch {
	case m.Stored == nil:
		return m.State == nil && a.tk.State == book.Prepared
	case !a.last().answered() && !a.brings():
		return true
	case m.Asked && !a.tk.Stored(): // what it would replace may have been answered since
		return false
	case !a.tk.Stored() && (m.Stored.State() != m.State || a.brings()):
		return m.Stored.State() == m.State
	}
	v, err := a.e.store.Version(ctx, m.Stored.Key)
	return err != nil || v == m.State.Version
}

// brings reports whether there is something to commit of the request.
func (a *archiver) brings() bool {
	in := a.tk.Draft.Input
	return !a.tk.Stored() && (in.Match.Stored == nil || a.tk.EntriesFrom() < len(in.Prompt.Blocks) || in.Match.Relation == match.Replaces)
}

// booked returns answers as the store keeps them, with what they cost.
func (a *archiver) booked() (store.Events, error) {
	ev, err := a.events()
	if err == nil {
		err = a.bookTrials(&ev)
	}
	if err == nil {
		ev.Spends = spends(a.e, a.tk, a.fs, ev.Requests)
	}
	return ev, err
}

// archive stores what the requests brought and how they were answered.
func (a *archiver) archive(ctx context.Context) error {
	last := a.last()
	a.tk.Draft.Meter.Account = &plan.Account{Upstream: plan.AccountName(a.tk.Draft.Upstream), Organization: last.res.Organization}
	var ev store.Events
	var b *store.Batch // nil: there is nothing but the events
	err := a.e.outbox.Alone(func() (err error) {
		if ev, err = a.booked(); err != nil {
			return err
		}
		if a.brings() {
			b = a.news(ev)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if b == nil {
		return a.record(ctx, ev)
	}
	length := a.tk.Base() + len(b.Entries)
	if err := (&committer{a.e, a.tk}).store(ctx, b); err != nil {
		return err
	}
	a.e.opts.Booked(a.tk.Draft.Start.Tenant, ev.Spends)
	a.read(last.res.Usage, length)
	return nil
}

// news returns the commit of what requests brought, with what happened to them.
func (a *archiver) news(ev store.Events) *store.Batch {
	last := a.last()
	a.learn(last.res.Usage)
	a.tk.Draft.Made = nil
	b := a.tk.Batch()
	var kept []store.Entry
	if a.tk.Draft.Match.State != nil {
		kept = a.tk.Draft.Match.State.Chain[:a.tk.Base()]
	}
	lengths(ev.Requests, a.fs, kept, b.Entries)
	ev.Anchor = a.anchor(last.res.Usage, b.Version+1, a.tk.Base()+len(b.Entries), last.time)
	b.Events = ev
	return b
}

// events returns answers as the store keeps them.
func (a *archiver) events() (ev store.Events, err error) {
	for i := range a.fs {
		f := &a.fs[i]
		c := f.ticket.Draft.Conv
		req := store.Request{
			Time: f.time, Length: len(f.ticket.Draft.Prompt.Blocks), API: f.ticket.Draft.Prompt.API(), Model: c.Model, Fixed: c.Fixed.Version,
			Status: f.res.Status, Broken: f.res.Broken || f.res.Status == 0, Stop: f.res.Stop, Usage: f.res.Usage,
		}
		if !match.SameBytes(f.Body, f.ticket.Draft.Body) {
			req.View = decant.HashBytes(f.Body)
		}
		if req.ID = f.ticket.Announced; req.ID == "" {
			if req.ID, err = a.e.settings.IDs.Next(); err != nil {
				return ev, err
			}
		}
		params := f.ticket.Draft.Prompt.Doc.Frame()
		req.Frame = decant.HashBytes(params)
		ev.Blobs = append(ev.Blobs, params)
		if f.res.Content != nil {
			req.Answer = decant.HashBytes(f.res.Content)
			ev.Blobs = append(ev.Blobs, f.res.Content)
		}
		ev.Requests = append(ev.Requests, req)
	}
	return ev, nil
}

// lengths notes how much of the chain, which is kept and then added, each request held: the last of them
// all of it, and those before it up to their last block. That is not how many blocks they had: clients
// leave thinking out.
func lengths(rs []store.Request, fs []finished, kept, added []store.Entry) {
	n := len(kept) + len(added)
	rs[len(rs)-1].Length = n
	if len(rs) == 1 {
		return
	}
	chain := slices.Concat(kept, added)
	for i := len(rs) - 2; i >= 0; i-- {
		r := fs[i].ticket.Draft.Prompt
		last := r.Hash(len(r.Spine) - 1)
		for n > 0 && (chain[n-1].Kind == decant.KindThinking || chain[n-1].Chain != last) {
			n--
		}
		rs[i].Length = n
	}
}

// record stores an answer to a request that brought nothing new, or whose news are stored.
func (a *archiver) record(ctx context.Context, ev store.Events) error {
	in, m := a.tk.Draft.Input, a.tk.Draft.Match
	res, now := a.last().res, a.last().time
	a.learn(res.Usage)
	length := a.tk.Base()
	for i := range ev.Requests {
		ev.Requests[i].Version = m.State.Version
	}
	ev.Anchor = a.anchor(res.Usage, m.State.Version, length, now)
	lengths(ev.Requests, a.fs, m.State.Chain[:length], nil)
	err := a.e.store.Record(ctx, m.Stored.Key, &ev)
	if errors.Is(err, store.ErrNotFound) { // a fixed part that no commit has brought: it is booked without
		for i := range ev.Requests {
			ev.Requests[i].Fixed = decant.Hash{}
		}
		err = a.e.store.Record(ctx, m.Stored.Key, &ev)
	}
	a.e.patience.Judge(err)
	if err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	a.e.opts.Booked(in.Start.Tenant, ev.Spends)
	if ev.Anchor != nil {
		m.Stored.Anchored(*ev.Anchor)
	}
	a.read(res.Usage, length)
	if a.e.finder.Cache.Get(m.Stored.Key) != m.Stored { // two requests have read the conversation at once: what is kept lacks this answer
		a.e.finder.Cache.Forget(m.Stored.Key)
	}
	return nil
}

// anchor returns usage as an anchor, nil when nothing usable was reported.
func (a *archiver) anchor(u decant.Usage, version int64, length int, now time.Time) *store.Anchor {
	if u.Prompt() == 0 || length == 0 {
		return nil
	}
	out := &store.Anchor{Usage: u, Version: version, Length: length}
	if !a.tk.Current() { // what was learned counts, the size does not
		*out = store.Anchor{}
		if !a.tk.Starts() {
			*out = a.tk.Draft.Match.Stored.State().Anchor
		}
	}
	out.Time, out.Calibration = now, a.tk.Draft.Meter.Learned.Encode()
	return out
}

// learn compares what was estimated with what was reported.
func (a *archiver) learn(u decant.Usage) {
	if u.Prompt() == 0 {
		return
	}
	if a.tk.Draft.Outcome.Reason != "" && a.tk.Draft.Outcome.Reason != policy.Overflow {
		a.tk.Draft.Meter.Calibration = a.tk.Draft.Meter.Calibration.Reset()
		return
	}
	if a.tk.Draft.Match.State == nil || !a.tk.Draft.Anchored() || a.tk.Draft.Rules().Clears() {
		return
	}
	since := a.tk.Draft.Estimate(a.tk.Draft.View, a.tk.Draft.Match.State.Chain[a.tk.Draft.Meter.Length-1].Ref)
	a.tk.Draft.Meter.Calibration = a.tk.Draft.Meter.Calibration.Observe(since, u.Prompt()-a.tk.Draft.Meter.Usage.Context())
}

// read sets the conversation's meter to what was reported about its first length entries.
func (a *archiver) read(u decant.Usage, length int) {
	in, m := a.tk.Draft.Input, a.tk.Draft.Match
	if u.Prompt() == 0 || length == 0 || length > len(m.State.Chain) {
		return
	}
	if !a.tk.Current() {
		a.tk.NoteMeter()
		return
	}
	a.tk.Draft.Meter.Usage, a.tk.Draft.Meter.Length, a.tk.Draft.Meter.Chain = u, length, m.State.Chain[length-1].Chain
	a.tk.Draft.Meter.Decisions, a.tk.Draft.Meter.Fixed = len(m.State.Decisions), in.Fixed
	a.tk.NoteMeter()
}

// bookTrials adds what was planned for observed requests to the events of their archive.
func (a *archiver) bookTrials(ev *store.Events) error {
	for i := range a.fs {
		t := a.fs[i].ticket.Trial
		if t == nil {
			continue
		}
		p, blob, err := t.Record(i == 0 && a.tk.Starts())
		if err != nil {
			return err
		}
		ev.Requests[i].Planned = p
		if blob != nil {
			ev.Blobs = append(ev.Blobs, blob)
		}
	}
	return nil
}
