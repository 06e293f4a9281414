package storetest

import (
	"errors"

	"github.com/decantdev/decant"
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
		b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		b.gone(l)
		b.gone(k)
	}},
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
	ds, _ := b.Decided(b.ctx, "bob", "s", []decant.Hash{l.chain[0].Text})
	requests, _ := b.Requests(b.ctx, bob)
	spending, _ := b.Spending(b.ctx, store.SpendQuery{Tenant: "bob"})
	hits, _ := b.Search(b.ctx, store.Query{Tenant: "bob", Text: "secret"})
	scanned, _ := b.Search(b.ctx, store.Query{Tenant: "bob", Text: "ecre"})
	list, _ := b.Conversations(b.ctx, store.Filter{Tenant: "bob"})
	if n := match.Known + len(ds) + len(requests) + len(spending) + len(hits) + len(scanned) + len(list); n != 0 {
		b.Errorf("another tenant sees %v %v %v %v %v %v %v", match, ds, requests, spending, hits, scanned, list)
	}
	if own, _ := b.Search(b.ctx, store.Query{Tenant: "alice", Text: "ecre"}); len(own) != 1 {
		b.Errorf("alice's own search finds %v", own)
	}
}
