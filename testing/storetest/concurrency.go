package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var concurrencyTests = []test{
	{"OneWinnerForEachVersion", oneWinner},
	{"OneCreatorOfALine", func(b *bench) {
		results := make(chan error, 8)
		other := b.another()
		for i := range 8 {
			l := b.line("", "s")
			s := []store.Store{b.Store, other}[i%2]
			go func() {
				_, err := s.Commit(b.ctx, l.say("hello"))
				results <- err
			}()
		}
		won := 0
		for range 8 {
			switch err := <-results; {
			case err == nil:
				won++
			case !errors.Is(err, store.ErrConflict):
				b.Errorf("a loser got %v, want ErrConflict", err)
			}
		}
		if won != 1 {
			b.Errorf("%d of 8 concurrent requests created the line, want 1", won)
		}
	}},
	{"VersionIsOfNow", func(b *bench) {
		l, other := b.talk("s", "a"), b.another()
		for n := range 100 {
			if n%2 == 0 {
				l.must(l.batch(0))
			} else if _, err := other.Commit(b.ctx, l.batch(0)); err != nil {
				b.Fatal(err)
			} else {
				l.version++
			}
			for name, s := range map[string]store.Store{"one process": b.Store, "another": other} {
				if v, err := s.Version(b.ctx, l.Key); v != l.version || err != nil {
					b.Fatalf("version after commit %d, seen by %s: got %d, %v, want %d", n, name, v, err, l.version)
				}
			}
		}
	}},
	{"ConversationsDoNotDisturbEachOther", func(b *bench) {
		var lines []*line
		for i := range 8 {
			l := b.line("", fmt.Sprint("session ", i))
			lines = append(lines, l)
		}
		var wg sync.WaitGroup
		for i, l := range lines {
			wg.Go(func() {
				for n := range 20 {
					batch := l.say(fmt.Sprintf("line %d text %d", i, n))
					v, err := l.Commit(l.ctx, batch)
					if err != nil {
						l.Errorf("commit %d of line %d: %v", n, i, err)
						return
					}
					e := batch.Entries[0]
					e.Position = len(l.chain) + 1
					l.version, l.chain = v, append(l.chain, e)
					if s, err := l.Load(l.ctx, l.Key, store.Newest); err != nil || s.Version != v {
						l.Errorf("a commit must be visible when it returns: %v", err)
					}
				}
			})
		}
		wg.Wait()
		for _, l := range lines {
			b.equal("no write is lost", l.load(store.Newest).Chain, l.chain)
		}
		b.sound()
	}},
	{"CancelledCallsLeaveNothingBehind", func(b *bench) {
		l := b.talk("s", "a", "b", "c")
		for i := range 200 {
			ctx, cancel := context.WithCancel(b.ctx)
			go cancel()
			b.Load(ctx, l.Key, store.Newest)
			b.Match(ctx, "", "s", l.hashes(3))
			if i%20 == 0 {
				l.must(l.batch(0)) // a reader stuck in the past would not see it
			}
			if s := l.load(store.Newest); s.Version != l.version {
				b.Fatalf("after cancelled calls Load returns version %d, want %d", s.Version, l.version)
			}
		}
	}},
	{"CancelledCommitIsNotMade", func(b *bench) {
		l := b.talk("s", "a")
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		if _, err := b.Commit(ctx, l.say("b")); !errors.Is(err, context.Canceled) {
			b.Errorf("got %v, want context.Canceled", err)
		}
		l.must(l.say("c")) // it still has the version
	}},
	{"ReadersSeeWholeCommits", func(b *bench) {
		l := b.talk("s", "a")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 40 {
				batch := l.batch(2, l.blocks(1, fmt.Sprint("x", i), fmt.Sprint("y", i))...)
				batch.Decisions = []decant.Decision{l.shrink(1, fmt.Sprint(i))}
				v, err := l.Commit(l.ctx, batch)
				if err != nil {
					l.Errorf("commit: %v", err)
					return
				}
				l.version = v
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			s, err := b.Load(b.ctx, l.Key, store.Newest)
			if err != nil {
				b.Fatal(err)
			}
			if int(s.Version) != len(s.Decisions)+1 || s.Version > 1 && len(s.Chain) != 3 || s.Length != len(s.Chain) {
				b.Fatalf("a reader saw version %d with %d decisions and %d entries", s.Version, len(s.Decisions), len(s.Chain))
			}
		}
	}},
}

// oneWinner has two handles' goroutines race for each version of one conversation.
func oneWinner(b *bench) {
	const racers, rounds = 6, 15
	l := b.talk("s", "start")
	stores := []store.Store{b.Store, b.another()}
	for round := range rounds {
		type result struct {
			batch *store.Batch
			err   error
		}
		results := make(chan result, racers)
		for i := range racers {
			batch := l.say(fmt.Sprintf("round %d racer %d", round, i))
			batch.Decisions = []decant.Decision{l.shrink(1, fmt.Sprint(round, i))}
			go func() {
				_, err := stores[i%2].Commit(b.ctx, batch)
				results <- result{batch, err}
			}()
		}
		var winner *store.Batch
		for range racers {
			r := <-results
			if r.err == nil && winner != nil {
				b.Fatalf("round %d: two commits of one version won", round)
			}
			if r.err == nil {
				winner = r.batch
			} else if !errors.Is(r.err, store.ErrConflict) {
				b.Fatalf("round %d: a loser got %v, want ErrConflict", round, r.err)
			}
		}
		if winner == nil {
			b.Fatalf("round %d: nobody won", round)
		}
		e := winner.Entries[0]
		e.Position = len(l.chain) + 1
		l.version, l.chain = l.version+1, append(l.chain, e)
	}
	s := l.load(store.Newest)
	b.equal("the chain is that of the winners", s.Chain, l.chain)
	if len(s.Decisions) != rounds {
		b.Errorf("%d decisions, want one for each round", len(s.Decisions))
	}
}
