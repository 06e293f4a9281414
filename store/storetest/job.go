package storetest

import (
	"errors"
	"time"

	"github.com/decantdev/decant/store"
)

var jobTests = []test{
	{"OneHolderAtATime", func(b *bench) {
		b.enqueue(store.Job{ID: "j", Kind: "index", Payload: []byte("p"), Due: epoch})
		j, err := b.claim("w1", epoch)
		if err != nil {
			b.Fatal(err)
		}
		b.equal("claimed job", *j, store.Job{ID: "j", Kind: "index", Payload: []byte("p"), Due: epoch, Attempts: 1, Holder: "w1", Lease: epoch.Add(time.Minute)})
		if _, err := b.claim("w2", epoch); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("a job that is held: got %v, want ErrNotFound", err)
		}
	}},
	{"LeaseRunsOut", func(b *bench) {
		b.enqueue(store.Job{ID: "j", Kind: "index", Due: epoch})
		b.claim("w1", epoch)
		j, err := b.claim("w2", epoch.Add(time.Minute))
		if err != nil || j.Attempts != 2 {
			b.Fatalf("a job whose holder is gone: got %+v, %v; want its second attempt", j, err)
		}
		if err := b.Settle(b.ctx, store.Settlement{ID: "j", Holder: "w1", Done: true}); !errors.Is(err, store.ErrConflict) {
			b.Errorf("the first holder settles a claim that it has lost: got %v, want ErrConflict", err)
		}
	}},
	{"HeartbeatExtends", func(b *bench) {
		b.enqueue(store.Job{ID: "j", Kind: "index", Due: epoch})
		b.claim("w1", epoch)
		if err := b.Settle(b.ctx, store.Settlement{ID: "j", Holder: "w1", Extend: epoch.Add(time.Hour)}); err != nil {
			b.Fatal(err)
		}
		if _, err := b.claim("w2", epoch.Add(time.Minute)); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("after a heartbeat: got %v, want ErrNotFound", err)
		}
	}},
	{"GivenBackAndDone", func(b *bench) {
		b.enqueue(store.Job{ID: "j", Kind: "index", Due: epoch})
		b.claim("w1", epoch)
		later := epoch.Add(time.Hour)
		if err := b.Settle(b.ctx, store.Settlement{ID: "j", Holder: "w1", Due: later, Error: "no luck"}); err != nil {
			b.Fatal(err)
		}
		if _, err := b.claim("w1", later.Add(-1e3)); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("before it is due: got %v, want ErrNotFound", err)
		}
		j, err := b.claim("w1", later)
		if err != nil || j.Error != "no luck" || j.Attempts != 2 {
			b.Fatalf("second attempt: %+v, %v", j, err)
		}
		if err := b.Settle(b.ctx, store.Settlement{ID: "j", Holder: "w1", Done: true}); err != nil {
			b.Fatal(err)
		}
		if _, err := b.claim("w1", later.Add(time.Hour)); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("after it is done: got %v, want ErrNotFound", err)
		}
	}},
	{"EnqueuedOnceAndKeptOverRestarts", func(b *bench) {
		b.enqueue(store.Job{ID: "j", Kind: "index", Due: epoch}, store.Job{ID: "k", Kind: "flush", Due: epoch.Add(-1e6)})
		b.enqueue(store.Job{ID: "j", Kind: "other", Due: epoch.Add(-1e9)})
		b.reopen()
		for _, want := range []string{"k", "j"} {
			if j, err := b.claim("w", epoch); err != nil || j.ID != want || j.Kind == "other" {
				b.Fatalf("claim: %+v, %v; want %s as it was enqueued first, earliest due first", j, err, want)
			}
		}
	}},
	{"ByKind", func(b *bench) {
		b.enqueue(store.Job{ID: "j", Kind: "index", Due: epoch}, store.Job{ID: "k", Kind: "flush", Due: epoch.Add(1e6)})
		j, err := b.Claim(b.ctx, store.Claim{Kinds: []string{"flush", "report"}, Holder: "w", Now: epoch.Add(1e6), Until: epoch.Add(1e9)})
		if err != nil || j.ID != "k" {
			b.Errorf("claim of another kind: %+v, %v; want k", j, err)
		}
	}},
}

func (b *bench) enqueue(jobs ...store.Job) {
	b.Helper()
	if err := b.Enqueue(b.ctx, jobs...); err != nil {
		b.Fatalf("enqueue: %v", err)
	}
}

func (b *bench) claim(holder string, now time.Time) (*store.Job, error) {
	return b.Claim(b.ctx, store.Claim{Holder: holder, Now: now, Until: now.Add(time.Minute)})
}
