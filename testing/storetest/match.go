package storetest

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

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
		talk := func(session, text string, at time.Duration) *line {
			l := b.line("", session)
			l.must(l.say(b.id("beginning"), text, "undecided"))
			batch := l.batch(0)
			batch.Time = epoch.Add(at)
			batch.Decisions = []decant.Decision{l.shrink(2, "short")}
			l.must(batch)
			return l
		}
		first, second := talk("s", "a result", time.Hour), talk("s", "a result of another", 2*time.Hour)
		talk("t", "a result", 3*time.Hour)
		ask := []decant.Hash{decant.HashText("a result"), decant.HashText("a result of another"), decant.HashText("undecided")}
		for _, c := range []struct {
			rule   string
			hashes []decant.Hash
			limit  int
			want   []store.Key
		}{
			{"all of the session that have decided about them, last changed first", ask, 10, []store.Key{second.Key, first.Key}},
			{"no more than asked for", ask, 1, []store.Key{second.Key}},
			{"those that have decided about one", ask[:1], 10, []store.Key{first.Key}},
			{"none about which nothing was decided", ask[2:], 10, nil},
		} {
			got, err := b.Decided(b.ctx, "", "s", c.hashes, c.limit)
			if err != nil {
				b.Fatal(err)
			}
			b.equal(c.rule, got, c.want)
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
