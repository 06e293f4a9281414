package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var recordTests = []test{
	{"RequestsNameTheVersionOfTheirDecisions", func(b *bench) {
		l := b.talk("s", "a", "b")
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.shrink(1, "x")}
		batch.Events.Requests = []store.Request{{ID: "r1", Time: epoch, Length: 2, Model: "m"}}
		l.must(batch)
		seen := l.load(store.Newest)
		l.must(l.batch(1, l.blocks(0, "something else")...))
		b.record(l, store.Request{ID: "r2", Time: epoch.Add(time.Minute), Length: 1})
		rs := b.requests(l)
		if len(rs) != 2 || rs[0].ID != "r1" || rs[0].Version != 2 || rs[1].Version != 3 {
			b.Fatalf("requests %+v, want r1 of version 2 and r2 of version 3", rs)
		}
		got := l.load(rs[0].Version)
		got.Updated = seen.Updated
		b.equal("the state that a request saw can be loaded again", got, seen)
	}},
	{"AnswerCompletesItsRequest", func(b *bench) {
		l := b.talk("s", "a")
		r := store.Request{ID: "r", Time: epoch, API: "messages", Model: "m", Length: 1, View: decant.HashText("view")}
		b.record(l, r)
		answer := []byte(`[{"type":"text","text":"hi"}]`)
		r.Status, r.Stop, r.Answer, r.Version = 200, "end_turn", decant.HashText(string(answer)), 1
		r.Usage = decant.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Write1h: 1, Output: 4}
		if err := b.Record(b.ctx, l.Key, &store.Events{Blobs: [][]byte{answer}, Requests: []store.Request{r}}); err != nil {
			b.Fatal(err)
		}
		b.equal("one request, as it was recorded last", b.requests(l), []store.Request{r})
		if v, _ := b.Version(b.ctx, l.Key); v != 1 {
			b.Errorf("Record made version %d: it must not make any", v)
		}
	}},
	{"TrialsAreKeptApart", func(b *bench) {
		l := b.talk("s", "a")
		plan := []byte("what would have been decided")
		want := store.Request{ID: "r", Time: epoch, Length: 1, Version: 1, Status: 200, Writes: []store.Write{{Cause: "expired", Detail: "idle for 6m", Tokens: 900, Hour: 900}}, Planned: &store.Planned{Reason: "necessary", Tokens: 30, Risk: 2, Decisions: decant.HashText(string(plan))}}
		if err := b.Record(b.ctx, l.Key, &store.Events{Blobs: [][]byte{plan}, Requests: []store.Request{want}}); err != nil {
			b.Fatal(err)
		}
		b.equal("what was planned for an observed request", b.requests(l), []store.Request{want})
		if got, err := b.Blobs(b.ctx, "", want.Planned.Decisions); err != nil || string(got[0]) != string(plan) {
			b.Errorf("the decisions that were planned: %q, %v", got, err)
		}
		u := decant.Usage{Input: 1, CacheRead: 10, CacheWrite: 100}
		b.spend(l, store.Spend{ID: "1", Time: epoch, Model: "m", Usage: u, Without: u, Cost: 9, Bare: 9, Trial: &store.Trial{Prompt: 50, Cost: 4}})
		b.spend(l, store.Spend{ID: "2", Time: epoch, Model: "m", Usage: u, Without: u, Cost: 7, Bare: 7})
		got := b.spending(store.SpendQuery{})
		if len(got) != 1 || got[0].Cost != 16 || got[0].Net() != 0 || got[0].Trials.Net() != 5 {
			b.Fatalf("spending %+v, want nothing saved, and 5 that would have been", got)
		}
		b.equal("the part that was observed only", got[0].Trials, store.Trials{Calls: 1, Sent: 111, Prompt: 50, Cost: 9, Would: 4})
		b.sound()
	}},
	{"BrokenAnswersStayBroken", func(b *bench) {
		l := b.talk("s", "a")
		b.record(l, store.Request{ID: "r", Time: epoch, Length: 1, Version: 1, Status: 200, Broken: true})
		if rs := b.requests(l); len(rs) != 1 || !rs[0].Broken || rs[0].Answered() {
			b.Errorf("requests %+v, want one whose answer broke off", rs)
		}
	}},
	{"StandingAreThoseWhoseEntriesAreStillThere", func(b *bench) {
		l := b.line("", "s")
		send := func(batch *store.Batch, id string, length int) {
			batch.Events.Requests = []store.Request{{ID: id, Time: epoch, Length: length}}
			l.must(batch)
		}
		send(l.say("a", "b", "c"), "1", 3)
		send(l.say("d"), "2", 4)
		send(l.batch(4, l.blocks(3, "d anew", "e")...), "3", 5)
		b.record(l, store.Request{ID: "4", Time: epoch, Version: 2, Length: 3})
		b.record(l, store.Request{ID: "5", Time: epoch, Version: 2, Length: 4})
		for _, c := range []struct {
			limit int
			want  []string
		}{{10, []string{"4", "3", "1"}}, {2, []string{"4", "3"}}} {
			rs, err := b.Standing(b.ctx, l.Key, c.limit)
			if err != nil {
				b.Fatal(err)
			}
			var ids []string
			for _, r := range rs {
				ids = append(ids, r.ID)
			}
			b.equal("newest first, without those whose entries were replaced", ids, c.want)
		}
	}},
	{"NewestAnchorStays", func(b *bench) {
		l := b.talk("s", "a")
		newer := &store.Anchor{Usage: decant.Usage{Input: 20}, Version: 1, Length: 1, Time: epoch.Add(time.Minute)}
		for _, a := range []*store.Anchor{{Usage: decant.Usage{Input: 10}, Time: epoch}, newer, {Usage: decant.Usage{Input: 15}, Time: epoch.Add(time.Second)}} {
			if err := b.Record(b.ctx, l.Key, &store.Events{Anchor: a}); err != nil {
				b.Fatal(err)
			}
		}
		b.equal("of usage reports the latest stays, in whatever order they arrive", l.load(store.Newest).Anchor, *newer)
	}},
	{"OfUnknownConversationIsNotFound", func(b *bench) {
		err := b.Record(b.ctx, store.Key{ID: "nobody"}, &store.Events{Requests: []store.Request{{ID: "r"}}})
		if !errors.Is(err, store.ErrNotFound) {
			b.Errorf("got %v, want ErrNotFound", err)
		}
	}},
	{"DanglingAnswerIsRefused", func(b *bench) {
		l := b.talk("s", "a")
		err := b.Record(b.ctx, l.Key, &store.Events{Requests: []store.Request{{ID: "r", Answer: decant.HashText("nowhere")}}})
		if !errors.Is(err, store.ErrNotFound) || len(b.requests(l)) != 0 {
			b.Errorf("got %v and %v, want ErrNotFound and no request", err, b.requests(l))
		}
	}},
	{"SpendingAddsUp", spendingAddsUp},
	{"SpentIsTheSumOfSpending", spentIsTheSum},
	{"WhatIsBookedAnewTakesTheOldPlace", bookedAnew},
	{"OversizedRequestsAreNoSaving", func(b *bench) {
		l := b.talk("s", "a")
		u, whole := decant.Usage{CacheRead: 10}, decant.Usage{CacheRead: 100, CacheWrite: 5}
		b.spend(l, store.Spend{ID: "1", Time: epoch, Model: "m", Usage: u, Without: whole, Cost: 3, Bare: 7})
		b.spend(l, store.Spend{ID: "2", Time: epoch, Model: "m", Usage: u, Without: whole, Cost: 4, Bare: 70, Over: true})
		ts := b.spending(store.SpendQuery{})
		want := store.Excess{Calls: 1, Sent: 10, Without: 105, Cost: 4, Bare: 70}
		if len(ts) != 1 || ts[0].Over != want || ts[0].Bare != 77 || ts[0].Net() != 4 {
			b.Errorf("got %+v, want %+v among 2 calls, and 4 saved", ts, want)
		}
	}},
	{"SpendsCountOnce", func(b *bench) {
		l := b.talk("s", "a")
		s := store.Spend{ID: "call", Time: epoch, Model: "m", Cost: 5, Bare: 9}
		for range 3 {
			b.spend(l, s)
		}
		totals := b.spending(store.SpendQuery{})
		if len(totals) != 1 || totals[0].Calls != 1 || totals[0].Cost != 5 || totals[0].Net() != 4 {
			b.Errorf("the same call recorded three times: %+v, want it counted once", totals)
		}
	}},
}

func spendingAddsUp(b *bench) {
	l, k := b.talk("s", "a"), b.talk("t", "b")
	day := epoch.Truncate(24 * time.Hour)
	u := decant.Usage{Input: 1, CacheRead: 10, CacheWrite: 100, Write1h: 50, Output: 1000}
	b.spend(l, store.Spend{ID: "1", Time: day, Model: "m", Usage: u, Without: u.Add(u), Cost: 3, Bare: 7, Rewrite: 1})
	b.spend(l, store.Spend{ID: "2", Time: day.Add(24*time.Hour - time.Microsecond), Model: "m", Usage: u, Without: u, Cost: 30, Bare: 70})
	b.spend(l, store.Spend{ID: "3", Time: day.Add(24 * time.Hour), Model: "m", Own: true, Purpose: store.ForCache, Usage: u, Cost: 300})
	b.spend(l, store.Spend{ID: "5", Time: day.Add(24 * time.Hour), Model: "m", Own: true, Purpose: "record", Cost: 20})
	b.spend(k, store.Spend{ID: "4", Time: day, Model: "k", Usage: u, Cost: 1 << 60})
	first := store.Total{Day: "2026-03-14", Model: "m", Calls: 2, Usage: u.Add(u), Without: u.Add(u).Add(u), Cost: 33, Bare: 77, Rewrite: 1}
	second := store.Total{Day: "2026-03-15", Model: "m", Own: 2, Usage: u, Cost: 320, OwnCost: 320, Warm: 1, WarmCost: 300}
	third := store.Total{Day: "2026-03-14", Model: "k", Calls: 1, Usage: u, Cost: 1 << 60}
	b.equal("all, by day and model", b.spending(store.SpendQuery{}), []store.Total{third, first, second})
	b.equal("one conversation", b.spending(store.SpendQuery{Conversation: l.ID}), []store.Total{first, second})
	b.equal("since is inclusive", b.spending(store.SpendQuery{Since: day.Add(24 * time.Hour)}), []store.Total{second})
	b.equal("until is exclusive", b.spending(store.SpendQuery{Conversation: l.ID, Until: day.Add(24 * time.Hour)}), []store.Total{first})
}

func spentIsTheSum(b *bench) {
	l, k := b.talk("s", "a"), b.talk("t", "b")
	day := epoch.Truncate(24 * time.Hour)
	at := func(days int) time.Time { return day.AddDate(0, 0, days) }
	u := decant.Usage{Input: 1, CacheRead: 10, CacheWrite: 100, Write1h: 50, Output: 1000}
	for i, s := range []struct {
		line *line
		day  int
		cost store.Money
	}{{l, 0, 3}, {l, 0, 30}, {l, 1, 300}, {k, 1, 3000}, {k, 31, 30000}} {
		spend := store.Spend{ID: fmt.Sprint(i), Time: at(s.day).Add(time.Hour), Model: "m", Own: i == 1, Usage: u, Cost: s.cost}
		b.spend(s.line, spend)
		b.spend(s.line, spend) // counts once
	}
	expect := func(what string, q store.SpendQuery, calls int, cost store.Money) {
		b.Helper()
		got, err := b.Spent(b.ctx, q)
		if want := (store.Sum{Tokens: calls * u.Context(), Cost: cost}); got != want || err != nil {
			b.Errorf("%s: spent %+v, %v; want %+v", what, got, err, want)
		}
	}
	expect("all", store.SpendQuery{}, 5, 33333)
	expect("since a day", store.SpendQuery{Since: at(1)}, 3, 33300)
	expect("whole days only", store.SpendQuery{Since: at(1).Add(2 * time.Hour)}, 3, 33300)
	expect("until a day", store.SpendQuery{Until: at(1)}, 2, 33)
	expect("between", store.SpendQuery{Since: at(1), Until: at(31)}, 2, 3300)
	expect("another tenant", store.SpendQuery{Tenant: "other"}, 0, 0)
	expect("a conversation", store.SpendQuery{Conversation: l.ID}, 3, 333)
	expect("none", store.SpendQuery{Conversation: "none"}, 0, 0)
	b.gc(store.Policy{Now: at(33), Spends: 32*24*time.Hour - 2*time.Hour})
	expect("what is booked no longer", store.SpendQuery{}, 1, 30000)
	expect("nor there", store.SpendQuery{Conversation: l.ID}, 0, 0)
	b.sound()
}

func bookedAnew(b *bench) {
	k := store.Key{ID: "batch"} // no conversation
	u := decant.Usage{Input: 1, CacheRead: 10, CacheWrite: 100, Write1h: 50, Output: 1000}
	book := func(days int, tokens int, cost store.Money) {
		b.Helper()
		s := store.Spend{ID: "1", Time: epoch.AddDate(0, 0, days), Model: "m", Usage: u, Cost: cost, Bare: cost}
		s.Usage.Output = tokens
		if err := b.Book(b.ctx, k, []store.Spend{s}); err != nil {
			b.Fatal(err)
		}
	}
	book(0, 1000, 50)
	book(3, 20, 7)
	book(4, 20, 7)
	u.Output = 20
	b.equal("one row, at its first time", b.spending(store.SpendQuery{Conversation: k.ID}),
		[]store.Total{{Day: "2026-03-14", Model: "m", Calls: 1, Usage: u, Cost: 7, Bare: 7}})
	got, err := b.Spent(b.ctx, store.SpendQuery{})
	if want := (store.Sum{Tokens: u.Context(), Cost: 7}); got != want || err != nil {
		b.Errorf("spent %+v, %v; want %+v", got, err, want)
	}
	if err := b.Book(b.ctx, store.Key{Tenant: "other", ID: k.ID}, []store.Spend{{ID: "1", Time: epoch, Model: "m", Cost: 1}}); err != nil {
		b.Fatal(err)
	}
	b.equal("another tenant's is another", b.spending(store.SpendQuery{Conversation: k.ID})[0].Cost, store.Money(7))
	b.sound()
}

func (b *bench) record(l *line, r store.Request) {
	b.Helper()
	if err := b.Record(b.ctx, l.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		b.Fatalf("record request: %v", err)
	}
}

func (b *bench) spend(l *line, s store.Spend) {
	b.Helper()
	if err := b.Record(b.ctx, l.Key, &store.Events{Spends: []store.Spend{s}}); err != nil {
		b.Fatalf("record spend: %v", err)
	}
}

func (b *bench) requests(l *line) []store.Request {
	b.Helper()
	rs, err := b.Requests(b.ctx, l.Key)
	if err != nil {
		b.Fatalf("requests: %v", err)
	}
	return rs
}

func (b *bench) spending(q store.SpendQuery) []store.Total {
	b.Helper()
	ts, err := b.Spending(b.ctx, q)
	if err != nil {
		b.Fatalf("spending: %v", err)
	}
	return ts
}
