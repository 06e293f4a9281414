package storetest

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var listTests = []test{
	{"LastChangedFirst", func(b *bench) {
		first, second := b.talk("s", "a"), b.talk("t", "b")
		first.time = epoch.Add(time.Hour)
		first.must(first.say("c"))
		b.equal("ids", b.list(store.Filter{}), []string{first.ID, second.ID})
		b.equal("limited", b.list(store.Filter{Limit: 1}), []string{first.ID})
		b.equal("since", b.list(store.Filter{Since: epoch.Add(time.Minute)}), []string{first.ID})
	}},
	{"BySessionAndName", func(b *bench) {
		one, two := b.talk("s", "a"), b.talk("s%", "b")
		b.equal("session", b.list(store.Filter{Session: "s"}), []string{one.ID})
		b.equal("name that is a session", b.list(store.Filter{Name: "s%"}), []string{two.ID})
		b.equal("name that begins an id", b.list(store.Filter{Name: one.ID[:len(one.ID)-1]}), []string{two.ID, one.ID})
		b.equal("name that is an id", b.list(store.Filter{Name: one.ID}), []string{one.ID})
		b.equal("wildcards are letters", b.list(store.Filter{Name: "%"}), []string(nil))
	}},
	{"ByAnswer", func(b *bench) {
		one, two := b.talk("s", "a"), b.talk("s", "b")
		for _, r := range []store.Request{{ID: "r", AnswerID: "resp_1"}, {ID: "r", AnswerID: "resp_2"}, {ID: "r2"}} {
			if err := b.Record(b.ctx, one.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
				b.Fatal(err)
			}
		}
		if err := b.Record(b.ctx, two.Key, &store.Events{Requests: []store.Request{{ID: "r", AnswerID: "resp_1"}}}); err != nil {
			b.Fatal(err)
		}
		b.equal("an id that one request had first", b.list(store.Filter{AnswerID: "resp_1"}), []string{two.ID})
		b.equal("its newest id", b.list(store.Filter{AnswerID: "resp_2"}), []string{one.ID})
		b.equal("the beginning of an id", b.list(store.Filter{AnswerID: "resp_"}), []string(nil))
		b.equal("another tenant's", b.list(store.Filter{Tenant: "bob", AnswerID: "resp_2"}), []string(nil))
		rs, err := b.Requests(b.ctx, one.Key)
		if err != nil || len(rs) != 2 || rs[0].AnswerID+rs[1].AnswerID != "resp_2" {
			b.Errorf("requests %+v, %v", rs, err)
		}
	}},
	{"Summary", func(b *bench) {
		l := b.talk("s", "hello", "hi", "more")
		batch := l.batch(3)
		batch.Decisions = []decant.Decision{l.shrink(1, "h"), l.cover(1, 1, 1)}
		batch.Head = &store.Head{Model: "m", Pinned: true}
		batch.Events = store.Events{
			Requests: []store.Request{{ID: "r", Time: epoch}},
			Spends:   []store.Spend{{ID: "r", Time: epoch, Model: "m", Cost: 5, Bare: 8}},
		}
		l.must(batch)
		got, err := b.Conversations(b.ctx, store.Filter{})
		if err != nil {
			b.Fatal(err)
		}
		b.equal("summary", got, []store.Summary{{
			Conversation: l.load(store.Newest).Conversation, Model: "m", Messages: 2, Tokens: len("hello") + len("hi"),
			Decisions: 2, Checkpoints: 1, Requests: 1, Pinned: true, Cost: 5, Without: 8,
		}})
	}},
	{"FollowsEveryChange", func(b *bench) {
		l := b.talk("s", "one", "two", "three")
		f := b.fork(l, 2)
		f.must(f.say("four"))
		f.must(f.batch(2, f.blocks(1, "five", "six", "seven")...))
		got, err := b.Conversations(b.ctx, store.Filter{Name: f.ID})
		if err != nil || len(got) != 1 {
			b.Fatal(got, err)
		}
		tokens := 0
		for _, e := range f.chain {
			tokens += e.Tokens
		}
		if s := got[0]; s.Length != 4 || s.Messages != 4 || s.Tokens != tokens {
			b.Errorf("after a fork and a replacement: length %d, messages %d, tokens %d; want 4, 4, %d", s.Length, s.Messages, s.Tokens, tokens)
		}
	}},
}

func (b *bench) list(f store.Filter) (ids []string) {
	b.Helper()
	list, err := b.Conversations(b.ctx, f)
	if err != nil {
		b.Fatalf("conversations: %v", err)
	}
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}
