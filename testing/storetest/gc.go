package storetest

import (
	"errors"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// month is the age at which the tests collect.
const month = 30 * 24 * time.Hour

var gcTests = []test{
	{"ByAge", func(b *bench) {
		old := b.talk("s", "old text", "shared text")
		young := b.line("", "t")
		young.time = epoch.Add(month)
		young.must(young.say("young text", "shared text"))
		c := b.gc(store.Policy{Now: epoch.Add(month + time.Hour), MaxAge: month})
		b.equal("conversations removed", c.Conversations, []store.Key{old.Key})
		if c.Blobs != 2 || c.Bytes == 0 {
			b.Errorf("removed %d blobs of %d bytes, want the 2 that nobody else holds", c.Blobs, c.Bytes)
		}
		b.gone(old)
		b.equal("the young one is as it was", young.load(store.Newest).Chain, young.chain)
		b.readable(young)
		b.sound()
	}},
	{"PinnedIsKept", func(b *bench) {
		l := b.talk("s", "a")
		batch := l.batch(0)
		batch.Head = &store.Head{Pinned: true}
		l.must(batch)
		c := b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		if len(c.Conversations) != 0 || c.Pinned != 1 {
			b.Errorf("collected %+v, want nothing and one pinned", c)
		}
		b.readable(l)
	}},
	{"OriginalsLiveAsLongAsTheirDecisions", func(b *bench) {
		l := b.talk("s", "the original", "hi", "tail")
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.shrink(1, "short")}
		l.must(batch)
		f := b.fork(l, 2)
		f.time = epoch.Add(month)
		f.must(f.say("young"))
		c := b.gc(store.Policy{Now: epoch.Add(month + time.Hour), MaxAge: month})
		if len(c.Conversations) != 0 || c.Shared != 1 {
			b.Errorf("collected %+v: a parent is kept while a fork shares its beginning", c)
		}
		b.readable(f)
		if _, err := b.Resolve(b.ctx, f.Key, batch.Decisions[0].Handle); err != nil {
			b.Errorf("the inherited decision's original: %v", err)
		}
		c = b.gc(store.Policy{Now: epoch.Add(3 * month), MaxAge: month})
		b.equal("fork and parent go together, the fork first", c.Conversations, []store.Key{f.Key, l.Key})
		b.sound()
	}},
	{"BySizeLongestUnchangedFirst", func(b *bench) {
		var lines []*line
		for i := range 8 {
			l := b.line("", b.id("session"))
			l.time = epoch.Add(time.Duration(i) * time.Hour)
			l.must(l.say(string(noise(200_000 + i))))
			lines = append(lines, l)
		}
		c := b.gc(store.Policy{Now: epoch.Add(month), Size: 1_600_000})
		n := len(c.Conversations)
		if n == 0 || n == len(lines) {
			b.Fatalf("removed %d of %d conversations to reach half the size", n, len(lines))
		}
		for i, k := range c.Conversations {
			if k != lines[i].Key {
				b.Errorf("removed %v as number %d, want the longest unchanged first: %v", k, i+1, lines[i].Key)
			}
		}
		for _, l := range lines[n:] {
			b.readable(l)
		}
		b.sound()
	}},
	{"ByLinesOfASession", func(b *bench) {
		var lines []*line
		for i := range 5 {
			l := b.line("", "s")
			l.time = epoch.Add(time.Duration(i) * time.Hour)
			l.must(l.say(b.id("text")))
			lines = append(lines, l)
		}
		other := b.talk("t", "the only one of its session")
		c := b.gc(store.Policy{Now: epoch.Add(month), Lines: 2})
		b.equal("all but the two last changed go", c.Conversations, []store.Key{lines[0].Key, lines[1].Key, lines[2].Key})
		for _, l := range []*line{lines[3], lines[4], other} {
			b.readable(l)
		}
	}},
	{"ReturnsAsNew", func(b *bench) {
		l := b.talk("s", "a", "b")
		b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		if m := b.match("s", l.hashes(2)); m.Known != 0 {
			b.Errorf("a collected conversation still matches: %+v", m)
		}
		if _, err := b.Commit(b.ctx, l.say("c")); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("commit to a collected conversation: got %v, want ErrNotFound", err)
		}
		again := b.talk("s", "a", "b")
		b.equal("and can be created anew", again.load(store.Newest).Chain, again.chain)
		b.readable(again)
	}},
	{"DryRunRemovesNothing", func(b *bench) {
		l := b.talk("s", "a", "b")
		p := store.Policy{Now: epoch.Add(2 * month), MaxAge: month, DryRun: true}
		dry := b.gc(p)
		b.readable(l)
		p.DryRun = false
		b.equal("a dry run reports what the real run does", b.gc(p), dry)
	}},
	{"CollectedTextIsNotFound", func(b *bench) {
		need[store.Searcher](b)
		b.talk("s", "needle")
		b.search(store.Query{Text: "needle"})
		b.talk("t", "unindexed needle")
		b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		if hits := b.search(store.Query{Text: "needle"}); len(hits) != 0 {
			b.Errorf("search finds collected text: %+v", hits)
		}
	}},
	{"FixedPartsGoWithTheirLastHolder", func(b *bench) {
		l := b.line("", "s")
		batch := l.say("a")
		f := &store.Fixed{Version: decant.HashText("v"), System: []byte("system")}
		batch.Fixed, batch.Head = f, &store.Head{Fixed: f.Version}
		l.must(batch)
		b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		if _, err := b.Fixed(b.ctx, "", f.Version); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("fixed part of a collected conversation: got %v, want ErrNotFound", err)
		}
		b.sound()
	}},
	{"ForgetTakesForksAndPinnedOnes", func(b *bench) {
		l := b.talk("s", "a", "b")
		fork := b.fork(l, 1)
		fork.must(fork.say("c"))
		other := b.talk("t", "x", "y")
		b.spend(l, store.Spend{ID: "1", Time: epoch, Cost: 7})
		batch := l.batch(0)
		batch.Head = &store.Head{Pinned: true}
		l.must(batch)
		f := store.Forgetting{Conversations: []string{l.ID}, DryRun: true}
		dry := b.forget(f)
		b.readable(l)
		f.DryRun = false
		done := b.forget(f)
		if p := done.Proof; p != nil && (p.Pieces == 0 || p.Left != 0) {
			b.Errorf("looking for what was removed has found %+v", p)
		}
		done.Proof = nil
		b.equal("a dry run reports what the real run does", done, dry)
		b.gone(l)
		b.gone(fork)
		b.readable(other)
		if ts := b.spending(store.SpendQuery{}); len(ts) != 1 || ts[0].Cost != 7 {
			b.Errorf("money spent on forgotten conversations: %+v, want 7", ts)
		}
		b.forget(store.Forgetting{Tenant: "another"})
		b.readable(other)
		b.forget(store.Forgetting{})
		b.gone(other)
		b.sound()
	}},
	{"SpendsOutliveConversations", func(b *bench) {
		l := b.talk("s", "a")
		b.spend(l, store.Spend{ID: "1", Time: epoch, Cost: 7})
		b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		if ts := b.spending(store.SpendQuery{}); len(ts) != 1 || ts[0].Cost != 7 {
			b.Errorf("money spent on collected conversations: %+v, want 7", ts)
		}
		if c := b.gc(store.Policy{Now: epoch.Add(2 * month), Spends: month}); c.Spends != 1 || len(b.spending(store.SpendQuery{})) != 0 {
			b.Errorf("spends have an age of their own: %+v", c)
		}
	}},
}

func (b *bench) gc(p store.Policy) *store.Collected {
	b.Helper()
	need[store.Collector](b)
	c, err := b.GC(b.ctx, p)
	if err != nil {
		b.Fatalf("gc: %v", err)
	}
	return c
}

func (b *bench) forget(f store.Forgetting) *store.Collected {
	b.Helper()
	need[store.Collector](b)
	c, err := b.Forget(b.ctx, f)
	if err != nil {
		b.Fatalf("forget: %v", err)
	}
	if c.Proof != nil && c.Proof.Left > 0 {
		b.Errorf("%d pieces of what was forgotten are left in %v", c.Proof.Left, c.Proof.Where)
	}
	return c
}

// gone checks that nothing of the conversation is left.
func (b *bench) gone(l *line) {
	b.Helper()
	if _, err := b.Load(b.ctx, l.Key, store.Newest); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("load of a collected conversation: got %v, want ErrNotFound", err)
	}
	if _, err := b.Blobs(b.ctx, l.Tenant, l.chain[0].Raw); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("blob of a collected conversation: got %v, want ErrNotFound", err)
	}
}

// readable checks that every reference of the conversation leads to its content.
func (b *bench) readable(l *line) {
	b.Helper()
	s := l.load(store.Newest)
	for _, e := range s.Chain {
		if _, err := b.Blobs(b.ctx, l.Tenant, e.Raw, e.Text); err != nil {
			b.Errorf("entry %d: %v", e.Position, err)
		}
	}
	for _, d := range s.Decisions {
		if d.Target.Hash.IsZero() {
			continue
		}
		if _, err := b.Blobs(b.ctx, l.Tenant, d.Target.Hash); err != nil {
			b.Errorf("original of decision %s: %v", d.ID, err)
		}
	}
}

// sound checks that the store finds nothing wrong with itself, if it can check that.
func (b *bench) sound() {
	b.Helper()
	if _, ok := b.core.(store.Checker); !ok {
		return
	}
	problems, err := b.Check(b.ctx)
	if err != nil {
		b.Fatalf("check: %v", err)
	}
	for _, p := range problems {
		b.Errorf("check: %s", p)
	}
}
