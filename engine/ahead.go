package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/pour"
	"github.com/decantdev/decant/engine/internal/ticket"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// aheadSlots is how many segments an engine has written ahead of pours at once. Where all are taken, the next request of a
// conversation asks again.
const aheadSlots = 4

// An ahead has segments of conversations written that will be poured soon (preset.Summary.Ahead), beside their
// requests. They wait in the notes of the conversation; a crash loses nothing else.
type ahead struct {
	by    policy.Summarizer // nil: nothing is written
	aside *aside
	slots chan struct{}
	book  func(context.Context, store.Key, float64) error
}

func newAhead(e *Engine) *ahead {
	by := e.opts.Models.Summarizer
	if _, same := by.(policy.Extractive); same {
		by = nil
	}
	return &ahead{by, e.behind.aside, make(chan struct{}, aheadSlots), e.bookAhead}
}

// answered has the next segment of an answered request's conversation written, if a pour is near and nobody writes it.
func (a *ahead) answered(p *Prepared, res *Response) {
	if a.by == nil || a.aside.life.Err() != nil || res.Status/100 != 2 || p.ticket.Trial != nil || p.Conversation == "" {
		return
	}
	dr := p.ticket.Draft
	q := dr.Query
	o, near := (&pour.Pour{Draft: dr}).Ahead()
	if !near {
		return
	}
	in := notes.Of(q.Match.Stored).Ahead()
	select {
	case a.slots <- struct{}{}:
	default:
		return
	}
	if !in.Begin(q.Checkpoints(), dr.Outcome.After, q.Preset.Summary.Ahead.Tokens()/4) {
		<-a.slots
		return
	}
	o.Call.Conversation, o.Call.Background, o.Call.Sent = q.Match.Stored.Key, true, p.Body
	w := &segmentWriter{a, in, q.Refs.Conv, o}
	a.aside.do(w.write)
}

// A segmentWriter writes one segment.
type segmentWriter struct {
	*ahead
	in   *notes.Ahead
	conv *decant.Conversation
	o    policy.PlanOptions
}

// write writes the segment and books what it has cost. In any case somebody else may write then.
func (w *segmentWriter) write(ctx context.Context) error {
	var s decant.Segment
	defer func() { // also when the summariser panics
		w.in.End(s)
		<-w.slots
	}()
	ctx, cancel := context.WithTimeout(ctx, w.o.Preset.Summary.Timeout.Settled().Background)
	defer cancel()
	from, to, ok := policy.Stretch(ctx, w.conv, w.o)
	if !ok {
		return nil
	}
	written, cost, err := policy.WriteSegment(ctx, w.by, w.conv, w.o, from, to)
	if err == nil {
		s = written
	}
	if cost.USD > 0 && !cost.Booked {
		if err := w.book(context.WithoutCancel(ctx), w.o.Call.Conversation, cost.USD); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("prepare the summary of m%d to m%d: %w", from, to, err)
	}
	return nil
}

// bookAhead books what a segment has cost as the engine's own.
func (e *Engine) bookAhead(ctx context.Context, k store.Key, usd float64) error {
	id, err := e.env.IDs.Next()
	if err != nil {
		return err
	}
	spends := []store.Spend{{ID: "ahead-" + id, Time: e.opts.Now().UTC(), Model: ticket.Summarizer, Own: true, Cost: store.Money(usd * 1e9)}}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeouts.Required)
	defer cancel()
	if err := e.store.Record(ctx, k, &store.Events{Spends: spends}); err != nil {
		return fmt.Errorf("book a summary that was prepared: %w", err)
	}
	e.opts.Booked(k.Tenant, spends)
	return nil
}
