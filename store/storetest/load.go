package storetest

import (
	"errors"
	"testing"

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
		_, search := b.Search(b.ctx, store.Query{Text: "hello"})
		for name, err := range map[string]error{"Load": load, "Commit": commit, "Search": search} {
			if !errors.Is(err, store.ErrClosed) {
				b.Errorf("%s after Close: got %v, want ErrClosed", name, err)
			}
		}
		if err := b.Close(); err != nil {
			b.Errorf("closing twice: %v", err)
		}
	}},
}

var matchTests = []test{
	{"LongestKnownPrefix", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		for n := range 4 {
			m := b.match("s", append(l.hashes(n), decant.HashText("new 1"), decant.HashText("new 2")))
			if m.Known != n {
				b.Errorf("a request with %d known blocks and two new ones: Known = %d", n, m.Known)
			}
			if n > 0 && (len(m.Lines) != 1 || m.Lines[0].ID != l.ID || m.Lines[0].Position != n || m.Lines[0].Length != 3 || m.Lines[0].Version != 1) {
				b.Errorf("with %d known blocks: Lines = %+v, want %s at %d of 3, version 1", n, m.Lines, l.ID, n)
			}
		}
	}},
	{"EmptyChain", func(b *bench) {
		b.talk("s", "a")
		b.equal("a request without blocks matches nothing", b.match("s", nil), store.Match{})
	}},
	{"LongChains", func(b *bench) {
		texts := make([]string, 300)
		for i := range texts {
			texts[i] = b.id("text")
		}
		l := b.talk("s", texts...)
		for _, n := range []int{1, 15, 16, 17, 143, 144, 145, 299, 300} {
			chain := l.hashes(n)
			for i := range 200 {
				chain = append(chain, decant.HashText(b.id("new")+string(rune(i))))
			}
			if m := b.match("s", chain); m.Known != n {
				b.Errorf("with %d known blocks before 200 new ones: Known = %d", n, m.Known)
			}
		}
	}},
	{"OtherSessionsDoNotCount", func(b *bench) {
		l := b.talk("s", "a", "b")
		if m := b.match("t", l.hashes(2)); m.Known != 0 || m.Lines != nil {
			b.Errorf("the same blocks in another session: %+v, want no match", m)
		}
	}},
	{"ReplacedEntriesDoNotCount", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		old := l.hashes(3)
		l.must(l.batch(3, l.blocks(2, "d")...))
		if m := b.match("s", old); m.Known != 2 {
			b.Errorf("a chain whose last entry was replaced: Known = %d, want 2", m.Known)
		}
	}},
	{"ThinkingBelongsToTheEntryBefore", func(b *bench) {
		l := b.line("", "s")
		think := block{role: decant.RoleAssistant, kind: decant.KindThinking, text: "hm"}
		answer := block{role: decant.RoleAssistant, kind: decant.KindText, text: "b"}
		l.must(l.batch(0, l.blocks(0, "a")[0], think, answer))
		m := b.match("s", []decant.Hash{l.chain[0].Chain})
		if m.Known != 1 || m.Lines[0].Position != 2 {
			b.Errorf("a hash that thinking repeats: Known %d at %+v, want 1 at the last entry that has it, 2", m.Known, m.Lines)
		}
	}},
	{"LinesThatEndThereComeFirst", func(b *bench) {
		long := b.talk("s", "a", "b", "c")
		short := b.fork(long, 2)
		short.must(short.say("d"))
		long.time = epoch.Add(1e12)
		long.must(long.say("changed last"))
		m := b.match("s", long.hashes(2))
		if m.Known != 2 || len(m.Lines) != 2 || m.Lines[0].ID != long.ID {
			b.Fatalf("two lines go on from the common part: %+v, want both, the last changed first", m)
		}
		short.must(short.batch(3))
		m = b.match("s", long.hashes(2))
		if len(m.Lines) != 2 || m.Lines[0].ID != short.ID {
			b.Errorf("a line that ends at the match comes first: %+v", m.Lines)
		}
	}},
	{"DecidedByContent", func(b *bench) {
		l := b.talk("s", "a long result", "hi", "another")
		batch := l.batch(0)
		kept, gone := l.shrink(1, "short"), l.shrink(3, "other")
		gone.Created = gone.Created.Add(1)
		batch.Decisions = []decant.Decision{kept, gone, {ID: b.id("dec"), Kind: decant.Revoke, Revokes: gone.ID}}
		l.must(batch)
		ask := []decant.Hash{l.chain[0].Text, l.chain[2].Text, decant.HashText("unknown")}
		got, err := b.Decided(b.ctx, "", "s", ask)
		if err != nil {
			b.Fatal(err)
		}
		b.equal("live decisions on the contents asked for", got, []decant.Decision{kept})
		if got, err := b.Decided(b.ctx, "", "t", ask); len(got) != 0 || err != nil {
			b.Errorf("decisions of another session: %v, %v; want none", got, err)
		}
	}},
}

func (b *bench) match(session string, chain []decant.Hash) store.Match {
	b.Helper()
	m, err := b.Match(b.ctx, "", session, chain)
	if err != nil {
		b.Fatalf("match: %v", err)
	}
	return m
}

var _ testing.TB = (*bench)(nil)
