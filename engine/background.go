package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// backgroundTimeout is how long one piece of work may take that no request waits for.
const backgroundTimeout = 3 * time.Minute

// Background is work that no request waits for: calls of our own to a model, which take their time.
type background struct {
	work   sync.WaitGroup
	failed func(error)
	caught func(*error) // a panic
	life   context.Context
	end    context.CancelFunc
}

func newBackground(failed func(error), caught func(*error)) *background {
	a := &background{failed: failed, caught: caught}
	a.life, a.end = context.WithCancel(context.Background())
	return a
}

// do begins a piece of work, which must return when its context is done.
func (a *background) do(work func(context.Context) error) {
	a.work.Go(func() { a.failed(a.try(work)) })
}

// try does a piece of work.
func (a *background) try(work func(context.Context) error) (err error) {
	defer a.caught(&err)
	ctx, cancel := context.WithTimeout(a.life, backgroundTimeout)
	defer cancel()
	return work(ctx)
}

// close waits for the work under way for at most so long, and then ends it.
func (a *background) close(wait time.Duration) {
	last := time.AfterFunc(wait, a.end)
	defer last.Stop()
	a.work.Wait()
	a.end()
}

// How much an engine prepares at once. Where all slots are taken, the next request of a conversation asks again.
const (
	aheadSlots = 4 // segments: calls to a model
	planSlots  = 2 // plans: work for a processor
)

// An ahead prepares the pours of conversations that will be poured soon (preset.Summary.Ahead), beside their
// requests: segments and plans. They wait in the notes of the conversation; a crash loses nothing else.
type ahead struct {
	by         provider.Summarizer // nil: nothing is written
	background *background
	slots      chan struct{}
	plans      chan struct{}
	env        *plan.Settings
	store      store.Committer
	limit      time.Duration // of a write to the store
	told       func(tenant string, spends []store.Spend)
	log        *slog.Logger
}

func newAhead(o *Options, env *plan.Settings, s store.Committer, by *background) *ahead {
	writer := o.Models.Summarizer
	if _, same := writer.(policy.Extractive); same {
		writer = nil
	}
	return &ahead{writer, by, make(chan struct{}, aheadSlots), make(chan struct{}, planSlots), env, s, o.Timeouts.Required, o.OnBooked, o.Logger}
}

// begin prepares the next pour of a conversation behind the answer to a request, if it is near: a segment is written,
// unless somebody does so, and the pour is planned. sent is the request as it was sent, answer a JSON list of blocks.
func (a *ahead) begin(dr *plan.Draft, sent, answer []byte) {
	if a.background.life.Err() != nil {
		return
	}
	next := plan.NewUpcoming(dr)
	if o, near := next.NearEarly(); near { // it comes before one that is necessary
		a.plan(next, o, true, answer)
	} else if o, near := next.Near(); !near {
		next.Drop()
	} else if a.by == nil || !a.segment(next, o, sent, answer) {
		a.plan(next, o, false, answer)
	}
}

// plan has the next pour of a conversation planned, if nobody does so.
func (a *ahead) plan(next *plan.Upcoming, o policy.PlanOptions, early bool, answer []byte) {
	f, ok := next.Forecast(o, early, answer)
	if make := a.forecast(f, ok); make != nil {
		a.background.do(make)
	}
}

// forecast returns what makes a forecast, nil where there is none, or nobody may make it now.
func (a *ahead) forecast(f *plan.Forecast, ok bool) func(context.Context) error {
	if !ok {
		return nil
	}
	select {
	case a.plans <- struct{}{}:
	default:
		return nil
	}
	if !f.Claim() {
		<-a.plans
		return nil
	}
	return func(ctx context.Context) error {
		defer func() { <-a.plans }()
		return f.Make(ctx)
	}
}

// segment has the next segment of a conversation written, and the pour planned behind it. It reports whether that has
// begun.
func (a *ahead) segment(next *plan.Upcoming, o policy.PlanOptions, sent, answer []byte) bool {
	dr := next.Draft
	cached := plan.CachedOf(dr.Match.Stored)
	select {
	case a.slots <- struct{}{}:
	default:
		return false
	}
	form := &dr.Preset.Summary
	if !cached.BeginSegment(dr.Checkpoints(), dr.Outcome.After, form.Ahead.Tokens()/4) {
		<-a.slots
		return false
	}
	if _, ok := dr.Prompt.Dialect.(dialect.Continuer); !ok {
		sent = nil // nothing can be asked behind it
	}
	o.Call.Conversation, o.Call.Background, o.Call.Sent = dr.Match.Stored.Key, true, sent
	w := &segmentWriter{a, cached, dr.Conv, o}
	f, ok := next.Forecast(o, false, answer)
	a.background.do(func(ctx context.Context) error {
		if err := w.write(ctx); err != nil || !ok {
			return err
		}
		f.Renew()
		if make := a.forecast(f, ok); make != nil {
			return make(ctx)
		}
		return nil
	})
	return true
}

// A segmentWriter writes one segment.
type segmentWriter struct {
	*ahead
	in   *plan.Cached
	conv *decant.Conversation
	o    policy.PlanOptions
}

// write writes the segment and books what it has cost. In any case somebody else may write then.
func (w *segmentWriter) write(ctx context.Context) error {
	var s decant.Segment
	var cost policy.SegmentCost
	defer func() { // also when the summariser panics
		w.in.EndSegment(s, cost.Notes, cost.USD)
		<-w.slots
	}()
	form := &w.o.Preset.Summary
	ctx, cancel := context.WithTimeout(ctx, form.Timeout.Settled().Background)
	defer cancel()
	from, to, ok := policy.Stretch(ctx, w.conv, w.o)
	if !ok {
		return nil
	}
	written, spent, err := policy.WriteSegment(ctx, w.by, w.conv, w.o, from, to)
	if cost = spent; err == nil {
		s = written
	}
	if cost.USD > 0 && !cost.Booked {
		if err := w.book(context.WithoutCancel(ctx), w.o.Call.Conversation, cost.USD); err != nil {
			return err
		}
	}
	if err != nil { // a provider may fail: the record is Decant's own then
		w.log.Warn("no segment was written ahead", "conversation", w.o.Call.Conversation.ID, "from", from, "to", to, "error", err)
	}
	return nil
}

// book books what a segment has cost as the engine's own.
func (a *ahead) book(ctx context.Context, k store.Key, usd float64) error {
	id, err := a.env.IDs.Next()
	if err != nil {
		return err
	}
	spends := []store.Spend{{ID: "ahead-" + id, Time: a.env.Now().UTC(), Model: book.Summarizer, Own: true, Cost: store.Money(usd * 1e9)}}
	ctx, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	if err := a.store.Record(ctx, k, &store.Events{Spends: spends}); err != nil {
		return fmt.Errorf("book a summary that was prepared: %w", err)
	}
	a.told(k.Tenant, spends)
	return nil
}
