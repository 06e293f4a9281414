package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// The failure ladder (docs/INTERNALS.md, "The way of a request"): committed decisions are replayed and no new ones made, else
// the client's own bytes go out, else the request cannot be sent.
func TestFailureLadder(t *testing.T) {
	down := errors.New("the disk is on fire")
	t.Run("CommittedDecisionsAreReplayed", func(t *testing.T) {
		k := newDialogue(t, engine.Options{})
		k.pour()
		sent := k.last.Body
		b := &broken{Store: k.store}
		k.store = b
		k.start(engine.Options{Logger: slog.New(slog.DiscardHandler)})
		if p := k.prepare(); !bytes.Equal(p.Body, sent) || p.Fault != nil {
			t.Fatalf("fault %v with a store that works", p.Fault)
		}
		b.version, b.match, b.commit = down, down, down
		if p := k.prepare(); !bytes.Equal(p.Body, sent) || !errors.Is(p.Fault, down) {
			t.Errorf("fault %v; sent %d bytes, want the %d of the committed view", p.Fault, len(p.Body), len(sent))
		}
		k.round(60, strings.Repeat("\x1b[32mok\x1b[0m\n", 200))
		p := k.prepare()
		if len(p.Report.Decisions) > 0 || !errors.Is(p.Fault, down) {
			t.Errorf("%d decisions were made that cannot be committed, fault %v", len(p.Report.Decisions), p.Fault)
		}
	})
	t.Run("WhatWasLostIsFoundAgainWithinTheRequest", func(t *testing.T) {
		k := newDialogue(t, engine.Options{NoEarlyPours: true})
		k.pour()
		for n := 50; n < 58; n++ {
			k.round(n, output(fmt.Sprintf("call_%d", n), 13))
		}
		b := &broken{Store: k.store, match: down, version: down}
		k.store = b
		k.start(engine.Options{Logger: slog.New(slog.DiscardHandler)})
		p := k.prepare()
		if !bytes.Equal(p.Body, k.body()) {
			t.Fatal("a fresh engine without a store knows of decisions")
		}
		status, answer := k.post(p)
		if status != http.StatusBadRequest {
			t.Fatalf("status %d: %s", status, answer)
		}
		b.match, b.version = nil, nil
		next, ok := k.engine.Recover(t.Context(), p, status, []byte(answer))
		if !ok {
			t.Fatal("not recovered")
		}
		if status, answer = k.post(next); status != http.StatusOK {
			t.Errorf("status %d: %s", status, answer)
		}
	})
	t.Run("UnknownConversationLeavesAsItCame", func(t *testing.T) {
		k := newDialogue(t, engine.Options{})
		k.store = &broken{Store: k.store, match: down, commit: down}
		k.start(engine.Options{Logger: slog.New(slog.DiscardHandler)})
		k.user("Hello.")
		if p := k.prepare(); !bytes.Equal(p.Body, k.body()) || !errors.Is(p.Fault, down) {
			t.Errorf("fault %v, body %s", p.Fault, p.Body)
		}
	})
	t.Run("PanicForwardsTheRequest", func(t *testing.T) {
		k := newDialogue(t, engine.Options{})
		k.store = &broken{Store: k.store, panics: true}
		k.start(engine.Options{Logger: slog.New(slog.DiscardHandler)})
		k.user("Hello.")
		if p := k.prepare(); !bytes.Equal(p.Body, k.body()) || p.Fault == nil {
			t.Errorf("fault %v, body %s", p.Fault, p.Body)
		}
	})
	t.Run("FailedCommitLeavesTheConversationAsItWas", func(t *testing.T) {
		k := newDialogue(t, engine.Options{})
		b := &broken{Store: k.store, commit: down}
		k.store = b
		k.start(engine.Options{Logger: slog.New(slog.DiscardHandler)})
		k.user("Do the work.")
		k.round(1, strings.Repeat("\x1b[32mok\x1b[0m\n", 2000))
		if p := k.prepare(); !bytes.Equal(p.Body, k.body()) || !errors.Is(p.Fault, down) {
			t.Errorf("fault %v; %d bytes of %d", p.Fault, len(p.Body), len(k.body()))
		}
		b.commit = nil
		if p := k.prepare(); len(p.Report.Decisions) != 1 || p.Fault != nil {
			t.Errorf("once the store works again: %d decisions, fault %v", len(p.Report.Decisions), p.Fault)
		}
	})
}

// A refusal for size is answered inside the same request, whatever the catalogue says of the window.
func TestOverflowIsRecovered(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-sonnet-5-5"} {
		t.Run(model, func(t *testing.T) {
			k := newDialogue(t, engine.Options{Window: 1_000_000, NoEarlyPours: true}) // the sandbox has 40,000
			k.model = model
			if model == "claude-sonnet-5-5" {
				k.extra = `"thinking":{"type":"adaptive"},`
			}
			k.user("Do the work.")
			for n := 1; n < 40; n++ {
				k.round(n, output(fmt.Sprintf("call_%d", n), 27))
				k.mustSend()
				if k.last.Report.Reason == policy.Overflow {
					return
				}
			}
			t.Error("40 rounds and no overflow")
		})
	}
}

// A pour that another program has lost (its database is gone) breaks thinking that is bound to it: the
// provider refuses, and the request goes out in a legal form.
func TestRefusalIsRecovered(t *testing.T) {
	for _, c := range []struct {
		name string
		open bool
	}{{"TurnBoundary", false}, {"OpenRound", true}} {
		t.Run(c.name, func(t *testing.T) {
			k := newDialogue(t, engine.Options{})
			k.model, k.extra = "claude-sonnet-5-5", `"thinking":{"type":"adaptive"},`
			k.sandbox = newSandbox(sandbox.Options{Window: dialogueWindow, Model: &actor{}})
			k.user("Do the work.")
			poured := false
			for n := range 80 {
				status, answer := k.send()
				if status != http.StatusOK {
					t.Fatalf("status %d: %s", status, answer)
				}
				poured = poured || k.last.Report.Reason != ""
				open := strings.Contains(answer, `"tool_use"`)
				k.accept(answer, n)
				if poured && k.last.Report.Reason == "" && open == c.open && strings.Contains(string(k.last.Body), `"signature"`) {
					break
				}
			}
			fresh := newDialogue(t, engine.Options{Window: 200_000})
			fresh.model, fresh.extra, fresh.ms = k.model, k.extra, k.ms
			fresh.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
			fresh.mustSend()
			if r := fresh.last.Report.Reason; r != policy.Refusal {
				t.Errorf("reason %q, want the recovery from a refusal", r)
			}
			if n := len(fresh.sandbox.Log.Refused()); n != 1 {
				t.Errorf("%d requests were refused, want one", n)
			}
			fresh.round(99, "done")
			fresh.mustSend()
			if n := len(fresh.sandbox.Log.Refused()); n != 1 {
				t.Errorf("%d requests were refused after the recovery was recorded, want still one", n)
			}
		})
	}
}

func TestObserveChangesNothing(t *testing.T) {
	k := newDialogue(t, engine.Options{Mode: engine.Observe})
	k.sandbox = newSandbox(sandbox.Options{Window: 1_000_000, Model: &actor{}})
	k.user("Do the work.")
	planned := false
	for n := 1; n < 20; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 27))
		k.mustSend()
		planned = planned || k.last.Report.Planned.Reason != ""
		if k.last.Report.Reason != "" || len(k.last.Report.Decisions) > 0 || k.last.Report.LeftOut != 0 {
			t.Fatalf("it is reported as done: %+v", k.last.Report)
		}
		if !bytes.Equal(k.last.Body, k.body()) {
			t.Fatal("the request was changed")
		}
		if k.last.Fault != nil {
			t.Fatal(k.last.Fault)
		}
	}
	if s := k.state(); !planned || len(s.Decisions) > 0 || s.Chain[len(s.Chain)-1].CallID != "call_19" {
		t.Errorf("planned %t, %d decisions, last entry %+v; want a plan, no decisions, everything recorded", planned, len(s.Decisions), s.Chain[len(s.Chain)-1])
	}
}

func TestUndoAndRelease(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-sonnet-5-5"} {
		t.Run(model, func(t *testing.T) {
			k := newDialogue(t, engine.Options{})
			k.model, k.extra = model, `"cache_control":{"type":"ephemeral"},`
			if model == "claude-sonnet-5-5" {
				k.extra += `"thinking":{"type":"adaptive"},`
			}
			n := k.pour()
			before := len(k.last.Body)
			k.says("Done.")
			k.user("Thank you. And now?")
			k.mustSend()
			key := store.Key{ID: k.last.Conversation}
			k.engine.Close()
			undo, err := k.engine.Undo(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if undo.Plan.After.Messages <= undo.Plan.Before.Messages || undo.Plan.Price.CacheLost == 0 {
				t.Errorf("the undo has the price %+v, sizes %+v and %+v", undo.Plan.Price, undo.Plan.Before, undo.Plan.After)
			}
			if err := k.engine.Apply(t.Context(), undo); err != nil {
				t.Fatal(err)
			}
			if err := k.engine.Apply(t.Context(), undo); !errors.Is(err, decant.ErrStale) {
				t.Errorf("applied twice: %v, want ErrStale", err)
			}
			if p := k.prepare(); len(p.Body) <= before || p.Report.Reason != "" || !bytes.Contains(p.Body, []byte(fmt.Sprintf("call_%d line 3:", n-2))) {
				t.Errorf("after the undo %d bytes (%s), before it %d", len(p.Body), p.Report.Reason, before)
			}
			release, err := k.engine.Release(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if err := k.engine.Apply(t.Context(), release); err != nil {
				t.Fatal(err)
			}
			k.says("More.")
			k.user("Go on.")
			if p := k.prepare(); p.Report.Reason != policy.Necessary {
				t.Errorf("after the release: reason %q, want a pour", p.Report.Reason)
			}
		})
	}
}

func TestPinsStay(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Do the work.")
	k.round(1, "the launch code is 4711-ALPHA\n"+output("call_1", 7))
	k.mustSend()
	k.engine.Close()
	pin, err := k.engine.Pin(t.Context(), store.Key{ID: k.last.Conversation}, []decant.Ref{{Message: 3}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.engine.Apply(t.Context(), pin); err != nil {
		t.Fatal(err)
	}
	pours := 0
	for n := 2; pours < 3 && n < 90; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
		k.mustSend()
		if k.last.Report.Reason != "" {
			pours++
		}
		if !bytes.Contains(k.last.Body, []byte("the launch code is 4711-ALPHA")) || !bytes.Contains(k.last.Body, []byte("call_1 line 10:")) {
			t.Fatalf("after %d rounds and %d pours the pinned result is gone", n, pours)
		}
	}
}

// Where configuration permits it, the provider drops thinking that a pour has cut from its history, in
// that request and in all that follow.
func TestDropBlock(t *testing.T) {
	k := newDialogue(t, engine.Options{Adds: engine.Adds{DropBlock: true}, NoEarlyPours: true})
	k.sandbox = newSandbox(sandbox.Options{Window: dialogueWindow, Model: &sandbox.Rules{Calls: 1000}})
	k.model, k.extra, k.tools = "claude-sonnet-5-5", `"thinking":{"type":"adaptive"},`, bashTool+","+memoryTool
	k.user("Do the work.")
	after := 0
	for n := range testkit.Depth(25, 60) {
		status, answer := k.send()
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, answer)
		}
		if r := k.last.Report; r.Reason != "" && !strings.Contains(r.Route, "dropped by the provider") {
			t.Fatalf("poured by %s", r.Route)
		} else if r.Reason != "" || after > 0 {
			after++
		}
		k.accept(answer, n)
	}
	if n := len(k.sandbox.Log.Refused()); after < 10 || n > 0 {
		t.Errorf("%d requests since the first pour, %d refused", after, n)
	}
}

// Images have a budget of their own: bytes. They go before the window is full, and the newest stay.
func TestBytesAreABudget(t *testing.T) {
	const most = 300 << 10
	k := newDialogue(t, engine.Options{MaxBytes: most, Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Look at the screen.")
	pours := 0
	for n := 1; n <= 30; n++ {
		k.round(n, "a screenshot")
		last := &k.ms[len(k.ms)-1]
		picture := fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}},{"type":"text"`, strings.Repeat("iVBORw0KGgoA", 2500))
		*last = strings.Replace(*last, `{"type":"text"`, picture, 1)
		k.mustSend()
		if len(k.last.Body) > most {
			t.Fatalf("%d bytes were sent", len(k.last.Body))
		}
		if !bytes.Contains(k.last.Body, []byte(`"image"`)) {
			t.Fatal("the newest picture is gone")
		}
		if k.last.Report.Reason != "" {
			pours++
		}
	}
	if pours < 2 || pours > 15 {
		t.Errorf("%d pours in 30 requests of 30 KB each", pours)
	}
}
