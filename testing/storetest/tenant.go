package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

var tenantTests = []test{
	{"SeeNothingOfEachOther", tenantIsolation},
	{"MayUseTheSameIDs", func(b *bench) {
		l := b.line("alice", "s")
		l.must(l.say("from alice"))
		k := b.line("bob", "s")
		k.ID = l.ID
		k.must(k.say("from bob", "more"))
		b.equal("alice's", l.load(store.Newest).Chain, l.chain)
		b.equal("bob's", k.load(store.Newest).Chain, k.chain)
	}},
	{"BlobsAreSharedWithinATenantOnly", func(b *bench) {
		l, k := b.line("alice", "s"), b.line("bob", "s")
		l.must(l.say("same text"))
		batch := k.say("same text")
		batch.Blobs = nil
		if _, err := b.Commit(b.ctx, batch); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("bob refers to a blob of alice's: got %v, want ErrNotFound", err)
		}
		k.must(k.say("same text"))
		b.gc(store.Policy{AllTenants: true, Now: epoch.Add(2 * month), MaxAge: month})
		b.gone(l)
		b.gone(k)
	}},
	{"AreListed", func(b *bench) {
		l, k := b.line("bob", "s"), b.line("alice", "s")
		l.must(l.say("a"))
		k.must(k.say("b"))
		b.spend(k, store.Spend{ID: "1", Time: epoch, Cost: 7})
		b.gc(store.Policy{Tenant: "alice", Now: epoch.Add(2 * month), MaxAge: month})
		got, err := b.Tenants(b.ctx)
		if err != nil {
			b.Fatal(err)
		}
		b.equal("by name, those of whom only spends are left included", got, []string{"alice", "bob"})
	}},
	{"CollectTheirOwnOnly", collectOwn},
	{"NothingOfOneReachesAnother", tenantsApart},
}

// collectOwn guards that garbage of one tenant is the garbage of that tenant: neither its age nor its size
// nor its number makes anything of another go.
func collectOwn(b *bench) {
	need[store.Collector](b)
	for _, c := range []struct {
		name   string
		policy store.Policy
	}{
		{"ByAge", store.Policy{MaxAge: 1}},
		{"BySize", store.Policy{Size: 1}},
		{"ByLines", store.Policy{Lines: 1, MaxAge: 0}},
		{"Spends", store.Policy{Spends: 1}},
		{"Dry", store.Policy{MaxAge: 1, Size: 1, Spends: 1, DryRun: true}},
	} {
		tenants := []string{c.name + " alice", c.name + " bob", ""}
		for _, t := range tenants {
			for range 2 {
				l := b.line(t, c.name)
				batch := l.say(b.id("text"))
				batch.Events.Spends = []store.Spend{{ID: b.id("spend"), Time: epoch, Cost: 7}}
				l.must(batch)
			}
		}
		before := [...]string{b.everything(tenants[1]), b.everything(tenants[2])}
		p := c.policy
		p.Tenant, p.Now = tenants[0], epoch.Add(2*month)
		done := b.gc(p)
		for _, k := range done.Conversations {
			if k.Tenant != tenants[0] {
				b.Errorf("%s: a collection for %s removes %v", c.name, tenants[0], k)
			}
		}
		if len(done.Conversations)+done.Spends == 0 {
			b.Errorf("%s: nothing was collected", c.name)
		}
		if after := [...]string{b.everything(tenants[1]), b.everything(tenants[2])}; after != before {
			b.Errorf("%s: others have lost something:\n%s\n%s", c.name, before, after)
		}
	}
	b.sound()
}

// tenantsApart lets tenants do whatever a store can do, with the same ids, the same texts and the same
// sessions. Whatever one of them does, the others have and see what they had and saw.
func tenantsApart(b *bench) {
	need[store.Collector](b)
	need[store.Searcher](b)
	need[store.Memories](b)
	runs := 0
	rapid.Check(b.T, func(t *rapid.T) {
		runs++
		names := []string{fmt.Sprintf("alice %d", runs), fmt.Sprintf("bob %d", runs)}
		lines := map[string]*line{}
		for _, name := range names {
			l := b.line(name, "s")
			l.ID = "conv"
			lines[name] = l
			l.must(l.say("secret of "+name, "what all of them say"))
		}
		has := map[string]string{}
		for _, name := range names {
			has[name] = b.everything(name)
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			who := rapid.SampledFrom(names).Draw(t, "who")
			did := b.anything(t, lines[who])
			for _, name := range names {
				now := b.everything(name)
				if name != who && now != has[name] {
					t.Fatalf("%s by %s has changed what %s has:\n%s\n%s", did, who, name, has[name], now)
				}
				if has[name] = now; strings.Contains(strings.ReplaceAll(now, "secret of "+name, ""), "secret of ") {
					t.Fatalf("%s sees what is not its own:\n%s", name, now)
				}
			}
		}
	})
	b.sound()
}

// anything lets the owner of a line do one thing, and says what it was.
func (b *bench) anything(t *rapid.T, l *line) string {
	if _, err := b.Version(b.ctx, l.Key); err != nil { // it was collected: another begins, and ids are not used twice
		l.version, l.chain = 0, nil
		l.ID += " and on"
	}
	what := rapid.SampledFrom([]string{"commit", "decide", "fork", "record", "spend", "remember", "collect", "collect spends", "search"}).Draw(t, "what")
	switch {
	case what == "commit" || l.version == 0:
		l.must(l.say("secret of "+l.Tenant, b.id("text")))
	case what == "decide":
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.shrink(1, "short")}
		l.must(batch)
	case what == "fork":
		f := b.line(l.Tenant, l.session)
		batch := f.batch(0, f.blocks(1, b.id("text"))...)
		batch.Create.Origin = &store.Origin{Parent: l.ID, Version: l.version, Position: 1, InForce: l.version}
		f.chain = l.chain[:1]
		batch.Entries = nil
		f.must(batch)
	case what == "record":
		b.record(l, store.Request{ID: "request", Time: epoch, Length: 1, Version: 1})
	case what == "spend":
		b.spend(l, store.Spend{ID: "spend", Time: epoch, Model: "m", Cost: 5})
	case what == "remember":
		at := memory.Scope{Level: memory.User}
		it := b.item(fmt.Sprint("m:", rapid.IntRange(1, 3).Draw(t, "item")), at, "secret of "+l.Tenant, "")
		it.Source.Conversation = l.ID
		b.revise(l.Tenant, at, memory.Save(it))
	case what == "collect":
		b.gc(store.Policy{Tenant: l.Tenant, Now: epoch.Add(12 * month), MaxAge: month})
	case what == "collect spends":
		b.gc(store.Policy{Tenant: l.Tenant, Now: epoch.Add(12 * month), Spends: month})
	case what == "search":
		b.search(store.Query{Tenant: l.Tenant, Text: "secret"})
	}
	return what
}

// everything is all that a tenant can ask for.
func (b *bench) everything(tenant string) string {
	b.Helper()
	var out strings.Builder
	say := func(what string, v any, err error) {
		data, broken := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		fmt.Fprintf(&out, "%s: %s, %v\n", what, data, errors.Join(err, broken))
	}
	cs, err := b.Conversations(b.ctx, store.Filter{Tenant: tenant})
	say("conversations", cs, err)
	for _, c := range cs {
		for v := range c.Version {
			s, err := b.Load(b.ctx, c.Key, v+1)
			say("state", s, err)
		}
		s, err := b.Load(b.ctx, c.Key, store.Newest)
		if err != nil {
			b.Fatal(err)
		}
		for i := range s.Chain {
			texts, err := b.Blobs(b.ctx, tenant, s.Chain[i].Text)
			say("text", fmt.Sprintf("%q", texts), err)
		}
		for _, d := range s.Decisions {
			o, err := b.Resolve(b.ctx, store.Key{Tenant: tenant}, d.Handle)
			say("original", o, err)
		}
		rs, err := b.Requests(b.ctx, c.Key)
		say("requests", rs, err)
		standing, err := b.Standing(b.ctx, c.Key, 10)
		say("standing", standing, err)
		if n := len(s.Chain); n > 0 {
			branch, err := b.Branch(b.ctx, c.Key, s.Version, n, n)
			say("branch", branch, err)
			m, err := b.Match(b.ctx, tenant, s.Session, []decant.Hash{s.Chain[0].Chain})
			say("match", m, err)
			ks, err := b.Decided(b.ctx, tenant, s.Session, []decant.Hash{s.Chain[0].Text}, 10)
			say("decided", ks, err)
		}
	}
	ts, err := b.Spending(b.ctx, store.SpendQuery{Tenant: tenant})
	say("spending", ts, err)
	hits, err := b.Search(b.ctx, store.Query{Tenant: tenant, Text: "secret"})
	say("search", hits, err)
	items, err := b.Memories(b.ctx, store.MemoryQuery{Tenant: tenant, Archived: true})
	say("memories", items, err)
	return out.String()
}

func tenantIsolation(b *bench) {
	l := b.line("alice", "s")
	batch := l.say("secret of alice")
	f := &store.Fixed{Version: decant.HashText("v"), System: []byte("sys")}
	batch.Fixed = f
	batch.Events = store.Events{Requests: []store.Request{{ID: "r"}}, Spends: []store.Spend{{ID: "r", Cost: 1}}}
	l.must(batch)
	decided := l.batch(0)
	decided.Decisions = []decant.Decision{l.shrink(1, "x"), l.cover(1, 1, 1)}
	l.must(decided)
	bob := store.Key{Tenant: "bob", ID: l.ID}
	fork := b.line("bob", "s").say("x")
	fork.Create.Origin = &store.Origin{Parent: l.ID, Version: 1, Position: 1}

	_, load := b.Load(b.ctx, bob, store.Newest)
	_, version := b.Version(b.ctx, bob)
	_, fixed := b.Fixed(b.ctx, "bob", f.Version)
	_, blob := b.Blobs(b.ctx, "bob", l.chain[0].Text)
	_, block := b.Resolve(b.ctx, store.Key{Tenant: "bob"}, decided.Decisions[0].Handle)
	_, checkpoint := b.Resolve(b.ctx, bob, "c:1")
	_, forked := b.Commit(b.ctx, fork)
	for name, err := range map[string]error{
		"Load": load, "Version": version, "Fixed": fixed, "Blobs": blob, "Resolve d:": block, "Resolve c:": checkpoint, "fork": forked,
		"Record": b.Record(b.ctx, bob, &store.Events{}),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			b.Errorf("%s as another tenant: got %v, want ErrNotFound", name, err)
		}
	}

	match, _ := b.Match(b.ctx, "bob", "s", l.hashes(1))
	ds, _ := b.Decided(b.ctx, "bob", "s", []decant.Hash{l.chain[0].Text}, 10)
	requests, _ := b.Requests(b.ctx, bob)
	spending, _ := b.Spending(b.ctx, store.SpendQuery{Tenant: "bob"})
	hits, _ := b.Search(b.ctx, store.Query{Tenant: "bob", Text: "secret"})
	scanned, _ := b.Search(b.ctx, store.Query{Tenant: "bob", Text: "ecre"})
	list, _ := b.Conversations(b.ctx, store.Filter{Tenant: "bob"})
	if n := match.Known + len(ds) + len(requests) + len(spending) + len(hits) + len(scanned) + len(list); n != 0 {
		b.Errorf("another tenant sees %v %v %v %v %v %v %v", match, ds, requests, spending, hits, scanned, list)
	}
	need[store.Searcher](b)
	if own, _ := b.Search(b.ctx, store.Query{Tenant: "alice", Text: "ecre"}); len(own) != 1 {
		b.Errorf("alice's own search finds %v", own)
	}
}
