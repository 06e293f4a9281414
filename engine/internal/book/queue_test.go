package book_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
)

// An answer is an item of a size; one that is apart begins nothing else.
type answer struct {
	n, bytes int
	apart    bool
}

func (a answer) Footprint() int            { return a.bytes }
func (a answer) Begins(*match.Prompt) bool { return !a.apart }

// A desk is a box with what became of its items.
type desk struct {
	*book.Queue[answer]
	work sync.WaitGroup
	slow time.Duration // that a write takes

	mu     sync.Mutex
	writes [][]answer
	full   int
	lost   int
}

func newDesk(limit int, delay time.Duration) *desk {
	d := &desk{}
	d.Queue = book.NewQueue(limit, delay, func(as []answer) {
		time.Sleep(d.slow)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.writes = append(d.writes, as)
	}, d.work.Go, func(full bool, lost int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if full {
			d.full++
		}
		d.lost += lost
	})
	return d
}

// written returns the numbers of what was written, a list for each write.
func (d *desk) written() (out [][]int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, as := range d.writes {
		var ns []int
		for _, a := range as {
			ns = append(ns, a.n)
		}
		out = append(out, ns)
	}
	return out
}

func equal(got [][]int, want ...[]int) bool { return slices.EqualFunc(got, want, slices.Equal[[]int]) }

var conversation = match.Start{Session: "s"}

// Answers are written as soon as requests leave time for it, and together when they do not.
func TestAnswersAreWrittenWhenRequestsLeaveTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(1<<20, time.Second)
		request := func() { d.Enter(); d.Leave() }
		request()
		d.Add(conversation, answer{n: 1, bytes: 1})
		time.Sleep(60 * time.Millisecond)
		synctest.Wait()
		if got := d.written(); !equal(got, []int{1}) {
			t.Errorf("after a quiet moment %v was written, want the answer", got)
		}
		for n := 2; n <= 50; n++ { // one upon the other, for 1.2 seconds
			request()
			d.Add(conversation, answer{n: n, bytes: 1})
			time.Sleep(25 * time.Millisecond)
		}
		synctest.Wait()
		if got := d.written(); len(got) != 2 || len(got[1]) < 30 {
			t.Errorf("under way %v was written, want many at once after a second", got)
		}
		d.work.Wait()
		n := 0
		for _, ns := range d.written() {
			for _, x := range ns {
				if n++; x != n {
					t.Fatalf("answer %d stands at place %d", x, n)
				}
			}
		}
		if n != 50 {
			t.Errorf("%d of 50 answers were written", n)
		}
	})
}

// Whoever waits gets all that was there when it began, and waits for nothing else.
func TestWaitingStartsTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(1<<20, time.Hour)
		d.slow = time.Second
		d.Enter() // requests never leave time
		if d.Wait(t.Context(), conversation) {
			t.Error("there was something to wait for")
		}
		d.Add(conversation, answer{n: 1, bytes: 1, apart: true})
		if under, apart := d.Under(conversation, nil); !under || !apart {
			t.Errorf("under way %v, apart %v; want both", under, apart)
		}
		begun := time.Now()
		if !d.Wait(t.Context(), conversation) || !equal(d.written(), []int{1}) {
			t.Errorf("%v was written", d.written())
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v, want the second of one write", took)
		}
		d.Add(conversation, answer{n: 2, bytes: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if d.Wait(ctx, conversation); len(d.written()) != 1 {
			t.Error("an impatient request waited for the write")
		}
		d.Leave()
		d.work.Wait()
	})
}

// What waits is bounded: beyond the limit nothing is kept, it is told once, and again when half of it is free.
func TestWhatWaitsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(100, time.Hour)
		d.Enter()
		kept := 0
		for n := range 20 {
			if d.Add(match.Start{Session: string(rune('a' + n))}, answer{n: n, bytes: 10}) {
				kept++
			}
		}
		if bytes, lost := d.Size(); kept != 10 || bytes != 100 || lost != 10 || d.full != 1 {
			t.Errorf("%d kept, %d bytes, %d lost, told %d times; want 10, 100, 10, once", kept, bytes, lost, d.full)
		}
		d.Leave()
		d.Flush()
		d.work.Wait()
		if bytes, _ := d.Size(); bytes != 0 || d.lost != 10 || len(d.written()) != 10 {
			t.Errorf("%d bytes wait, %d lost were told, %d writes", bytes, d.lost, len(d.written()))
		}
		if !newDesk(1, 0).Add(conversation, answer{bytes: 1000}) {
			t.Error("one that is alone found no room")
		}
	})
}
