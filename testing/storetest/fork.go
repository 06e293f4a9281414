package storetest

import (
	"errors"
	"fmt"
	"slices"

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
	batch.Create.Origin = &store.Origin{Parent: l.ID, Version: l.version, Position: position, InForce: l.version}
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
		b.equal("origin", f.load(store.Newest).Origin, &store.Origin{Parent: l.ID, Version: 1, Position: 2, InForce: 1})
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
	{"HasTheDecisionsOfTheVersionItNames", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		var ds []decant.Decision
		for range 3 {
			batch := l.batch(0)
			batch.Decisions = []decant.Decision{l.shrink(1, b.id("short"))}
			l.must(batch)
			ds = append(ds, batch.Decisions...)
		}
		for inForce := range l.version + 1 {
			f := b.line("", "s")
			batch := f.batch(0)
			batch.Create.Origin = &store.Origin{Parent: l.ID, Version: l.version, Position: 2, InForce: inForce}
			f.must(batch)
			want := ds[:max(0, inForce-1)] // version 1 has decided nothing
			b.equal(fmt.Sprintf("decisions of a fork that has those of version %d", inForce), f.load(store.Newest).Decisions, want)
		}
	}},
	{"BranchHasWhatWasInForce", branchPoints},
	{"OfNothingIsRefused", func(b *bench) {
		l := b.talk("s", "a")
		for name, o := range map[string]store.Origin{
			"UnknownParent":  {Parent: "nobody", Version: 1, Position: 1},
			"BeyondTheChain": {Parent: l.ID, Version: 1, Position: 2},
			"Position0":      {Parent: l.ID, Version: 1},
			"InForceLater":   {Parent: l.ID, Version: 1, Position: 1, InForce: 2},
			"InForceBefore":  {Parent: l.ID, Version: 1, Position: 1, InForce: -1},
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

// revise commits blocks in place of the entries from replace on, or behind all of them when that is 0, with a decision about
// the first block, whose id it returns. The first commit of a conversation decides nothing.
func (l *line) revise(b *bench, replace int, texts ...string) string {
	kept := len(l.chain)
	if replace > 0 {
		kept = replace - 1
	}
	batch := l.batch(replace, l.blocks(kept, texts...)...)
	if kept > 0 {
		batch.Decisions = []decant.Decision{l.shrink(1, b.id("short"))}
	}
	l.must(batch)
	if kept == 0 {
		return ""
	}
	return batch.Decisions[0].ID
}

// branchPoints checks what a fork takes over: nothing that was decided with text behind its branch point.
func branchPoints(b *bench) {
	l := b.line("", "s")
	say := func(replace int, texts ...string) string { return l.revise(b, replace, texts...) }
	say(0, "a", "b", "c")               // version 1, entries 1 to 3
	two := say(0)                       // version 2: about what is there
	three := say(0, "d", "e")           // version 3, entries 4 and 5
	four := say(5, "e instead of that") // version 4, entry 5 anew
	for _, c := range []struct {
		position, seen int
		inForce        int64
		length         int
		has, behind    []string
	}{
		{1, 0, 0, 0, nil, []string{three, four}},
		{2, 0, 0, 0, nil, []string{three, four}},
		{3, 0, 2, 3, []string{two}, []string{three, four}},
		{4, 0, 2, 3, []string{two}, []string{four}},
		{5, 0, 4, 5, []string{two, three, four}, nil},
		{1, 3, 2, 3, []string{two}, []string{three, four}},
		{1, 5, 4, 5, []string{two, three, four}, []string{three, four}},
	} {
		got, err := b.Branch(b.ctx, l.Key, l.version, c.position, c.seen)
		if err != nil {
			b.Fatalf("branch at %d: %v", c.position, err)
		}
		rule := fmt.Sprintf("branch at position %d, with %d entries seen", c.position, c.seen)
		b.equal(rule, got.Origin, store.Origin{Parent: l.ID, Version: l.version, Position: c.position, InForce: c.inForce})
		b.equal(rule+": entries then", got.Length, c.length)
		b.equal(rule+": decisions", names(got.Decisions), c.has)
		b.equal(rule+": made with what is behind it", slices.Sorted(slices.Values(got.Behind)), c.behind)
		f := b.line("", "s")
		batch := f.batch(0)
		batch.Create.Origin = &got.Origin
		f.must(batch)
		b.equal(rule+": the fork has them", names(f.load(store.Newest).Decisions), c.has)
	}
	for _, position := range []int{-1, 0, 6} {
		if _, err := b.Branch(b.ctx, l.Key, l.version, position, 0); !errors.Is(err, store.ErrInvalid) {
			b.Errorf("branch at position %d of 5: got %v, want ErrInvalid", position, err)
		}
	}
}
