package storetest

import (
	"path/filepath"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var checkTests = []test{
	{"CheckFindsNothingWrong", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		batch := l.batch(2, l.blocks(1, "d")...)
		batch.Decisions = []decant.Decision{l.shrink(1, "x"), l.cover(1, 1, 1)}
		batch.Fixed = &store.Fixed{Version: decant.HashText("v"), Tools: []byte("[]")}
		batch.Head = &store.Head{Fixed: batch.Fixed.Version}
		batch.Events.Requests = []store.Request{{ID: "r", Answer: l.chain[0].Raw, Fixed: batch.Fixed.Version}}
		l.must(batch)
		f := b.fork(l, 1)
		f.must(f.say("e"))
		if _, ok := b.core.(store.Searcher); ok {
			b.search(store.Query{Text: "a"})
		}
		b.sound()
	}},
}

var backupTests = []test{
	{"BackupIsNotOverwritten", func(b *bench) {
		l := b.talk("s", "a")
		path := filepath.Join(b.TempDir(), "backup")
		if err := b.Backup(b.ctx, path); err != nil {
			b.Fatal(err)
		}
		if err := b.Backup(b.ctx, path); err == nil {
			b.Error("a backup overwrote an existing file")
		}
		b.equal("backing up changes nothing", l.load(store.Newest).Chain, l.chain)
	}},
}
