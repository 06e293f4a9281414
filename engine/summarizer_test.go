package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// A writer is a summariser that a program brings along.
type writer struct {
	write func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error)
	calls atomic.Int32
}

func (w *writer) Summarize(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
	w.calls.Add(1)
	return w.write(ctx, in)
}

const byHand = "What follows was written by hand."

// good writes a record that has all that the extractive one has, and says so.
func good(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
	in.MaxTokens -= 2 * in.Counter.Count(byHand)
	s, err := policy.Extractive{}.Summarize(ctx, in)
	return provider.Summary{Text: byHand + "\n" + s.Text, CostUSD: 0.02}, err
}

func hangs(ctx context.Context, _ provider.SummaryInput) (provider.Summary, error) {
	<-ctx.Done()
	return provider.Summary{CostUSD: 0.01}, ctx.Err()
}

// The record of a pour is written by the summariser of the options, once; the store has it with its price, and later
// requests are sent it without asking again.
func TestASummarizerWritesTheRecord(t *testing.T) {
	w := &writer{write: good}
	booked := store.Money(0)
	k := poured(t, engine.Options{OnBooked: func(_ string, spends []store.Spend) {
		for _, s := range spends {
			if s.Own {
				booked += s.Cost
			}
		}
	}}, w)
	cp := decant.CheckpointIn(k.state().Decisions)
	if n := w.calls.Load(); n != 1 || cp == nil {
		t.Fatalf("asked %d times, checkpoint %v", n, cp)
	}
	if cp.Rung != decant.RungModel || cp.CostUSD != 0.02 || cp.Poor || !strings.Contains(cp.Summary, byHand) || !strings.Contains(cp.Summary, "vendor directory") {
		t.Errorf("rung %s, $%g, poor %v:\n%s", cp.Rung, cp.CostUSD, cp.Poor, cp.Summary)
	}
	if plan := k.last.Report.Plan; len(plan.Notes) > 0 || plan.Price.CostUSD < 0.02 || plan.After.Messages > plan.Target {
		t.Errorf("plan: notes %q, price %+v, %d tokens of %d", plan.Notes, plan.Price, plan.After.Messages, plan.Target)
	}
	totals, err := k.store.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	own, calls := store.Money(0), 0
	for i := range totals {
		own, calls = own+totals[i].OwnCost, calls+totals[i].Own
	}
	if own != 20_000_000 || calls != 1 || booked != own {
		t.Errorf("%d of own calls are stored, %d of them, %d were booked: %+v", own, calls, booked, totals)
	}
	k.round(100, "done")
	k.mustSend()
	if n := w.calls.Load(); n != 1 || !bytes.Contains(k.last.Body, []byte(byHand)) {
		t.Errorf("asked %d times; the next request has the record: %v", n, bytes.Contains(k.last.Body, []byte(byHand)))
	}
}

// A summariser that is no good costs nothing but its price: the pour has the extractive record, its plan says why, and so
// does the log, without what the summariser may have said of keys.
func TestTheExtractiveRecordIsTheFloor(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(context.Context, provider.SummaryInput) (provider.Summary, error)
		why   string
	}{
		"Fails": {func(context.Context, provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{CostUSD: 0.01}, errors.New("401: the key sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa is not known")
		}, "the summariser failed: 401"},
		"Lost": {func(context.Context, provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{Text: "All of it went well.", CostUSD: 0.01}, nil
		}, "not about them"},
		"TooLong": {func(_ context.Context, in provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{Text: strings.Repeat("It went on and on. ", in.MaxTokens), CostUSD: 0.01}, nil
		}, "tokens"},
		"Empty": {func(context.Context, provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{CostUSD: 0.01}, nil
		}, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			want := poured(t, engine.Options{}, nil)
			w, log := &writer{write: tt.write}, &bytes.Buffer{}
			k := poured(t, engine.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, w)
			isFloor(t, k, want, tt.why)
			if w.calls.Load() != 1 || !strings.Contains(log.String(), "record is not used") || strings.Contains(log.String(), "aaaaaaaa") {
				t.Errorf("asked %d times, log %s", w.calls.Load(), log)
			}
		})
	}
}

// What a summariser has booked itself is not booked again; its price stands in the checkpoint all the same. It is told whose
// conversation it writes about, for it asks on that tenant's behalf.
func TestASummarizerThatBooksItself(t *testing.T) {
	var told provider.SummaryInput
	w := &writer{write: func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		told = in
		s, err := good(ctx, in)
		s.Booked = true
		return s, err
	}}
	k := poured(t, engine.Options{}, w)
	cp := decant.CheckpointIn(k.state().Decisions)
	if cp == nil || cp.CostUSD != 0.02 {
		t.Fatalf("%+v", cp)
	}
	totals, err := k.store.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range totals {
		if totals[i].Own > 0 || totals[i].OwnCost > 0 {
			t.Errorf("booked again: %+v", totals[i])
		}
	}
	if told.Conversation != k.state().Key || told.Model.ID == "" {
		t.Errorf("the summariser was told of %+v, %q", told.Conversation, told.Model.ID)
	}
}

// A summariser that hangs is waited for as long as a pour may take, and not longer.
func TestASummarizerThatHangs(t *testing.T) {
	want := poured(t, engine.Options{}, nil)
	synctest.Test(t, func(t *testing.T) {
		w := &writer{write: hangs}
		begun := time.Now()
		k := poured(t, engine.Options{Logger: slog.New(slog.DiscardHandler), Timeouts: engine.Timeouts{Required: 10 * time.Second, Optional: time.Minute}}, w)
		if took := time.Since(begun); took < 10*time.Second || took > 11*time.Second || w.calls.Load() != 1 {
			t.Errorf("it took %v, asked %d times", took, w.calls.Load())
		}
		isFloor(t, k, want, context.DeadlineExceeded.Error())
		k.engine.Close()
	})
}

// overtaken is a store in which somebody else commits first when a record is to be stored, once.
type overtaken struct {
	engine.Store
	done bool
}

func (o *overtaken) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	if decant.CheckpointIn(b.Decisions) != nil && !o.done {
		o.done = true
		return 0, store.ErrConflict
	}
	return o.Store.Commit(ctx, b)
}

// A pour that has to be made again, because another request was first, has the record that was paid for.
func TestASummarizerIsAskedOnceWhoeverIsFirst(t *testing.T) {
	w := &writer{write: good}
	k := newDialogue(t, engine.Options{})
	s := &overtaken{Store: k.store}
	k.store = s
	k.start(engine.Options{Models: engine.Models{Summarizer: w}, NoEarlyPours: true, Preset: foreground(t)})
	k.pour()
	if cp := decant.CheckpointIn(k.state().Decisions); !s.done || w.calls.Load() != 1 || cp == nil || cp.Rung != decant.RungModel {
		t.Errorf("overtaken %v, asked %d times, checkpoint %+v", s.done, w.calls.Load(), cp)
	}
}

// What is not sent is not paid for: requests that are only counted or observed, and previews.
func TestASummarizerIsAskedForWhatIsSentOnly(t *testing.T) {
	w := &writer{write: good}
	k := newDialogue(t, engine.Options{Models: engine.Models{Summarizer: w}, NoEarlyPours: true, Mode: engine.Observe})
	k.user("Do the work.")
	for n := range 8 {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
	}
	k.mustSend()
	if k.last.Report.Plan == nil || decant.CheckpointIn(k.last.Report.Plan.Decisions) == nil {
		t.Fatalf("no pour is planned: %+v", k.last.Report)
	}
	k.start(engine.Options{Models: engine.Models{Summarizer: w}, NoEarlyPours: true})
	if _, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body(), Count: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.engine.Preview(t.Context(), store.Key{ID: k.last.Conversation}); err != nil {
		t.Fatal(err)
	}
	if n := w.calls.Load(); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

// foreground returns the default preset, with nothing prepared ahead of a pour.
func foreground(t *testing.T) *preset.Preset {
	t.Helper()
	p, err := preset.Parse("foreground", []byte("name: foreground\nabout: Nothing is prepared.\nbase: default\nsummary: {ahead: off}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// poured returns a dialogue that was poured once, with a summariser unless that is nil.
func poured(t *testing.T, o engine.Options, w *writer) *dialogue {
	t.Helper()
	o.NoEarlyPours, o.Preset = true, foreground(t)
	if w != nil {
		o.Models.Summarizer = w
	}
	k := newDialogue(t, o)
	k.user("Hello.")
	k.says("What is to be done?")
	k.user("Never touch the vendor directory. Always run the linter before you commit.")
	k.pour()
	return k
}

// isFloor fails the test when a dialogue was not sent what another was, which nobody wrote a record for.
func isFloor(t *testing.T, k, want *dialogue, why string) {
	t.Helper()
	if k.last.Fault != nil || !bytes.Equal(k.last.Body, want.last.Body) {
		t.Errorf("fault %v, sent\n%s\nwant\n%s", k.last.Fault, k.last.Body, want.last.Body)
	}
	cp := decant.CheckpointIn(k.state().Decisions)
	if cp == nil || cp.Rung != decant.RungExtractive {
		t.Fatalf("checkpoint %+v", cp)
	}
	notes := strings.Join(k.last.Report.Plan.Notes, "\n")
	if !strings.Contains(notes, why) || strings.Contains(notes, "aaaaaaaa") {
		t.Errorf("notes %q, want %q", notes, why)
	}
	if cp.CostUSD != 0.01 {
		t.Errorf("$%g were spent", cp.CostUSD)
	}
}
