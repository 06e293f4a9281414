package match_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/store"
)

// A cache holds so many entries, and as much less as decisions take: what a conversation takes in memory is mostly what
// was decided about it.
func TestTheCacheWeighsWhatDecisionsSay(t *testing.T) {
	kept := func(d decant.Decision) (n int) {
		c := match.NewCache(1000, 10_000)
		for i := range 500 {
			s := &store.State{Chain: make([]store.Entry, 10), Decisions: []decant.Decision{d}}
			s.Key = store.Key{ID: fmt.Sprint(i)}
			c.Put(match.Start{Session: fmt.Sprint(i)}, match.NewStored(s, nil))
		}
		for i := range 500 {
			if c.Get(store.Key{ID: fmt.Sprint(i)}) != nil {
				n++
			}
		}
		return n
	}
	record := strings.Repeat("x", 256<<10)
	for _, c := range []struct {
		name        string
		d           decant.Decision
		least, most int
	}{
		{"small", decant.Decision{Kind: decant.Hold}, 500, 500},
		{"stub", decant.Decision{Kind: decant.Stub, Text: record}, 8, 10},
		{"checkpoint", decant.Decision{Kind: decant.Cover, Checkpoint: &decant.Checkpoint{Summary: record}}, 8, 10},
		{"facts", decant.Decision{Kind: decant.Cover, Checkpoint: &decant.Checkpoint{Facts: []decant.Fact{{Text: record}}}}, 8, 10},
	} {
		if n := kept(c.d); n < c.least || n > c.most {
			t.Errorf("%s: %d conversations are kept, want %d to %d", c.name, n, c.least, c.most)
		}
	}
}
