package notes

import (
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
)

// Notes are what is kept of one conversation. They are safe for concurrent use.
type Notes struct {
	mu      sync.Mutex
	meter   Meter
	planned bool // plan was read
	plan    []decant.Decision

	*prepared
}

// prepared is what waits for the next pour of a conversation. It says itself what it was made for, so it outlives the notes
// when the conversation is read again.
type prepared struct {
	Ahead Ahead // what was written
	Ready Ready // its plan
}

// New returns notes with a meter.
func New(m Meter) *Notes { return &Notes{meter: m, prepared: new(prepared)} }

// Again returns notes on a conversation that was read again. What was prepared, or is under way, is that of the notes before.
func (n *Notes) Again(m Meter) *Notes { return &Notes{meter: m, prepared: n.prepared} }

// Of returns the notes on a conversation in memory.
func Of(l *lineage.Stored) *Notes { return l.Notes.(*Notes) }

// Meter returns the meter.
func (n *Notes) Meter() Meter {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.meter
}

// Change changes the meter, so that requests know it that come before this one is archived.
func (n *Notes) Change(change func(*Meter)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.meter)
}

// Plan returns the decisions that were planned for the observed requests of the conversation, and false when they were
// not read yet.
func (n *Notes) Plan() ([]decant.Decision, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.plan, n.planned
}

// Read sets what was planned, if nobody has read it before, and returns what it is.
func (n *Notes) Read(ds []decant.Decision) []decant.Decision {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.planned {
		n.plan, n.planned = ds, true
	}
	return n.plan
}

// Extend adds decisions to what was planned, if that is still as long as it was, and reports whether it did.
func (n *Notes) Extend(was int, ds []decant.Decision) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.plan) != was {
		return false
	}
	n.plan = append(n.plan[:len(n.plan):len(n.plan)], ds...)
	return true
}
