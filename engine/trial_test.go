package engine_test

import (
	"math"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// What observing says a conversation would have come to is what it comes to when the same requests are
// managed, pour for pour; and nothing of it is booked as saved.
func TestATrialComesToWhatManagingDoes(t *testing.T) {
	system := `"system":[` + longSystem + marker + `}],`
	run := func(mode engine.Mode, restart bool) (totals store.Total, pours int, requests []store.Request) {
		c := newCoder(t, system, marker)
		options := engine.Options{Window: 400_000, Now: c.now.Now, Mode: mode}
		c.start(options)
		for c.n < testkit.Depth(45, 90) {
			c.step()
			if p := c.last.Report.Planned; p != nil && p.Reason != "" || c.last.Report.Reason != "" {
				pours++
			}
			if restart && c.n%10 == 0 {
				c.start(options)
			}
		}
		key := c.state().Key
		ts, err := c.store.Spending(t.Context(), store.SpendQuery{})
		if err != nil || len(ts) != 1 {
			t.Fatalf("%d totals, %v", len(ts), err)
		}
		if requests, err = c.store.Requests(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		return ts[0], pours, requests
	}
	managed, pours, _ := run(engine.Manage, false)
	if pours < testkit.Depth(1, 3) || managed.Trials.Calls != 0 {
		t.Fatalf("%d pours, %+v observed", pours, managed.Trials)
	}
	for _, restart := range []bool{false, true} { // what was planned is in the store
		observed, planned, requests := run(engine.Observe, restart)
		x := &observed.Trials
		if observed.Net() != 0 || x.Calls != observed.Calls || x.Cost != observed.Cost || x.Sent != observed.Usage.Prompt() {
			t.Errorf("restart %t: observed %+v: want all of it observed and nothing saved", restart, observed)
		}
		if planned < pours-1 || planned > pours+1 {
			t.Errorf("restart %t: %d pours were planned, managing makes %d", restart, planned, pours)
		}
		if off(x.Prompt, managed.Usage.Prompt()) > 0.05 {
			t.Errorf("restart %t: %d tokens would have been sent; managed, %d are", restart, x.Prompt, managed.Usage.Prompt())
		}
		if off(int(x.Would), int(managed.Cost)) > 0.10 {
			t.Errorf("restart %t: it would have cost $%.4f; managed, it costs $%.4f (client's own $%.4f)", restart, x.Would.USD(), managed.Cost.USD(), observed.Cost.USD())
		}
		noted := 0
		for i := range requests {
			if p := requests[i].Planned; p == nil {
				t.Fatalf("request %d has no plan", i)
			} else if p.Reason != "" {
				noted++
			}
		}
		if noted != planned {
			t.Errorf("restart %t: %d pours are noted of %d", restart, noted, planned)
		}
	}
}

// off returns by which share of want got is another.
func off(got, want int) float64 { return math.Abs(float64(got-want)) / float64(max(1, want)) }

// A conversation that was managed and is only observed now is sent as the client has it. When it is managed
// again, what was decided before holds, and nothing that was only planned.
func TestPlansAreNoDecisions(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	n := k.pour()
	decisions, poured := len(k.state().Decisions), len(k.last.Body)
	k.start(engine.Options{Mode: engine.Observe})
	for range 3 {
		n++
		k.round(n, output("call_x", 7))
		if p := k.prepare(); string(p.Body) != string(k.body()) || p.Fault != nil {
			t.Fatalf("an observed request was changed, fault %v", p.Fault)
		}
		k.engine.Finish(k.last, engine.Response{Status: 200, Usage: decant.Usage{Input: len(k.last.Body) / 4, Output: 10}})
		k.engine.Close()
	}
	if got := len(k.state().Decisions); got != decisions {
		t.Errorf("%d decisions, observing has made %d", decisions, got-decisions)
	}
	k.start(engine.Options{})
	if p := k.prepare(); len(p.Body) > poured+30_000 || len(p.Body) == len(k.body()) {
		t.Errorf("managed again, %d bytes are sent of %d; after the pour it were %d", len(p.Body), len(k.body()), poured)
	}
}
