package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A Response is what the provider answered to a prepared request.
type Response struct {
	Status  int          // as in HTTP
	Usage   decant.Usage // as reported, zero when it was not
	Content []byte       // of the answer, a JSON list of blocks; nil when there was none
	Stop    string       // why the model stopped
}

// Finish tells the engine how a prepared request was answered, so that it can be archived and that
// the next one is metered by what the provider reported. It returns at once; the archive is written
// behind it, in the order of the answers. A request that comes before it is written is met by what is
// stored until then. Errors go to Options.Fault.
//
// An answer is not part of the conversation before the client has sent it back.
func (e *Engine) Finish(p *Prepared, res Response) {
	if p.attempt == nil || p.attempt.req.Count || res.Status != 200 {
		return
	}
	before, done := e.pending.begin(p.attempt.who)
	e.work.Go(func() {
		defer done()
		if before != nil {
			<-before
		}
		e.writing <- struct{}{}
		defer func() { <-e.writing }()
		ctx, cancel := context.WithTimeout(context.Background(), e.opts.Necessary)
		defer cancel()
		if err := e.archive(ctx, p, res); err != nil {
			e.opts.Fault(fmt.Errorf("archive conversation %s: %w", p.Conversation, err))
		}
	})
}

// archive stores what the request brought and how it was answered.
func (e *Engine) archive(ctx context.Context, p *Prepared, res Response) (err error) {
	defer e.caught(&err)
	a := p.attempt
	for range maxTries {
		err := a.rebase(ctx)
		if err == nil {
			err = a.archive(ctx, p, res)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		a.state = nil // it has moved on
	}
	return fmt.Errorf("given up after %d tries: %w", maxTries, store.ErrConflict)
}

// rebase finds the attempt's place anew if its conversation has moved on since it was looked for, or
// was created by another request. What has been sent stays as it was.
func (a *attempt) rebase(ctx context.Context) error {
	if a.committed || a.line != nil && a.line.now() == a.state || a.line == nil && a.state == nil && !a.moved {
		a.moved = true
		return nil
	}
	p, err := a.e.find(ctx, a.who, a.r)
	if err != nil {
		return err
	}
	a.place, a.numbering = p, number(a.r, p)
	if p.line != nil {
		a.meter = p.line.reading()
	}
	return nil
}

func (a *attempt) archive(ctx context.Context, p *Prepared, res Response) error {
	id, err := a.e.ids.Next()
	if err != nil {
		return err
	}
	now := a.e.opts.Now().UTC()
	req := store.Request{
		ID: id, Time: now, Length: len(a.r.atoms), API: "anthropic", Model: a.conv.Model, Fixed: a.conv.Fixed.Version,
		View: hashBytes(p.Body), Status: res.Status, Stop: res.Stop, Usage: res.Usage,
	}
	ev := store.Events{Requests: []store.Request{req}}
	if s := a.spend(id, res.Usage, now); s != nil {
		ev.Spends = []store.Spend{*s}
	}
	if res.Content != nil {
		ev.Requests[0].Answer = hashBytes(res.Content)
		ev.Blobs = [][]byte{res.Content}
	}
	if a.committed || a.line != nil && a.entriesFrom() == len(a.r.atoms) && a.rel != replaces {
		return a.record(ctx, ev, res, now)
	}
	a.learn(res.Usage)
	a.made = nil
	b := a.batch()
	length := a.base() + len(b.Entries)
	ev.Anchor = a.anchor(res.Usage, b.Version+1, length, now)
	b.Events = ev
	if err := a.store(ctx, b); err != nil {
		return err
	}
	a.report.Version = a.state.Version
	a.read(res.Usage, length)
	return nil
}

// record stores an answer to a request that brought nothing new, or whose news are stored.
func (a *attempt) record(ctx context.Context, ev store.Events, res Response, now time.Time) error {
	a.learn(res.Usage)
	length := a.base()
	ev.Requests[0].Version = a.state.Version
	ev.Anchor = a.anchor(res.Usage, a.state.Version, length, now)
	ev.Requests[0].Length = length
	err := a.e.store.Record(ctx, a.line.key, &ev)
	if err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	if ev.Anchor != nil {
		a.line.anchored(*ev.Anchor)
	}
	a.read(res.Usage, length)
	return nil
}

// anchor returns usage as an anchor, nil when nothing usable was reported.
func (a *attempt) anchor(u decant.Usage, version int64, length int, now time.Time) *store.Anchor {
	if u.Prompt() == 0 || length == 0 {
		return nil
	}
	return &store.Anchor{Usage: u, Version: version, Length: length, Time: now, Calibration: a.meter.learned.encode()}
}

// learn compares what was estimated with what was reported.
func (a *attempt) learn(u decant.Usage) {
	if u.Prompt() == 0 {
		return
	}
	if a.report.Reason != "" && a.report.Reason != Overflow {
		a.meter.Calibration = a.meter.Calibration.Reset()
		return
	}
	if a.state == nil || !a.anchored() {
		return
	}
	since := a.estimate(a.view, a.state.Chain[a.meter.length-1].Ref)
	a.meter.Calibration = a.meter.Calibration.Observe(since, u.Prompt()-a.meter.usage.Context())
}

// read sets the line's meter to what was reported about its first length entries.
func (a *attempt) read(u decant.Usage, length int) {
	if u.Prompt() == 0 || length == 0 || length > len(a.state.Chain) {
		return
	}
	a.meter.usage, a.meter.length, a.meter.chain = u, length, a.state.Chain[length-1].Chain
	a.meter.decisions, a.meter.fixed = len(a.state.Decisions), a.fixed
	a.settleMeter()
}

// pending knows which conversations have archives under way, and in which order.
type pending struct {
	mu   sync.Mutex
	last map[start]chan struct{} // closed when the newest archive of the conversation is done
}

// begin notes that an archive is under way until done is called. It is to wait for the one before it,
// if there is one.
func (p *pending) begin(s start) (before <-chan struct{}, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[start]chan struct{}{}
	}
	if c := p.last[s]; c != nil {
		before = c
	}
	c := make(chan struct{})
	p.last[s] = c
	return before, func() { p.end(s, c) }
}

func (p *pending) end(s start, c chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(c)
	if p.last[s] == c {
		delete(p.last, s)
	}
}

// wait returns when the archives under way for s are done, or the context ends, and whether there
// were any.
func (p *pending) wait(ctx context.Context, s start) bool {
	p.mu.Lock()
	c := p.last[s]
	p.mu.Unlock()
	if c == nil {
		return false
	}
	select {
	case <-c:
	case <-ctx.Done():
	}
	return true
}
