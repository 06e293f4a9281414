package engine_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// played sends requests of a client and returns what the provider has counted for all of them, and what was booked.
func played(t *testing.T, system, end string, adds engine.Adds, n int, before func(c *coder, i int)) (usage decant.Usage, booked []store.Spend) {
	t.Helper()
	c := newCoder(t, system, end)
	c.start(engine.Options{Window: 400_000, Now: c.now.Now, NoEarlyPours: true, Adds: adds, OnBooked: func(_ string, s []store.Spend) { booked = append(booked, s...) }})
	for i := range n {
		if before != nil {
			before(c, i)
		}
		c.step()
		usage = usage.Add(c.sandbox.Log.Last().Usage)
		if !adds.Markers && !bytes.Equal(c.last.Body, c.body()) {
			t.Fatalf("request %d left with other bytes", i+1)
		}
	}
	c.engine.Close()
	return usage, booked
}

// dollars returns what usage costs.
func dollars(t *testing.T, u decant.Usage) float64 {
	t.Helper()
	m, _ := catalog().Lookup("claude-sonnet-4-5")
	usd, _ := cost.Of(m, u, cost.Terms{At: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}).Total()
	return usd
}

// A client that marks nothing, or only its system prompt, reads from the provider's
// cache what it has sent before once markers are added. What is booked as the client's own request is what it would have paid
// without them, as far as the size of its system prompt can be told.
func TestAddedMarkersSaveMoney(t *testing.T) {
	for _, tt := range []struct{ name, system, end string }{
		{"MarksNothing", `"system":"` + longWords + `",`, ""},
		{"MarksTheSystemPrompt", `"system":[{"type":"text","text":"` + longWords + `"` + marker + `}],`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const n = 20
			without, _ := played(t, tt.system, tt.end, engine.Adds{}, n, nil)
			with, booked := played(t, tt.system, tt.end, engine.Adds{Markers: true}, n, nil)
			paid, plain := dollars(t, with), dollars(t, without)
			t.Logf("read %d without, %d with; $%.4f without, $%.4f with: %.3f", without.CacheRead, with.CacheRead, plain, paid, paid/plain)
			if with.CacheRead < with.Prompt()*8/10 || paid > 0.5*plain {
				t.Errorf("%d of %d tokens are read from the cache, for $%.4f in place of $%.4f", with.CacheRead, with.Prompt(), paid, plain)
			}
			bare := 0.0
			for _, s := range booked {
				bare += s.Bare.USD()
			}
			if bare < 0.95*plain || bare > 1.05*plain {
				t.Errorf("the client's own requests are booked at $%.4f, and cost $%.4f", bare, plain)
			}
		})
	}
}

// What cannot be read again is marked now and then only.
func TestMarkersThatBringNothingEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(c *coder, i int)
	}{
		{"BeginningChanges", func(c *coder, i int) { c.extra = fmt.Sprintf(`"system":"It is %d o'clock. %s",`, i, longWords) }},
		{"ComesBackLate", func(c *coder, _ int) { c.now.pass(10 * time.Minute) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := testkit.Depth(25, 40)
			system := `"system":"` + longWords + `",`
			without, _ := played(t, system, "", engine.Adds{}, n, tt.before)
			with, _ := played(t, system, "", engine.Adds{Markers: true}, n, tt.before)
			share := dollars(t, with) / dollars(t, without)
			t.Logf("%.4f of the cost without", share)
			if share > 1+2*cost.MarkingShare {
				t.Errorf("markers that bring nothing come to %.3f of the cost without", share)
			}
		})
	}
}

// A client that marks its own messages is left as it is.
func TestNoMarkersBesideTheClients(t *testing.T) {
	c := newCoder(t, `"system":"You work.",`, marker)
	c.start(engine.Options{Window: 400_000, Now: c.now.Now, NoEarlyPours: true, Adds: engine.Adds{Markers: true}})
	for range 5 {
		c.step()
		if !bytes.Equal(c.last.Body, c.body()) {
			t.Fatal("a request left with other bytes")
		}
	}
}
