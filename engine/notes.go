package engine

import (
	"sync"

	"github.com/decantdev/decant/engine/internal/lineage"
)

// notes is what the engine knows of a conversation in memory beside what is stored: its meter, and what was planned
// for requests that were only observed.
type notes struct {
	mu    sync.Mutex
	meter meter
	plans plans
}

// notesOf returns the notes on a conversation in memory.
func notesOf(l *lineage.Stored) *notes { return l.Notes.(*notes) }

// reading returns the meter.
func (n *notes) reading() meter {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.meter
}

// set changes the meter, so that requests know it that come before this one is archived.
func (n *notes) set(change func(*meter)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.meter)
}
