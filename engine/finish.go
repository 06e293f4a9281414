package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// A Response is what the provider answered to a prepared request.
type Response struct {
	Status  int          // as in HTTP
	Usage   decant.Usage // as reported, zero when it was not
	Content []byte       // of the answer, a JSON list of blocks; nil when there was none
	Stop    string       // why the model stopped
	Broken  bool         // the answer ended before its end: it counts as none

	Partial []byte // what was said in an answer that broke off, as far as it was kept
	Came    int    // bytes of all that was said in it

	Organization string // whom the provider has answered, as its header names it; empty when it does not
	Editing      bool   // the answer says what context editing did
	Cleared      int    // results that it left out of the prompt
}

// Finish tells the engine how a prepared request was answered, so that it can be archived and that
// the next one is metered by what the provider reported. It returns at once; the archive is written
// behind it, when requests leave time for it or Options.Lag has passed, in the order of the answers, and
// answers that waited for each other are written together. A request that comes before it is written is
// met by what is stored until then. Errors go to Options.Fault. While Options.Backlog is full nothing is
// archived.
//
// An answer is not part of the conversation before the client has sent it back. But what it answers is
// provisional no longer, unless the answer broke off; that a request was not answered is stored too, if
// what it ended with is.
func (e *Engine) Finish(p *Prepared, res Response) {
	if p.attempt == nil || p.attempt.req.Count {
		return
	}
	e.flights.leave(p.attempt.req)
	if res.Status/100 != 2 {
		e.purse.release(p.attempt.req)
		if !p.attempt.committed && p.attempt.ticket == "" {
			return
		}
	}
	f := finished{p, res, p.Billed(res), e.opts.Now().UTC()}
	if f.res.Partial = nil; res.Broken {
		f.res.Usage.Output = 0 // the client may send back any part of it, or none
	}
	f.res.Organization = named(res.Organization)
	e.witnessed(p, f.res)
	who := p.attempt.who
	q, kept := e.pending.add(who, f)
	if q != nil {
		e.work.Go(func() { e.write(who, q) })
	}
	if !kept {
		e.purse.release(p.attempt.req)
	}
	e.tellBacklog()
}

// finished is a request with its answer.
type finished struct {
	*Prepared
	res    Response
	billed decant.Usage
	time   time.Time
}

// answered reports whether there was an answer, to its end.
func (f *finished) answered() bool { return f.res.Status/100 == 2 && !f.res.Broken }

// write archives the answers in a conversation until there are none left.
func (e *Engine) write(who lineage.Start, q *queue) {
	for {
		e.rest(q)
		e.writing.begin()
		fs := e.pending.take(q)
		for rest := fs; len(rest) > 0; {
			n := together(rest)
			e.writeTogether(rest[:n])
			rest = rest[n:]
		}
		e.writing.end()
		last := e.pending.done(who, q)
		e.tellBacklog()
		if last {
			return
		}
	}
}

// together returns how many answers at the beginning of fs can be written as one: requests of which
// each begins with the one before, with the same fixed part, and about which nothing was decided.
func together(fs []finished) int {
	n := 1
	for n < len(fs) && fs[n-1].attempt.within(fs[n].attempt) {
		n++
	}
	return n
}

// within reports whether everything that a would archive is part of b.
func (a *attempt) within(b *attempt) bool {
	n := len(a.r.Spine)
	if a.Conv.Fixed.Version != b.Conv.Fixed.Version { // a commit brings one
		return false
	}
	if a.committed || b.committed || a.suppress > 0 || a.report.Reason != "" || n == 0 || n > len(b.r.Spine) || len(a.r.Blocks) > len(b.r.Blocks) {
		return false
	}
	return a.r.Begins(b.r)
}

// writeTogether archives answers that belong together.
func (e *Engine) writeTogether(fs []finished) {
	ctx, cancel := context.WithTimeout(context.Background(), e.opts.Necessary)
	defer cancel()
	if err := e.archive(ctx, fs); err != nil {
		e.opts.Fault(fmt.Errorf("archive conversation %s: %w", fs[len(fs)-1].Conversation, err))
	}
	for i := range fs {
		e.purse.release(fs[i].attempt.req) // it is booked now
	}
}

// writing lets one archive at a time be put together, because requests need the processors more, and a
// few wait for the store at once, so that it can write them as one.
type writing struct{ under, together chan struct{} }

// mostWriting are the archives that wait for the store at once.
const mostWriting = 8

func newWriting() writing { return writing{make(chan struct{}, mostWriting), make(chan struct{}, 1)} }

func (w *writing) begin() { w.under <- struct{}{} }
func (w *writing) end()   { <-w.under }

// alone calls do while no other archive is put together.
func (w *writing) alone(do func() error) error {
	w.together <- struct{}{}
	defer func() { <-w.together }()
	return do()
}

// archive stores what requests brought and how they were answered. The last of them holds what the
// others brought. While other commits come first again and again, it stores at least that they were
// answered, which no commit is in the way of: what they brought comes back with the client's next request.
func (e *Engine) archive(ctx context.Context, fs []finished) (err error) {
	defer e.caught(&err)
	a := fs[len(fs)-1].attempt
	for range maxTries {
		err := a.rebase(ctx, &fs[len(fs)-1])
		if err == nil {
			err = a.archive(ctx, fs)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		a.State = nil // it has moved on
	}
	if err := a.rebase(ctx, &fs[len(fs)-1]); err != nil {
		return err
	}
	if a.Stored == nil {
		return fmt.Errorf("given up after %d tries: %w", maxTries, store.ErrConflict)
	}
	a.decided = -1 // what is stored of it is not what the report is about
	ev, err := a.booked(fs)
	if err != nil {
		return err
	}
	return a.record(ctx, ev, fs)
}

// rebase finds the attempt's place anew if its conversation has moved on since it was looked for, or
// was created by another request. What has been sent stays as it was.
func (a *attempt) rebase(ctx context.Context, f *finished) error {
	if a.committed {
		a.meter = notesOf(a.Stored).reading() // answers before this one have been archived since
	}
	if a.stands(ctx, f) {
		a.moved = true
		return nil
	}
	p, err := a.e.finder.Find(ctx, a.who, a.r)
	if err != nil {
		return err
	}
	if a.committed && p.Stored != nil && p.Stored.Key == a.Stored.Key && (p.Relation == lineage.Continues || p.Relation == lineage.Returns) {
		return nil // what it brought is still there
	}
	a.Match, a.Map, a.withdrawn = p, lineage.References(a.r, p), a.e.withdrawn(p)
	if a.committed { // it is in another conversation, which has the id
		a.committed, a.id = false, ""
	}
	if p.Stored != nil {
		a.meter = notesOf(p.Stored).reading()
	}
	return nil
}

// stands reports whether the attempt's place needs not be looked for anew. A commit finds out by itself
// whether the store has moved on; where there is nothing to commit it must be asked, because another
// process may have replaced what the request has in common with the conversation.
func (a *attempt) stands(ctx context.Context, f *finished) bool {
	switch {
	case a.Stored == nil:
		return a.State == nil && !a.moved
	case !f.answered() && !a.brings():
		return true
	case a.Asked && !a.committed: // what it would replace may have been answered since
		return false
	case !a.committed && (a.Stored.State() != a.State || a.brings()):
		return a.Stored.State() == a.State
	}
	v, err := a.e.store.Version(ctx, a.Stored.Key)
	return err != nil || v == a.State.Version
}

// brings reports whether there is something to commit of the request.
func (a *attempt) brings() bool {
	return !a.committed && (a.Stored == nil || a.entriesFrom() < len(a.r.Blocks) || a.Relation == lineage.Replaces)
}

// booked returns answers as the store keeps them, with what they cost.
func (a *attempt) booked(fs []finished) (store.Events, error) {
	ev, err := a.e.events(fs)
	if err == nil {
		err = a.bookTrials(fs, &ev)
	}
	if err == nil {
		ev.Spends = a.spends(fs, ev.Requests)
	}
	return ev, err
}

func (a *attempt) archive(ctx context.Context, fs []finished) error {
	last := &fs[len(fs)-1]
	a.meter.Account = &account{named(a.req.Upstream), last.res.Organization}
	var ev store.Events
	var b *store.Batch // nil: there is nothing but the events
	err := a.e.writing.alone(func() (err error) {
		if ev, err = a.booked(fs); err != nil {
			return err
		}
		if a.brings() {
			b = a.news(fs, ev)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if b == nil {
		return a.record(ctx, ev, fs)
	}
	length := a.base() + len(b.Entries)
	if err := a.store(ctx, b); err != nil {
		return err
	}
	a.e.opts.Booked(a.req.Tenant, ev.Spends)
	a.report.Version = a.State.Version
	a.read(last.res.Usage, length)
	return nil
}

// news returns the commit of what requests brought, with what happened to them.
func (a *attempt) news(fs []finished, ev store.Events) *store.Batch {
	last := &fs[len(fs)-1]
	a.learn(last.res.Usage)
	a.made = nil
	b := a.batch()
	var kept []store.Entry
	if a.State != nil {
		kept = a.State.Chain[:a.base()]
	}
	lengths(ev.Requests, fs, kept, b.Entries)
	ev.Anchor = a.anchor(last.res.Usage, b.Version+1, a.base()+len(b.Entries), last.time)
	b.Events = ev
	return b
}

// events returns answers as the store keeps them.
func (e *Engine) events(fs []finished) (ev store.Events, err error) {
	for i := range fs {
		f := &fs[i]
		c := f.attempt.Conv
		req := store.Request{
			Time: f.time, Length: len(f.attempt.r.Blocks), API: "anthropic", Model: c.Model, Fixed: c.Fixed.Version,
			Status: f.res.Status, Broken: f.res.Broken || f.res.Status == 0, Stop: f.res.Stop, Usage: f.res.Usage,
		}
		if !prompt.SameBytes(f.Body, f.attempt.req.Body) {
			req.View = decant.HashBytes(f.Body)
		}
		if req.ID = f.attempt.ticket; req.ID == "" {
			if req.ID, err = e.ids.Next(); err != nil {
				return ev, err
			}
		}
		params := f.attempt.r.Doc.Frame()
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
		r := fs[i].attempt.r
		last := r.Hash(len(r.Spine) - 1)
		for n > 0 && (chain[n-1].Kind == decant.KindThinking || chain[n-1].Chain != last) {
			n--
		}
		rs[i].Length = n
	}
}

// record stores an answer to a request that brought nothing new, or whose news are stored.
func (a *attempt) record(ctx context.Context, ev store.Events, fs []finished) error {
	res, now := fs[len(fs)-1].res, fs[len(fs)-1].time
	a.learn(res.Usage)
	length := a.base()
	for i := range ev.Requests {
		ev.Requests[i].Version = a.State.Version
	}
	ev.Anchor = a.anchor(res.Usage, a.State.Version, length, now)
	lengths(ev.Requests, fs, a.State.Chain[:length], nil)
	err := a.e.store.Record(ctx, a.Stored.Key, &ev)
	if errors.Is(err, store.ErrNotFound) { // a fixed part that no commit has brought: it is booked without
		for i := range ev.Requests {
			ev.Requests[i].Fixed = decant.Hash{}
		}
		err = a.e.store.Record(ctx, a.Stored.Key, &ev)
	}
	a.e.busy.judge(err)
	if err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	a.e.opts.Booked(a.req.Tenant, ev.Spends)
	if ev.Anchor != nil {
		a.Stored.Anchored(*ev.Anchor)
	}
	a.read(res.Usage, length)
	if a.e.finder.Cache.Get(a.Stored.Key) != a.Stored { // two requests have read the conversation at once: what is kept lacks this answer
		a.e.finder.Cache.Forget(a.Stored.Key)
	}
	return nil
}

// anchor returns usage as an anchor, nil when nothing usable was reported.
func (a *attempt) anchor(u decant.Usage, version int64, length int, now time.Time) *store.Anchor {
	if u.Prompt() == 0 || length == 0 {
		return nil
	}
	out := &store.Anchor{Usage: u, Version: version, Length: length}
	if !a.current() { // what was learned counts, the size does not
		*out = store.Anchor{}
		if !a.starts() {
			*out = a.Stored.State().Anchor
		}
	}
	out.Time, out.Calibration = now, a.meter.learned.encode()
	return out
}

// current reports whether the conversation's decisions are those that the request was sent under: then what
// was reported is the size of its view.
func (a *attempt) current() bool {
	switch {
	case a.State == nil:
		return true
	case a.Relation == lineage.Forks && !a.committed: // its own conversation begins with these
		return a.sentUnder(a.Match.Applicable(a.Map, nil))
	}
	return a.decided == len(a.State.Decisions)
}

// learn compares what was estimated with what was reported.
func (a *attempt) learn(u decant.Usage) {
	if u.Prompt() == 0 {
		return
	}
	if a.report.Reason != "" && a.report.Reason != policy.Overflow {
		a.meter.Calibration = a.meter.Calibration.Reset()
		return
	}
	if a.State == nil || !a.anchored() {
		return
	}
	since := a.estimate(a.view, a.State.Chain[a.meter.length-1].Ref)
	a.meter.Calibration = a.meter.Calibration.Observe(since, u.Prompt()-a.meter.usage.Context())
}

// read sets the line's meter to what was reported about its first length entries.
func (a *attempt) read(u decant.Usage, length int) {
	if u.Prompt() == 0 || length == 0 || length > len(a.State.Chain) {
		return
	}
	if !a.current() {
		a.settleMeter()
		return
	}
	a.meter.usage, a.meter.length, a.meter.chain = u, length, a.State.Chain[length-1].Chain
	a.meter.decisions, a.meter.fixed = len(a.State.Decisions), a.fixed
	a.settleMeter()
}
