package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// A typist writes a segment when it is let. It is a summariser whose calls take as long as a test likes.
type typist struct {
	writer
	let     chan struct{}
	entered chan provider.SummaryInput
}

func newTypist() *typist {
	t := &typist{let: make(chan struct{}), entered: make(chan provider.SummaryInput, 100)}
	t.write = func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		t.entered <- in
		select {
		case <-t.let:
			return good(ctx, in)
		case <-ctx.Done():
			return provider.Summary{}, ctx.Err()
		}
	}
	return t
}

// nearing returns a dialogue that is near to its trigger and was not poured, with an engine that goes on, and the round
// that comes next.
func nearing(t *testing.T, o engine.Options) (k *dialogue, next int) {
	t.Helper()
	o.NoEarlyPours, o.ArchiveDelay = true, -1
	k = newDialogue(t, o)
	k.user("Do the work. Never touch the vendor directory.")
	for n := 1; n < 7; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
	}
	k.prepare()
	finish(k)
	if k.last.Report.Reason != "" {
		t.Fatalf("poured already: %s", k.last.Report.Reason)
	}
	return k, 7
}

// finish answers the last request and waits until that is archived and everything else waits.
func finish(k *dialogue) {
	k.engine.Finish(k.last, engine.Response{Status: 200, Usage: decant.Usage{Input: len(k.last.Body) / 4, Output: 50}, Content: []byte(`[{"type":"text","text":"noted"}]`), Stop: "end_turn"})
	synctest.Wait()
}

// advance goes on by one round.
func advance(k *dialogue, n int) {
	k.Helper()
	k.round(n, output(fmt.Sprintf("call_%d", n), 20))
	k.prepare()
	finish(k)
}

// From some tokens before the trigger on a segment is written beside the conversation: once, however many requests there
// are meanwhile, with its price in the ledger. Requests do not wait for it.
func TestASegmentIsWrittenAheadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTypist()
		booked := store.Money(0)
		k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}, OnBooked: func(_ string, spends []store.Spend) {
			for _, s := range spends {
				if s.Own {
					booked += s.Cost
				}
			}
		}})
		begun := time.Now()
		advance(k, n)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body()})
				if err != nil {
					t.Error(err)
					return
				}
				k.engine.Finish(p, engine.Response{Status: 200, Broken: true}) // the client has left
			})
		}
		wg.Wait()
		synctest.Wait()
		if got := w.calls.Load(); got != 1 || time.Since(begun) > 0 {
			t.Fatalf("asked %d times, the requests took %v", got, time.Since(begun))
		}
		in := <-w.entered
		if !in.Background || in.Conversation.ID != k.last.Conversation || len(in.Sent) == 0 || len(in.Messages) == 0 {
			t.Errorf("it was told: background %v, conversation %v, %d bytes sent, %d messages", in.Background, in.Conversation, len(in.Sent), len(in.Messages))
		}
		close(w.let)
		synctest.Wait()
		if booked != 20_000_000 {
			t.Errorf("%d were booked", booked)
		}
		advance(k, n+1)
		if got := w.calls.Load(); got > 2 { // what has come since may be worth another one
			t.Errorf("asked %d times", got)
		}
	})
}

// What is prepared is not lost, nor begun a second time, when the conversation is read again because another process, or the
// archive of an answer, has changed what is stored of it.
func TestAConversationReadAgainKeepsWhatIsPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTypist()
		k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}})
		advance(k, n) // the typist begins
		elsewhere := &dialogue{TB: t, store: k.store, model: k.model, session: k.session, ms: k.ms}
		elsewhere.start(engine.Options{NoEarlyPours: true, ArchiveDelay: -1})
		defer elsewhere.engine.Close()
		advance(elsewhere, n+1)
		k.ms = elsewhere.ms
		advance(k, n+2)
		if got := w.calls.Load(); got != 1 || k.last.Conversation != elsewhere.last.Conversation || k.last.Report.Reason != "" {
			t.Fatalf("asked %d times while the first is being written (reason %q)", got, k.last.Report.Reason)
		}
		close(w.let)
		synctest.Wait()
		if untilPoured(k, n+3); len(decant.CheckpointIn(k.last.Report.Plan.Decisions).Segments) == 0 {
			t.Error("the segment that was written meanwhile is not in the record")
		}
	})
}

// Nothing is prepared for what is counted or observed, where the preset says so, and without a summariser.
func TestNothingIsPreparedForNothing(t *testing.T) {
	w := &writer{write: good}
	for name, o := range map[string]engine.Options{
		"Observed": {Models: engine.Models{Summarizer: w}, Mode: engine.Observe}, "Off": {Models: engine.Models{Summarizer: w}, Preset: foreground(t)},
		"Extractive": {Models: engine.Models{Summarizer: policy.Extractive{}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, n := nearing(t, o)
				advance(k, n)
				p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body(), Count: true})
				if err != nil {
					t.Fatal(err)
				}
				k.engine.Finish(p, engine.Response{Status: 200})
				synctest.Wait()
				if got := w.calls.Load(); got != 0 {
					t.Errorf("asked %d times", got)
				}
			})
		})
	}
}

// A pour waits for the segment that is being written, for half of its time, and asks nobody else: then it has the
// extractive record.
func TestAPourDoesNotAskTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTypist()
		k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}, Timeouts: engine.Timeouts{Required: 20 * time.Second, Optional: time.Minute}})
		begun := time.Now()
		for ; k.last.Report.Reason == "" && n < 40; n++ {
			advance(k, n)
		}
		cp := decant.CheckpointIn(k.last.Report.Plan.Decisions)
		if took := time.Since(begun); w.calls.Load() != 1 || cp == nil || cp.Rung != decant.RungExtractive || took != 10*time.Second {
			t.Errorf("asked %d times, checkpoint %v, it took %v", w.calls.Load(), cp, took)
		}
		close(w.let)
		synctest.Wait()
	})
}

// A segment that takes longer than the preset allows ends, and so does one under way when the engine is closed, which
// waits for it as long as for other necessary work. What failed is tried again when the conversation has grown.
func TestASegmentEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		close bool
		after time.Duration
	}{"Deadline": {false, 180 * time.Second}, "Close": {true, 20 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Time, 10)
				w := &writer{write: func(ctx context.Context, _ provider.SummaryInput) (provider.Summary, error) {
					<-ctx.Done()
					ended <- time.Now()
					return provider.Summary{}, ctx.Err()
				}}
				o := engine.Options{Models: engine.Models{Summarizer: w}, Logger: slog.New(slog.DiscardHandler), Timeouts: engine.Timeouts{Required: 20 * time.Second, Optional: time.Minute}}
				k, n := nearing(t, o)
				begun := time.Now()
				advance(k, n)
				if tt.close {
					k.engine.Close()
				}
				if at := (<-ended).Sub(begun); at != tt.after {
					t.Errorf("it ended after %v, want %v", at, tt.after)
				}
			})
		})
	}
}

// A summariser that fails or panics is asked again when the conversation has grown, and not with every request.
func TestASegmentThatFails(t *testing.T) {
	for name, fail := range map[string]func() (provider.Summary, error){
		"Fails": func() (provider.Summary, error) { return provider.Summary{}, errors.New("overloaded") }, "Panics": func() (provider.Summary, error) { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &writer{write: func(context.Context, provider.SummaryInput) (provider.Summary, error) { return fail() }}
				k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}, Logger: slog.New(slog.DiscardHandler)})
				advance(k, n)
				k.prepare()
				finish(k) // the same again
				first := w.calls.Load()
				for n++; k.last.Report.Reason == "" && n < 40; n++ {
					advance(k, n)
				}
				if last := w.calls.Load(); first != 1 || last < 2 || last > 5 {
					t.Errorf("asked %d times, then %d", first, last)
				}
			})
		})
	}
}
