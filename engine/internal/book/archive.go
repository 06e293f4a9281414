package book

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
)

// archivePatience is how long an archive waits for another process that keeps the database busy, as one does that
// writes the file anew. What is given up then comes back only if the client does.
const archivePatience = 3 * time.Minute

// maxTries is how often answers are archived anew after others have committed first.
const maxTries = 8

// Archive archives answers that come one after the other in a conversation: those together that can be written as one.
func (l *Ledger) Archive(fs []Answered) {
	for len(fs) > 0 {
		n := together(fs)
		a := &archiver{l, fs[:n], fs[n-1].Out}
		a.write()
		fs = fs[n:]
	}
}

// together returns how many answers at the beginning of fs can be written as one: requests of which
// each begins with the one before, with the same fixed part, and about which nothing was decided.
func together(fs []Answered) int {
	n := 1
	for n < len(fs) && fs[n-1].Out.Within(fs[n].Out) {
		n++
	}
	return n
}

// An archiver stores how requests were answered, and what they brought. The last of them holds what the others brought.
type archiver struct {
	*Ledger
	fs  []Answered
	out *Outgoing // of the last of them
}

// last returns the last of the answers.
func (a *archiver) last() *Answered { return &a.fs[len(a.fs)-1] }

// write archives the answers.
func (a *archiver) write() {
	err := a.try()
	for begun := time.Now(); (errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrUnreachable)) && time.Since(begun) < archivePatience; {
		time.Sleep(plan.BusyWait)
		err = a.try()
	}
	if err != nil {
		a.Logger.Error("archive conversation", "conversation", a.last().Conversation, "error", err)
	}
	for i := range a.fs {
		a.Purse.Release(a.fs[i].Held) // it is booked now
	}
}

// try archives the answers if that is possible in the time that necessary work may take. While other commits come first
// again and again, it stores at least that the requests were answered, which no commit is in the way of: what they
// brought comes back with the client's next request.
func (a *archiver) try() (err error) {
	out := a.out
	defer a.Recover(&err)
	ctx, cancel := context.WithTimeout(context.Background(), a.Settings.RequiredTimeout)
	defer cancel()
	for range maxTries {
		err := a.rebase(ctx)
		if err == nil {
			err = a.archive(ctx)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		out.Match.State = nil // it has moved on
	}
	if err := a.rebase(ctx); err != nil {
		return err
	}
	if out.Match.Stored == nil {
		return fmt.Errorf("given up after %d tries: %w", maxTries, store.ErrConflict)
	}
	out.Decided = -1 // what is stored of it is not what the report is about
	ev, err := a.booked()
	if err != nil {
		return err
	}
	return a.record(ctx, ev)
}

// rebase finds the place of what was sent anew if its conversation has moved on since it was looked for, or
// was created by another request. What has been sent stays as it was.
func (a *archiver) rebase(ctx context.Context) error {
	out := a.out
	if out.Stored() {
		out.Meter = plan.CachedOf(out.Match.Stored).Meter() // answers before this one have been archived since
	}
	if a.stands(ctx) {
		out.Try()
		return nil
	}
	p, err := a.Finder.Find(ctx, out.Start, out.Prompt)
	if err != nil {
		return err
	}
	if out.Stored() && p.Stored != nil && p.Stored.Key == out.Match.Stored.Key && (p.Relation == match.Continues || p.Relation == match.Returns) {
		return nil // what it brought is still there
	}
	out.Input, out.Withdrawn = out.At(p), a.Settings.Withdrawals(p)
	if out.Stored() { // it is in another conversation, which has the id
		out.Lose()
	}
	if p.Stored != nil {
		out.Meter = plan.CachedOf(p.Stored).Meter()
	}
	return nil
}

// stands reports whether the place need not be looked for anew. A commit finds out by itself
// whether the store has moved on; where there is nothing to commit it must be asked, because another
// process may have replaced what the request has in common with the conversation.
func (a *archiver) stands(ctx context.Context) bool {
	out := a.out
	m := out.Match
	switch {
	case m.Stored == nil:
		return m.State == nil && out.State == Prepared
	case !a.last().Answered() && !a.brings():
		return true
	case m.Asked && !out.Stored(): // what it would replace may have been answered since
		return false
	case !out.Stored() && (m.Stored.State() != m.State || a.brings()):
		return m.Stored.State() == m.State
	}
	v, err := a.Store.Version(ctx, m.Stored.Key)
	return err != nil || v == m.State.Version
}

// brings reports whether there is something to commit of the request.
func (a *archiver) brings() bool {
	out := a.out
	return !out.Stored() && (out.Match.Stored == nil || out.EntriesFrom() < len(out.Prompt.Blocks) || out.Match.Relation == match.Replaces)
}

// booked returns answers as the store keeps them, with what they cost.
func (a *archiver) booked() (store.Events, error) {
	ev, err := a.events()
	if err == nil {
		err = a.bookTrials(&ev)
	}
	if err == nil {
		ev.Spends = a.spends(a.out, a.fs, ev.Requests)
	}
	return ev, err
}

// archive stores what the requests brought and how they were answered.
func (a *archiver) archive(ctx context.Context) error {
	out := a.out
	last := a.last()
	out.Meter.Account = &plan.Account{Upstream: plan.AccountName(out.Upstream), Organization: last.Organization}
	var ev store.Events
	var b *store.Batch // nil: there is nothing but the events
	err := a.Alone(func() (err error) {
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
	length := out.Base() + len(b.Entries)
	if err := (&committer{a.Ledger, out}).store(ctx, b); err != nil {
		return err
	}
	a.OnBooked(out.Start.Tenant, ev.Spends)
	a.read(last.Usage, length)
	return nil
}

// news returns the commit of what requests brought, with what happened to them.
func (a *archiver) news(ev store.Events) *store.Batch {
	out := a.out
	last := a.last()
	a.learn(last.Usage)
	out.Made = nil
	b := out.Batch()
	var kept []store.Entry
	if out.Match.State != nil {
		kept = out.Match.State.Chain[:out.Base()]
	}
	lengths(ev.Requests, a.fs, kept, b.Entries)
	ev.Anchor = a.anchor(last.Usage, b.Version+1, out.Base()+len(b.Entries), last.Time)
	b.Events = ev
	return b
}

// longestID is how many bytes the id of an answer has at most that a request may go on from: stores look for it.
const longestID = 512

// events returns answers as the store keeps them.
func (a *archiver) events() (ev store.Events, err error) {
	for i := range a.fs {
		f := &a.fs[i]
		c := f.Out.Conv
		req := store.Request{
			Time: f.Time, Length: len(f.Out.Prompt.Blocks), API: f.Out.Prompt.API(), Model: c.Model, Fixed: c.Fixed.Version,
			Status: f.Status, Broken: f.Broken || f.Status == 0, Stop: f.Stop, Usage: f.Usage,
		}
		if f.Answered() && f.Content != nil && len(f.ID) <= longestID {
			req.AnswerID = f.ID
		}
		if !match.SameBytes(f.Body, f.Out.Body) {
			req.View = decant.HashBytes(f.Body)
		}
		if req.ID = f.Out.Announced; req.ID == "" {
			if req.ID, err = a.Settings.IDs.Next(); err != nil {
				return ev, err
			}
		}
		params := f.Out.Prompt.Doc.Frame()
		req.Frame = decant.HashBytes(params)
		ev.Blobs = append(ev.Blobs, params)
		if f.Content != nil {
			req.Answer = decant.HashBytes(f.Content)
			ev.Blobs = append(ev.Blobs, f.Content)
		}
		ev.Requests = append(ev.Requests, req)
	}
	return ev, nil
}

// lengths notes how much of the chain, which is kept and then added, each request held: the last of them
// all of it, and those before it up to their last block. That is not how many blocks they had: clients
// leave thinking out. The last one begins with all others, so that only its blocks have to be hashed.
func lengths(rs []store.Request, fs []Answered, kept, added []store.Entry) {
	n := len(kept) + len(added)
	rs[len(rs)-1].Length = n
	if len(rs) == 1 {
		return
	}
	chain, whole := slices.Concat(kept, added), fs[len(fs)-1].Out.Prompt
	for i := len(rs) - 2; i >= 0; i-- {
		last := whole.Hash(len(fs[i].Out.Prompt.Spine) - 1)
		for n > 0 && (chain[n-1].Kind == decant.KindThinking || chain[n-1].Chain != last) {
			n--
		}
		rs[i].Length = n
	}
}

// record stores an answer to a request that brought nothing new, or whose news are stored.
func (a *archiver) record(ctx context.Context, ev store.Events) error {
	out := a.out
	in, m := out.Input, out.Match
	res, now := a.last().Answer, a.last().Time
	a.learn(res.Usage)
	length := out.Base()
	for i := range ev.Requests {
		ev.Requests[i].Version = m.State.Version
	}
	ev.Anchor = a.anchor(res.Usage, m.State.Version, length, now)
	lengths(ev.Requests, a.fs, m.State.Chain[:length], nil)
	err := a.Store.Record(ctx, m.Stored.Key, &ev)
	if errors.Is(err, store.ErrNotFound) { // a fixed part that no commit has brought: it is booked without
		for i := range ev.Requests {
			ev.Requests[i].Fixed, ev.Requests[i].AnswerID = decant.Hash{}, "" // nobody can go on from what lacks a part
		}
		err = a.Store.Record(ctx, m.Stored.Key, &ev)
	}
	a.Deadlines.Observe(err)
	if err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	a.OnBooked(in.Start.Tenant, ev.Spends)
	if ev.Anchor != nil {
		m.Stored.Anchored(*ev.Anchor)
	}
	a.read(res.Usage, length)
	if a.Finder.Cache.Get(m.Stored.Key) != m.Stored { // two requests have read the conversation at once: what is kept lacks this answer
		a.Finder.Cache.Forget(m.Stored.Key)
	}
	return nil
}

// anchor returns usage as an anchor, nil when nothing usable was reported.
func (a *archiver) anchor(u decant.Usage, version int64, length int, now time.Time) *store.Anchor {
	if u.Prompt() == 0 || length == 0 {
		return nil
	}
	out := &store.Anchor{Usage: u, Version: version, Length: length}
	if !a.out.Current() { // what was learned counts, the size does not
		*out = store.Anchor{}
		if !a.out.Starts() {
			stored := a.out.Match.Stored
			*out = stored.State().Anchor
		}
	}
	out.Time, out.Calibration = now, a.out.Meter.Encode()
	return out
}

// learn compares what was estimated with what was reported.
func (a *archiver) learn(u decant.Usage) {
	out := a.out
	if u.Prompt() == 0 {
		return
	}
	if out.Outcome.Reason != "" && out.Outcome.Reason != policy.Overflow {
		out.Meter.Calibration = out.Meter.Calibration.Reset()
		return
	}
	if out.Match.State == nil || !out.Anchored() || out.Rules().Clears() {
		return
	}
	since := out.Estimate(out.View, out.Match.State.Chain[out.Meter.Length-1].Ref)
	out.Meter.Calibration = out.Meter.Calibration.Observe(since, u.Prompt()-out.Meter.Usage.Context())
}

// read sets the conversation's meter to what was reported about its first length entries.
func (a *archiver) read(u decant.Usage, length int) {
	out := a.out
	in, m := out.Input, out.Match
	if u.Prompt() == 0 || length == 0 || length > len(m.State.Chain) {
		return
	}
	if !out.Current() {
		out.NoteMeter()
		return
	}
	out.Meter.Usage, out.Meter.Length, out.Meter.Chain = u, length, m.State.Chain[length-1].Chain
	out.Meter.Decisions, out.Meter.Fixed = len(m.State.Decisions), in.Fixed
	out.NoteMeter()
}

// bookTrials adds what was planned for observed requests to the events of their archive.
func (a *archiver) bookTrials(ev *store.Events) error {
	for i := range a.fs {
		t := a.fs[i].Out.Trial
		if t == nil {
			continue
		}
		p, blob, err := t.Record(i == 0 && a.out.Starts())
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
