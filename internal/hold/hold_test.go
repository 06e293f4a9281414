package hold

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const mostBulk = 48 << 20

func TestASpaceIsSharedByAll(t *testing.T) {
	r := New(100, mostBulk)
	a, b := r.Share(""), r.Share("")
	for i, c := range []struct {
		s    *Share
		n    int64
		want bool
	}{{a, 60, true}, {b, 50, false}, {b, 40, true}, {a, 1, false}, {b, 1, false}} {
		if got := c.s.Take(c.n); got != c.want {
			t.Fatalf("%d: %t", i, got)
		}
	}
	a.Release()
	a.Release()
	if a.Take(1) {
		t.Error("who has released everything takes more")
	}
	a.Add(1000)
	if !b.Take(60) {
		t.Error("what was released is not there, or something came after it")
	}
	b.Release()
	alone := r.Share("")
	if !alone.Take(500) {
		t.Error("a body that is alone finds no room")
	}
	if b := r.Share(""); b.Take(1) {
		t.Error("there is room beside one that is too large")
	}
}

func TestATenantHasHalfOfTheSpace(t *testing.T) {
	r := New(100, mostBulk)
	a, again, b := r.Share("a"), r.Share("a"), r.Share("b")
	for i, c := range []struct {
		s    *Share
		n    int64
		want bool
	}{{a, 40, true}, {again, 20, false}, {again, 10, true}, {a, 1, false}, {b, 50, true}, {b, 1, false}} {
		if got := c.s.Take(c.n); got != c.want {
			t.Fatalf("%d: %t", i, got)
		}
	}
	for _, s := range []*Share{a, again, b} {
		s.Release()
	}
	if len(r.of) != 0 || r.all != (amount{}) {
		t.Errorf("%d bytes are used, by %v", r.all, r.of)
	}
	if large := r.Share("b"); !large.Take(60) {
		t.Error("a body that is alone finds no room")
	}
}

// What is bulky has a part of the space, and a tenant half of that. What is small passes beside it.
func TestWhatIsBulkyHasAPart(t *testing.T) {
	r := New(2<<30, mostBulk)
	for i, c := range []struct {
		tenant string
		n      int64
		want   bool
	}{{"", 30 << 20, true}, {"", 30 << 20, false}, {"", 18 << 20, true}, {"", Bulky + 1, false}, {"", Bulky, true}, {"a", 1 << 20, true}} {
		if got := r.Share(c.tenant).Take(c.n); got != c.want {
			t.Errorf("%d: %t", i, got)
		}
	}
	r = New(2<<30, mostBulk)
	if !r.Share("a").Take(20<<20) || r.Share("a").Take(10<<20) || !r.Share("b").Take(20<<20) {
		t.Error("one tenant takes what is another's")
	}
	if r = New(2<<30, mostBulk); !r.Share("a").Take(1<<30) || !r.Share("b").Take(1<<20) {
		t.Error("one that is too large and alone leaves nothing for what is small")
	}
	first, second := New(2<<30, mostBulk).Share(""), (*Share)(nil)
	second = first.space.Share("")
	if !first.Take(40<<20) || second.Take(20<<20) {
		t.Fatal("there is room for what is bulky while work on as much is under way")
	}
	if first.Rest(); !second.Take(20 << 20) {
		t.Error("there is no room beside what rests")
	}
}

// Whoever waits gets room when there is some, and is refused when there was none for a while. Nobody is forgotten.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(1<<30, mostBulk)
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				s := r.Share("")
				defer s.Release()
				if err := s.Wait(t.Context(), 10<<20); err != nil {
					t.Error(err)
				}
				if !s.Take(10 << 20) {
					t.Error("what was waited for is not there")
				}
				time.Sleep(time.Second)
			})
		}
		all.Wait()
		first, begun := r.Share(""), time.Now()
		first.Take(r.bulk)
		if err := r.Share("").Wait(t.Context(), 5<<20); !errors.Is(err, ErrFull) || time.Since(begun) != patience {
			t.Errorf("refused with %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Share("").Wait(ctx, 5<<20); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("whoever has left ended with %v", err)
		}
	})
}

// Work on what is small makes nothing bulky, and is over.
func TestWorkIsNotBulky(t *testing.T) {
	space := New(100<<20, mostBulk)
	a, b := space.Share(""), space.Share("")
	if !a.Take(1<<20) || !a.Plan(60<<20) || !b.Take(20<<20) || b.Plan(60<<20) {
		t.Fatal("the work takes room of what is bulky, or none")
	}
	a.Planned(60<<20, 3<<20)
	if a.held != 4<<20 || space.all != (amount{24 << 20, 20 << 20}) || !b.Plan(60<<20) {
		t.Errorf("%d bytes are held, %v of all", a.held, space.all)
	}
}
