package storetest

import (
	"errors"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// fork creates a fork of l after position, without entries of its own.
func (b *bench) fork(l *line, position int) *line {
	b.Helper()
	f := b.line(l.Tenant, l.session)
	f.chain = l.chain[:position:position]
	f.time = l.time
	batch := f.batch(0)
	batch.Create.Origin = &store.Origin{Parent: l.ID, Version: l.version, Position: position}
	f.must(batch)
	return f
}

var forkTests = []test{
	{"SharesThePrefix", func(b *bench) {
		l := b.talk("s", "a", "b", "c", "d")
		f := b.fork(l, 2)
		b.equal("a fork begins with the common part", f.load(store.Newest).Chain, l.chain[:2])
		f.must(f.say("e", "f"))
		b.equal("and goes on alone", f.load(store.Newest).Chain, f.chain)
		b.equal("the parent stays as it is", l.load(store.Newest).Chain, l.chain)
		b.equal("origin", f.load(store.Newest).Origin, &store.Origin{Parent: l.ID, Version: 1, Position: 2})
	}},
	{"KeepsTheCommonPartWhenTheParentChanges", func(b *bench) {
		l := b.talk("s", "a", "b", "c", "d")
		f := b.fork(l, 3)
		f.must(f.say("e"))
		l.must(l.batch(2, l.blocks(1, "changed")...))
		b.equal("a fork shares what the parent was, not what it becomes", f.load(store.Newest).Chain, f.chain)
	}},
	{"InheritsTheDecisionsOfTheCommonPart", func(b *bench) {
		l := b.talk("s", "a", "b", "c", "d", "e", "f")
		batch := l.batch(0)
		inside, outside := l.shrink(3, "inside"), l.shrink(5, "outside")
		covered, beyond := l.cover(1, 1, 2), l.cover(2, 1, 5)
		undo := decant.Decision{ID: b.id("dec"), Kind: decant.Revoke, Revokes: inside.ID}
		undoOutside := decant.Decision{ID: b.id("dec"), Kind: decant.Revoke, Revokes: beyond.ID}
		batch.Decisions = []decant.Decision{inside, outside, covered, beyond, undo, undoOutside}
		l.must(batch)
		f := b.fork(l, 4)
		later := l.batch(0)
		later.Decisions = []decant.Decision{l.shrink(1, "after the fork")}
		l.must(later)
		own := f.batch(0)
		own.Decisions = []decant.Decision{f.shrink(2, "own")}
		f.must(own)
		b.equal("a fork has the parent's decisions on the common part, then its own",
			f.load(store.Newest).Decisions, []decant.Decision{inside, covered, undo, own.Decisions[0]})
	}},
	{"CheckpointNotInheritedWhenItsLastMessageIsCut", func(b *bench) {
		l := b.line("", "s")
		two := l.blocks(0, "first block", "second block")
		two[1].role = two[0].role
		l.must(l.batch(0, two...))
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.cover(1, 1, 1)}
		l.must(batch)
		if ds := b.fork(l, 1).load(store.Newest).Decisions; len(ds) != 0 {
			b.Errorf("the fork leaves in the middle of message 1, which the checkpoint covers: inherited %v, want nothing", ds)
		}
	}},
	{"OfAFork", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		batch := l.batch(0)
		batch.Decisions = []decant.Decision{l.shrink(1, "x")}
		l.must(batch)
		f := b.fork(l, 2)
		f.must(f.say("d", "e"))
		g := b.fork(f, 3)
		g.must(g.say("f"))
		s := g.load(store.Newest)
		b.equal("chain through two forks", s.Chain, g.chain)
		b.equal("decisions through two forks", s.Decisions, batch.Decisions)
		h := b.fork(f, 1)
		b.equal("a fork inside the part that its parent inherited", h.load(store.Newest).Chain, l.chain[:1])
	}},
	{"ReplaceInsideTheCommonPart", func(b *bench) {
		l := b.talk("s", "a", "b", "c", "d")
		decided := l.batch(0)
		decided.Decisions = []decant.Decision{l.shrink(1, "kept"), l.shrink(3, "replaced")}
		l.must(decided)
		f := b.fork(l, 4)
		f.must(f.say("e"))
		before := f.load(store.Newest)
		f.must(f.batch(3, f.blocks(2, "amended", "on")...))
		b.equal("the fork replaces inherited entries", f.load(store.Newest).Chain, f.chain)
		b.equal("the parent does not change", l.load(store.Newest).Chain, l.chain)
		b.equal("inherited decisions stay on record like its own", f.load(store.Newest).Decisions, decided.Decisions)
		b.equal("but do not apply to what has been replaced", f.load(store.Newest).Live(), decided.Decisions[:1])
		got := f.load(before.Version)
		got.Updated = before.Updated
		b.equal("the fork's earlier version does not change", got, before)
		if m := b.match("s", f.hashes(2)); m.Known != 2 || len(m.Lines) != 2 {
			b.Errorf("the fork still holds the part that it shares: %+v, want two lines", m)
		}
	}},
	{"MatchFindsTheForksOwnPart", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		f := b.fork(l, 2)
		f.must(f.say("d", "e"))
		m := b.match("s", f.hashes(4))
		if m.Known != 4 || len(m.Lines) != 1 || m.Lines[0].ID != f.ID {
			b.Errorf("a request on the fork: %+v, want the fork %s", m, f.ID)
		}
	}},
	{"OfNothingIsRefused", func(b *bench) {
		l := b.talk("s", "a")
		for name, o := range map[string]store.Origin{
			"UnknownParent":  {Parent: "nobody", Version: 1, Position: 1},
			"BeyondTheChain": {Parent: l.ID, Version: 1, Position: 2},
			"Position0":      {Parent: l.ID, Version: 1},
		} {
			f := b.line("", "s")
			batch := f.say("x")
			batch.Create.Origin = &o
			if _, err := b.Commit(b.ctx, batch); !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrInvalid) {
				b.Errorf("%s: got %v, want ErrNotFound or ErrInvalid", name, err)
			}
		}
	}},
}
