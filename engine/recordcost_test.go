package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// recordsCost returns what the checkpoints of a conversation say that they have cost, those taken back included.
func recordsCost(k *dialogue) (usd float64, records int) {
	for _, d := range k.state().Decisions {
		if d.Checkpoint != nil {
			usd, records = usd+d.Checkpoint.CostUSD, records+1
		}
	}
	return usd, records
}

// What models are paid for records is the cost of the records, whether they were asked ahead of the pour or in it, and
// whether anything came of it. Nothing is in the cost of two, also after an undo.
func TestWhatARecordCostIsBookedToIt(t *testing.T) {
	for name, fails := range map[string]func(call int32) bool{
		"Never": func(int32) bool { return false }, "First": func(n int32) bool { return n == 1 },
		"Often": func(n int32) bool { return n%3 != 0 }, "Always": func(int32) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tells, booked := telling(), store.Money(0)
				w := &writer{}
				w.write = func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
					if fails(w.calls.Load()) {
						return provider.Summary{CostUSD: 0.01}, errors.New("overloaded")
					}
					return tells.write(ctx, in)
				}
				k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}, OnBooked: func(_ string, spends []store.Spend) {
					for _, s := range spends {
						if s.Own {
							booked += s.Cost
						}
					}
				}})
				due := func() { // the sums agree as soon as a pour has settled what was spent before
					for ; k.last.Report.Reason == "" && n < 90; n++ {
						k.round(n, output(fmt.Sprintf("call_%d", n), 20))
						k.prepare()
						if k.last.Report.Reason == "" {
							finish(k)
						}
					}
					synctest.Wait()
					if got, records := recordsCost(k); records == 0 || math.Abs(got-booked.USD()) > 1e-9 || got == 0 {
						t.Errorf("%d records cost $%g, $%g were booked", records, got, booked.USD())
					}
				}
				due()
				finish(k)
				key := store.Key{ID: k.last.Conversation}
				for _, change := range []func(context.Context, store.Key) (*engine.Change, error){k.engine.Undo, k.engine.Release} {
					c, err := change(t.Context(), key)
					if err == nil {
						err = k.engine.Apply(t.Context(), c)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				for range 2 { // the second on top of a checkpoint that is in force
					advance(k, n)
					n++
					due()
					finish(k)
				}
			})
		})
	}
}

// A segment that was written in a pour is kept for later records.
func TestASegmentWrittenInAPourIsKept(t *testing.T) {
	k := poured(t, engine.Options{}, telling())
	cp := decant.CheckpointIn(k.state().Decisions)
	if cp == nil || len(cp.Segments) != 1 || cp.Segments[0].Model != "a-small-model" || cp.Segments[0].CostUSD != 0.02 || cp.CostUSD != 0.02 {
		t.Errorf("%+v", cp)
	}
}
