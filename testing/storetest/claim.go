package storetest

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/decantdev/decant/store"
)

var claimTests = []test{
	{"TheFirstHasIt", func(b *bench) {
		l := b.talk("s", "hello")
		b.claim(l.Key, "flush 0", true)
		b.claim(l.Key, "flush 0", false)
		b.claim(l.Key, "flush 1", true)
		b.reopen()
		b.claim(l.Key, "flush 1", false)
		work, err := b.Claimed(b.ctx, l.Key)
		b.must(err)
		b.equal("claimed", work, []string{"flush 0", "flush 1"})
	}},
	{"OfManyAtOnceOneHasIt", func(b *bench) {
		l := b.talk("s", "hello")
		var firsts atomic.Int32
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if first, err := b.Claim(b.ctx, l.Key, "flush 0", epoch); err != nil {
					b.Errorf("claim: %v", err)
				} else if first {
					firsts.Add(1)
				}
			})
		}
		all.Wait()
		b.equal("first ones", int(firsts.Load()), 1)
	}},
	{"AnUnknownConversationIsNotFound", func(b *bench) {
		if _, err := b.Claim(b.ctx, store.Key{ID: "nowhere"}, "flush 0", epoch); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("claim: %v, want ErrNotFound", err)
		}
	}},
}

func (b *bench) claim(k store.Key, work string, want bool) {
	b.Helper()
	if first, err := b.Claim(b.ctx, k, work, epoch); err != nil || first != want {
		b.Fatalf("claim %q: %v, %v; want %v", work, first, err, want)
	}
}
