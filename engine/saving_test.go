package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

func lookup(id string) token.Model {
	m, _ := catalog().Lookup(id)
	return m
}

// history is a conversation that somebody made up: entries of some tokens each, decisions about them
// at some times, and what was booked for its requests.
func history(rt *rapid.T) (*store.State, []archive.Sent, store.Money) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	n := rapid.IntRange(2, 60).Draw(rt, "entries")
	s := &store.State{}
	for i := range n {
		e := store.Entry{Position: i + 1, Kind: decant.KindResult, Ref: decant.Ref{Message: i + 1}, Tokens: rapid.IntRange(0, 5000).Draw(rt, "tokens"), Text: decant.HashText(fmt.Sprint(i))}
		s.Chain = append(s.Chain, e)
	}
	requests := rapid.IntRange(1, 30).Draw(rt, "requests")
	at := func(label string) time.Time {
		return noon.Add(time.Duration(rapid.IntRange(0, requests*10).Draw(rt, label)) * time.Second)
	}
	for i := range rapid.IntRange(0, 20).Draw(rt, "decisions") {
		pour := fmt.Sprint("pour-", i/4)
		if rapid.Bool().Draw(rt, "at first sight") {
			pour = ""
		}
		e := &s.Chain[rapid.IntRange(0, n-1).Draw(rt, "target")]
		before := rapid.IntRange(0, 5000).Draw(rt, "before")
		d := decant.Decision{ID: strconv.Itoa(i), Pour: pour, Kind: decant.Stub, Created: at("made"), Before: before, After: rapid.IntRange(0, before).Draw(rt, "after")}
		d.Target = decant.Target{Ref: e.Ref, Hash: e.Text}
		if rapid.IntRange(0, 5).Draw(rt, "cover") == 0 {
			d.Kind, d.Target = decant.Cover, decant.Target{}
			d.Checkpoint = &decant.Checkpoint{Number: i, From: 1, To: e.Message, Messages: e.Message, Original: d.Before, Compressed: d.After}
		}
		s.Decisions = append(s.Decisions, d)
		if rapid.IntRange(0, 5).Draw(rt, "undo") == 0 {
			s.Decisions = append(s.Decisions, decant.Decision{ID: d.ID + "r", Kind: decant.Revoke, Revokes: d.ID, Created: d.Created.Add(time.Minute)})
		}
	}
	var sent []archive.Sent
	var net store.Money
	for i := range requests {
		x := archive.Sent{Request: store.Request{Time: noon.Add(time.Duration(i*10) * time.Second), Length: min(n, 1+i*n/requests), Model: rapid.SampledFrom([]string{"claude-sonnet-4-5", "claude-opus-4-5", "nobody"}).Draw(rt, "model")}}
		b := &x.Booked
		b.Usage = usageOf(rt, "usage")
		b.Without = usageOf(rt, "without")
		b.Cost, b.Bare = store.Money(rapid.IntRange(0, 1e9).Draw(rt, "cost")), store.Money(rapid.IntRange(0, 1e9).Draw(rt, "bare"))
		b.Rewrite = store.Money(rapid.IntRange(0, int(b.Cost)).Draw(rt, "rewrite"))
		net += b.Net()
		sent = append(sent, x)
	}
	return s, sent, net
}

func usageOf(rt *rapid.T, label string) decant.Usage {
	n := rapid.IntRange(0, 200_000)
	return decant.Usage{Input: n.Draw(rt, label+" input"), CacheRead: n.Draw(rt, label+" read"), CacheWrite: n.Draw(rt, label+" write")}
}

func TestSavingsAddUpExactly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, sent, net := history(rt)
		got := archive.SavingsOf(s, sent, net, lookup)
		pours := map[string]store.Money{}
		var parts, costs, most store.Money
		for i := range got.Decisions {
			d := &got.Decisions[i]
			parts, costs = parts+d.Net(), costs+d.Cost
			if d.Saved < 0 || d.Cost < 0 || d.Tokens < 0 {
				rt.Errorf("decision %s: %+v", d.Decision.ID, d)
			}
			if d.Pour != "" {
				pours[d.Pour] += d.Net()
			}
		}
		if parts+got.Other != got.Net || got.Net != net {
			rt.Errorf("the decisions come to %d and the rest to %d, together not %d", parts, got.Other, net)
		}
		for i := range got.Pours {
			if p := &got.Pours[i]; pours[p.Pour] != p.Net() {
				rt.Errorf("%s comes to %d, its decisions to %d", p.Pour, p.Net(), pours[p.Pour])
			}
			delete(pours, got.Pours[i].Pour)
		}
		if len(pours) > 0 {
			rt.Errorf("pours without a sum: %v", pours)
		}
		for i := range sent {
			b := &sent[i].Booked
			most += b.Rewrite + max(0, -b.Net())
		}
		if costs > most {
			rt.Errorf("the decisions are charged with %d of %d", costs, most)
		}
	})
}

// What the decisions have come to and what was booked cannot contradict each other: what was booked is
// theirs to the last billionth, save what was booked while none of them was in force.
func TestSavingsLeaveNothingUnexplained(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, sent, net := history(rt)
		s.Decisions = slices.DeleteFunc(s.Decisions, func(d decant.Decision) bool { return d.Kind == decant.Revoke })
		if len(s.Decisions) == 0 {
			return
		}
		for i := range s.Decisions {
			d := &s.Decisions[i]
			d.Before, d.Created = d.After+1+i, sent[0].Time // in force all the time, and of some use
		}
		for i := range sent {
			sent[i].Length = len(s.Chain)
		}
		if got := archive.SavingsOf(s, sent, net, lookup); got.Other != 0 {
			rt.Errorf("%d of %d are explained by no decision", got.Other, got.Net)
		}
	})
}

// What was written again behind the first change is the first one's, behind the second both's.
func TestARewriteIsSharedByTheChangesBeforeIt(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := &store.State{}
	for i := range 10 {
		s.Chain = append(s.Chain, store.Entry{Position: i + 1, Kind: decant.KindResult, Ref: decant.Ref{Message: i + 1}, Tokens: 1000, Text: decant.HashText(fmt.Sprint(i))})
	}
	for k, at := range []int{2, 7} { // 5,000 tokens from the first to the second, 4,000 from there on
		e := s.Chain[at-1]
		s.Decisions = append(s.Decisions, decant.Decision{ID: strconv.Itoa(k), Pour: "pour-1", Kind: decant.Stub, Created: noon.Add(time.Second), Before: 1000, After: 100,
			Target: decant.Target{Ref: e.Ref, Hash: e.Text}})
	}
	sent := []archive.Sent{
		{Request: store.Request{Time: noon, Length: 9, Model: "claude-sonnet-4-5"}},
		{Request: store.Request{Time: noon.Add(time.Minute), Length: 10, Model: "claude-sonnet-4-5"}, Booked: store.Total{
			Usage: decant.Usage{CacheRead: 1000, CacheWrite: 7200}, Without: decant.Usage{CacheRead: 9000, CacheWrite: 1000},
			Bare: 10_000_000, Cost: 18_460_000, Rewrite: 9_000_000,
		}},
	}
	got := archive.SavingsOf(s, sent, 0, lookup)
	if len(got.Decisions) != 2 || got.Decisions[0].Cost != 7_000_000 || got.Decisions[1].Cost != 2_000_000 {
		t.Errorf("charged %+v, want 5 + 4/2 and 4/2 millions", got.Decisions)
	}
	// 1,800 tokens less, half of them each, for which it cost 540,000 less before what was written again
	if d := got.Decisions; d[0].Saved != 270_000 || d[0].Tokens != 900 || d[0].Requests != 1 || d[0].Even() || d[0].Net() != 270_000-7_000_000 {
		t.Errorf("credited %+v", d[0])
	}
	if p := got.Pours; len(p) != 1 || p[0].Freed != 1800 || p[0].Rewritten != 6200 || p[0].Cost != 9_000_000 || p[0].Requests != 1 {
		t.Errorf("the pour comes to %+v", p)
	}
}

// A conversation with several pours against the strict stand-in: what is booked is what its decisions
// have saved, but for a few parts in a hundred.
func TestSavingsOfAConversation(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, marker)
	pours := 0
	for c.n < testkit.Depth(80, 120) {
		c.step()
		if c.last.Report.Reason != "" {
			pours++
		}
	}
	s := c.state()
	log := c.store.(store.Log)
	got, err := archive.ReadSavings(t.Context(), log, s, lookup)
	if err != nil {
		t.Fatal(err)
	}
	totals, err := log.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var cost, rewrite, net store.Money
	for i := range totals {
		net, rewrite = net+totals[i].Net(), rewrite+totals[i].Rewrite
	}
	even := 0
	for i := range got.Pours {
		cost += got.Pours[i].Cost
		if got.Pours[i].Net() >= 0 {
			even++
		}
	}
	if len(got.Pours) != pours || pours < 3 || cost != rewrite || got.Net != net {
		t.Errorf("%d pours of %d, charged %d of %d, net %d of %d", len(got.Pours), pours, cost, rewrite, got.Net, net)
	}
	if even < pours-1 {
		t.Errorf("%d of %d pours have broken even: %+v", even, pours, got.Pours)
	}
	if got.Other != 0 {
		t.Errorf("of $%.4f saved, $%.4f are no decision's", got.Net.USD(), got.Other.USD())
	}
}

// What a decision has saved while it was in force stays its own when it is taken back, and what nobody has
// been sent has neither saved nor cost anything.
func TestUndoneDecisionsKeepWhatTheySaved(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, marker)
	savings := func() archive.Savings {
		got, err := archive.ReadSavings(t.Context(), c.store.(store.Log), c.state(), lookup)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for c.n < testkit.Depth(60, 90) {
		c.step()
	}
	before := savings()
	key := store.Key{ID: c.last.Conversation}
	change := func(plan func(*engine.Engine, context.Context, store.Key) (*engine.Change, error)) {
		t.Helper()
		x, err := plan(c.engine, t.Context(), key)
		if err == nil {
			c.now.pass(time.Second)
			err = c.engine.Apply(t.Context(), x)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.now.pass(time.Second)
	change((*engine.Engine).Undo)
	c.step()
	c.step()
	after := savings()
	if len(before.Pours) < 2 || len(after.Pours) < len(before.Pours) {
		t.Fatalf("%d pours, after an undo %d", len(before.Pours), len(after.Pours))
	}
	last := len(before.Pours) - 1
	p := after.Pours[last]
	if p.Undone.IsZero() || p.Saved != before.Pours[last].Saved || p.Requests != before.Pours[last].Requests {
		t.Errorf("the undone pour comes to %+v, before it was undone to %+v", p, before.Pours[last])
	}
	if was := before.Pours[last-1]; !after.Pours[last-1].Undone.IsZero() || after.Pours[last-1].Requests < was.Requests+2 {
		t.Errorf("the pour before it comes to %+v, it was %+v", after.Pours[last-1], was)
	}
	sum := after.Other
	for i := range after.Decisions {
		sum += after.Decisions[i].Net()
	}
	if sum != after.Net {
		t.Errorf("the parts come to %d, all of it to %d", sum, after.Net)
	}

	change((*engine.Engine).Release)
	change((*engine.Engine).Preview)
	unsent := savings()
	if p := unsent.Pours[len(unsent.Pours)-1]; p.Requests != 0 || p.Even() || p.Saved != 0 || p.Cost != 0 {
		t.Errorf("a pour that nobody was sent comes to %+v, even: %t", p, p.Even())
	}
	if d := unsent.Decisions[len(unsent.Decisions)-1]; d.Sent != 0 || d.Even() {
		t.Errorf("a decision that nobody was sent comes to %+v, even: %t", d, d.Even())
	}
	c.step()
	sent := savings()
	if p := sent.Pours[len(unsent.Pours)-1]; p.Requests != 1 {
		t.Errorf("sent once, it has %d requests", p.Requests)
	}
}
