package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
)

// telling writes segments that say what a call was for, with exact strings of the messages.
func telling() *writer {
	return &writer{write: func(_ context.Context, in provider.SummaryInput) (provider.Summary, error) {
		text := "Never touch the vendor directory.\n"
		for i := range in.Messages {
			for k := range in.Messages[i].Blocks {
				if b := &in.Messages[i].Blocks[k]; b.Kind == decant.KindUse {
					text += fmt.Sprintf("The call %s was made and value_%d = compute(alpha) came of it.\n", b.CallID, i)
				}
			}
		}
		return provider.Summary{Text: text, Model: "a-small-model", CostUSD: 0.02, Notes: []string{"asked in a request of its own"}}, nil
	}}
}

// untilPoured goes on until there is a pour, and returns the next round.
func untilPoured(k *dialogue, n int) int {
	k.Helper()
	for ; k.last.Report.Reason == "" && n < 60; n++ {
		advance(k, n)
	}
	if k.last.Report.Reason == "" || k.last.Fault != nil {
		k.Fatalf("no pour, fault %v", k.last.Fault)
	}
	return n
}

// A segment that was written ahead is in the checkpoint of the pour, which asks nobody and waits for nobody; the plan says
// so. Behind it the view grows at its end only.
func TestAPourTakesWhatWasPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := telling()
		k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}})
		begun := time.Now()
		asked := int32(0)
		for ; k.last.Report.Reason == "" && n < 60; n++ {
			asked = w.calls.Load()
			k.round(n, output(fmt.Sprintf("call_%d", n), 20))
			k.prepare()
			if k.last.Report.Reason != "" && w.calls.Load() != asked {
				t.Error("the pour has asked")
			}
			finish(k)
		}
		cp := decant.CheckpointIn(k.last.Report.Plan.Decisions)
		if cp == nil || len(cp.Segments) == 0 || asked == 0 || time.Since(begun) > 0 {
			t.Fatalf("checkpoint %v, asked %d times, it took %v", cp, asked, time.Since(begun))
		}
		notes := k.last.Report.Plan.Notes
		if !slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, "by a-small-model before the pour was due") }) || !slices.Contains(notes, "asked in a request of its own") {
			t.Errorf("notes %q", notes)
		}
		was := k.last.Body
		k.prepare()
		if !bytes.Equal(k.last.Body, was) {
			t.Error("the same request is sent another view")
		}
	})
}

// A client that changes a message which a segment is about discards the segment: the pour has no line of it. A fork knows
// nothing of what was prepared for its parent.
func TestAChangedMessageDiscardsWhatWasPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := telling()
		k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: w}})
		advance(k, n)
		if w.calls.Load() == 0 {
			t.Fatal("nothing was prepared")
		}
		k.ms[2] = strings.Replace(k.ms[2], "line 1:", "line one:", 1)
		w.write = func(context.Context, provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{}, context.DeadlineExceeded
		}
		before := w.calls.Load()
		for n++; k.last.Report.Reason == "" && n < 60; n++ {
			k.round(n, output(fmt.Sprintf("call_%d", n), 20))
			k.prepare()
		}
		if cp := decant.CheckpointIn(k.last.Report.Plan.Decisions); cp == nil || len(cp.Segments) != 0 || w.calls.Load() == before {
			t.Errorf("checkpoint %+v, asked %d times before and %d then", cp, before, w.calls.Load())
		}
	})
}

// Another process on the store knows nothing of what was prepared, and what it pours is what this one sends.
func TestAnotherProcessPours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, n := nearing(t, engine.Options{Models: engine.Models{Summarizer: telling()}})
		advance(k, n)
		first := k.engine
		other, err := engine.New(k.store, engine.Options{Window: dialogueWindow, NoEarlyPours: true, ArchiveDelay: -1})
		if err != nil {
			t.Fatal(err)
		}
		k.engine = other
		untilPoured(k, n+1)
		want := k.last.Body
		k.engine = first
		k.prepare()
		if k.last.Report.Relation == "new" || !bytes.Equal(k.last.Body, want) {
			t.Errorf("%s: the processes do not send the same", k.last.Report.Relation)
		}
		other.Close()
	})
}

// An early pour that will pay for the next request is planned behind the answer before it. Without what was planned it is made
// all the same, and the same request is sent the same view.
func TestAnEarlyPourIsPlannedBeforeItPays(t *testing.T) {
	for _, prepared := range []bool{true, false} {
		t.Run(fmt.Sprint(prepared), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDialogue(t, engine.Options{Window: 200_000, ArchiveDelay: -1})
				k.extra = `"cache_control":{"type":"ephemeral"},`
				k.user("Do the work.")
				for n := 1; k.last == nil || k.last.Report.Reason == ""; n++ {
					if !prepared {
						k.start(engine.Options{Window: 200_000, ArchiveDelay: -1})
					}
					k.round(n, output(fmt.Sprintf("call_%d", n), 60))
					if k.prepare(); n == 60 {
						t.Fatal("60 rounds without a pour")
					}
					k.engine.Finish(k.last, engine.Response{Status: 200, Usage: decant.Usage{CacheRead: k.last.Report.After, Output: 50}, Content: []byte(`[{"type":"text","text":"noted"}]`)})
					synctest.Wait()
				}
				r := k.last.Report
				before := slices.ContainsFunc(r.Plan.Notes, func(s string) bool { return strings.Contains(s, "before it was due") })
				if r.Reason != policy.Paid || r.Route != "checkpoint early" || before != prepared {
					t.Errorf("poured because %s by %s, notes %q", r.Reason, r.Route, r.Plan.Notes)
				}
				was := k.last.Body
				if k.prepare(); !bytes.Equal(k.last.Body, was) {
					t.Error("the same request is sent another view")
				}
			})
		})
	}
}
