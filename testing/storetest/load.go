package storetest

import (
	"errors"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var loadTests = []test{
	{"ReturnsWhatWasCommitted", func(b *bench) {
		l := b.talk("s", "hello", "hi", "more")
		batch := l.batch(0)
		fixed := &store.Fixed{Version: decant.HashText("v1"), System: []byte(`"be brief"`), Tokens: 7}
		batch.Fixed = fixed
		batch.Head = &store.Head{Model: "m-1", Fixed: fixed.Version, Pinned: true}
		batch.Decisions = []decant.Decision{l.shrink(2, "h"), l.cover(1, 1, 2)}
		l.must(batch)
		s := l.load(store.Newest)
		b.equal("chain", s.Chain, l.chain)
		b.equal("decisions", s.Decisions, batch.Decisions)
		b.equal("head", s.Head, *batch.Head)
		b.equal("conversation", s.Conversation, store.Conversation{
			Key: l.Key, Session: "s", Agent: "test", Version: 2, Length: 3, Created: epoch.Add(1e9), Updated: epoch.Add(2e9),
		})
		if n := len(s.Checkpoints()); n != 1 {
			b.Errorf("the state has %d checkpoints, want 1", n)
		}
	}},
	{"AsOfEveryVersion", func(b *bench) {
		l := b.line("", "s")
		var states []*store.State
		step := func(batch *store.Batch) {
			l.must(batch)
			states = append(states, l.load(store.Newest))
		}
		step(l.say("hello", "hi", "first try"))
		step(l.batch(3, l.blocks(2, "second try", "answer")...))
		decided := l.say("next")
		decided.Decisions = []decant.Decision{l.shrink(4, "a")}
		step(decided)
		undone := l.batch(2, l.blocks(1, "amended")...)
		undone.Decisions = []decant.Decision{{ID: b.id("dec"), Kind: decant.Revoke, Revokes: decided.Decisions[0].ID}}
		step(undone)
		for i, want := range states {
			got := l.load(int64(i + 1))
			got.Updated = want.Updated // the one field that is not of the version
			b.equal("the state as of a version does not change afterwards", got, want)
		}
	}},
	{"UnknownIsNotFound", func(b *bench) {
		l := b.talk("s", "hello")
		if _, err := b.Load(b.ctx, store.Key{ID: "nobody"}, store.Newest); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("load of an unknown conversation: got %v, want ErrNotFound", err)
		}
		if _, err := b.Version(b.ctx, store.Key{ID: "nobody"}); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("version of an unknown conversation: got %v, want ErrNotFound", err)
		}
		if _, err := b.Load(b.ctx, l.Key, 2); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("load of a version still to come: got %v, want ErrNotFound", err)
		}
	}},
	{"FixedPartsAreStoredOnce", func(b *bench) {
		f := &store.Fixed{Version: decant.HashText("v1"), System: []byte("sys"), Tools: []byte("[]"), Tokens: 3}
		for _, session := range []string{"s", "t"} {
			l := b.line("", session)
			batch := l.say("hello")
			batch.Fixed, batch.Head = f, &store.Head{Fixed: f.Version}
			l.must(batch)
		}
		got, err := b.Fixed(b.ctx, "", f.Version)
		if err != nil {
			b.Fatal(err)
		}
		b.equal("fixed part", got, f)
		if _, err := b.Fixed(b.ctx, "", decant.HashText("v2")); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("unknown fixed part: got %v, want ErrNotFound", err)
		}
	}},
	{"SeesOtherHandlesCommits", func(b *bench) {
		l := b.talk("s", "hello")
		other := b.another()
		if _, err := other.Commit(b.ctx, l.say("from another process")); err != nil {
			b.Fatal(err)
		}
		if v, err := b.Version(b.ctx, l.Key); v != 2 || err != nil {
			b.Errorf("Version after another handle's commit = %d, %v; want 2: cached states are verified with it", v, err)
		}
	}},
	{"AfterCloseIsErrClosed", func(b *bench) {
		l := b.talk("s", "hello")
		batch := l.say("more")
		b.Close()
		_, load := b.Load(b.ctx, l.Key, store.Newest)
		_, commit := b.Commit(b.ctx, batch)
		closed := map[string]error{"Load": load, "Commit": commit, "Ping": b.Ping(b.ctx)}
		if _, ok := b.core.(store.Searcher); ok {
			_, closed["Search"] = b.Search(b.ctx, store.Query{Text: "hello"})
		}
		for name, err := range closed {
			if !errors.Is(err, store.ErrClosed) {
				b.Errorf("%s after Close: got %v, want ErrClosed", name, err)
			}
		}
		if err := b.Close(); err != nil {
			b.Errorf("closing twice: %v", err)
		}
	}},
}
