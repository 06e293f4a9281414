package storetest

import (
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var commitTests = []test{
	{"CreatesVersionOne", func(b *bench) {
		l := b.talk("s", "hello", "hi")
		if v, err := b.Version(b.ctx, l.Key); v != 1 || err != nil {
			b.Errorf("Version after the first commit = %d, %v; want 1", v, err)
		}
	}},
	{"WithOldVersionConflictsAndDoesNothing", func(b *bench) {
		l := b.talk("s", "hello", "hi")
		stale := l.say("from a version that is gone")
		stale.Decisions = []decant.Decision{l.shrink(1, "h")}
		l.must(l.say("how are you"))
		before := l.load(store.Newest)
		if _, err := b.Commit(b.ctx, stale); !errors.Is(err, store.ErrConflict) {
			b.Fatalf("commit for an old version: got %v, want ErrConflict", err)
		}
		b.equal("a commit that conflicts changes nothing", l.load(store.Newest), before)
		if _, err := b.Blobs(b.ctx, "", decant.HashText("from a version that is gone")); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("a commit that conflicts stores no blob: got %v", err)
		}
	}},
	{"OfUnknownConversationIsNotFound", func(b *bench) {
		l := b.line("", "s")
		batch := l.say("hello")
		batch.Version, batch.Create = 7, nil
		if _, err := b.Commit(b.ctx, batch); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("commit to a conversation that does not exist: got %v, want ErrNotFound", err)
		}
	}},
	{"CreatingAnIdTwiceConflicts", func(b *bench) {
		l := b.talk("s", "hello")
		again := l.say("something else")
		again.Version, again.Create = 0, &store.Creation{Session: "s"}
		if _, err := b.Commit(b.ctx, again); !errors.Is(err, store.ErrConflict) {
			b.Errorf("creating a conversation whose id exists: got %v, want ErrConflict", err)
		}
	}},
	{"CreatingTheSameLineTwiceConflicts", func(b *bench) {
		b.talk("s", "hello")
		twin := b.line("", "s")
		if _, err := b.Commit(b.ctx, twin.say("hello")); !errors.Is(err, store.ErrConflict) {
			b.Errorf("two requests create the same line of one session: the second got %v, want ErrConflict", err)
		}
		other := b.line("", "another session")
		if _, err := b.Commit(b.ctx, other.say("hello")); err != nil {
			b.Errorf("the same beginning in another session is another line: %v", err)
		}
	}},
	{"WithDanglingReferenceIsRefused", commitDangling},
	{"MayReferToStoredBlobs", func(b *bench) {
		l := b.talk("s", "hello")
		other := b.line("", "t")
		batch := other.say("hello")
		batch.Blobs = nil
		other.must(batch)
		if _, err := b.Blobs(b.ctx, "", l.chain[0].Raw); err != nil {
			b.Error(err)
		}
	}},
	{"ContradictionsAreInvalid", commitInvalid},
	{"ReplaceTakesTheTailsPlace", func(b *bench) {
		l := b.talk("s", "hello", "hi", "a questoin")
		l.must(l.batch(3, l.blocks(2, "a question", "an answer")...))
		b.equal("entries from Replace on are replaced", l.load(store.Newest).Chain, l.chain)
		l.must(l.batch(5))
		b.equal("replacing after the end changes nothing", l.load(store.Newest).Chain, l.chain)
		l.must(l.batch(2))
		b.equal("Replace without entries cuts the chain", l.load(store.Newest).Chain, l.chain)
		if n := l.load(store.Newest).Length; n != 1 {
			b.Errorf("Length = %d, want 1", n)
		}
	}},
	{"SurvivesReopening", func(b *bench) {
		l := b.talk("s", "hello", "hi")
		batch := l.say("more")
		batch.Decisions = []decant.Decision{l.shrink(1, "h"), l.cover(1, 1, 2)}
		batch.Head = &store.Head{Model: "m", Hold: true, Suppressed: 2}
		batch.Events.Anchor = &store.Anchor{Usage: decant.Usage{Input: 5}, Version: 1, Length: 2, Time: epoch, Calibration: []byte{0, 0xff}}
		l.must(batch)
		before := l.load(store.Newest)
		b.reopen()
		b.equal("what a commit acknowledged is there after a restart", l.load(store.Newest), before)
	}},
	{"KeepsWhichPourADecisionIsPartOf", func(b *bench) {
		l := b.talk("s", "hello")
		batch := l.batch(0)
		between, part, other := l.shrink(1, "x"), l.cover(1, 1, 1), l.shrink(1, "y")
		part.Pour, other.Pour = "pour 1", "pour 2"
		batch.Decisions = []decant.Decision{between, part, other}
		l.must(batch)
		b.equal("each decision names its pour, and none where there is none", l.load(store.Newest).Decisions, batch.Decisions)
		o, err := b.Resolve(b.ctx, l.Key, "c:1")
		if err != nil {
			b.Fatal(err)
		}
		b.equal("so does one that a handle leads to", o.Decision, part)
	}},
	{"KeepsEveryByteOfTexts", func(b *bench) {
		l := b.talk("s", "hello")
		batch := l.batch(0)
		d := l.shrink(1, "\x00 \xff\xfe  <&> \u2028 \U0001F600 end")
		batch.Decisions = []decant.Decision{d, l.cover(1, 1, 1)}
		l.must(batch)
		b.equal("decisions are replayed byte for byte", l.load(store.Newest).Decisions, batch.Decisions)
	}},
}

func commitDangling(b *bench) {
	missing := decant.HashText("nowhere")
	for name, change := range map[string]func(*line, *store.Batch){
		"Raw":  func(_ *line, x *store.Batch) { x.Entries[0].Raw = missing },
		"Text": func(_ *line, x *store.Batch) { x.Entries[0].Text = missing },
		"Original": func(l *line, x *store.Batch) {
			d := l.shrink(1, "")
			d.Target.Hash = missing
			x.Decisions = []decant.Decision{d}
		},
		"Fixed":  func(_ *line, x *store.Batch) { x.Head = &store.Head{Fixed: missing} },
		"Answer": func(_ *line, x *store.Batch) { x.Events.Requests = []store.Request{{ID: "r", Answer: missing}} },
		"Frame":  func(_ *line, x *store.Batch) { x.Events.Requests = []store.Request{{ID: "r", Frame: missing}} },
	} {
		l := b.talk("session of "+name, "hello")
		before := l.load(store.Newest)
		batch := l.say("more")
		change(l, batch)
		if _, err := b.Commit(b.ctx, batch); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("%s refers to a blob that is neither in the batch nor in the store: got %v, want ErrNotFound", name, err)
		}
		b.equal(name+": a commit that is refused changes nothing", l.load(store.Newest), before)
	}
}

func commitInvalid(b *bench) {
	for name, change := range map[string]func(*line, *store.Batch){
		"NoID":              func(_ *line, x *store.Batch) { x.ID = "" },
		"CreateWithVersion": func(_ *line, x *store.Batch) { x.Create = &store.Creation{} },
		"CreateAndReplace": func(l *line, x *store.Batch) {
			x.Version, x.ID, x.Replace = 0, l.id("conv"), 1
			x.Create = &store.Creation{Origin: &store.Origin{Parent: l.ID, Version: 1, Position: 2}}
		},
		"NeitherOfThem":      func(_ *line, x *store.Batch) { x.Version = 0 },
		"ReplaceBeyondEnd":   func(l *line, x *store.Batch) { x.Replace = len(l.chain) + 2 },
		"EntryWithoutChain":  func(_ *line, x *store.Batch) { x.Entries[0].Chain = decant.Hash{} },
		"DecisionWithoutID":  func(_ *line, x *store.Batch) { x.Decisions = []decant.Decision{{Kind: decant.Hold}} },
		"CoverNoCheckpoint":  func(_ *line, x *store.Batch) { x.Decisions = []decant.Decision{{ID: "d", Kind: decant.Cover}} },
		"RequestOfTheFuture": func(_ *line, x *store.Batch) { x.Events.Requests = []store.Request{{ID: "r", Version: 99}} },
	} {
		l := b.talk("session of "+name, "hello", "hi")
		batch := l.say("more")
		batch.Entries = slices.Clone(batch.Entries)
		change(l, batch)
		if _, err := b.Commit(b.ctx, batch); !errors.Is(err, store.ErrInvalid) {
			b.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}
