package plan

import (
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
)

// Cached are what is kept of one conversation. They are safe for concurrent use.
type Cached struct {
	mu      sync.Mutex
	meter   Meter
	planned bool // plan was read
	plan    []decant.Decision

	*prepared
}

// prepared is what waits for the next pour of a conversation. It says itself what it was made for, so it outlives the notes
// when the conversation is read again.
type prepared struct {
	Ahead Segments // what was written
	Ready NextPlan // its plan
}

// NewCached returns notes with a meter.
func NewCached(m Meter) *Cached { return &Cached{meter: m, prepared: new(prepared)} }

// Again returns notes on a conversation that was read again. What was prepared, or is under way, is that of the notes before.
func (n *Cached) Again(m Meter) *Cached { return &Cached{meter: m, prepared: n.prepared} }

// CachedOf returns the notes on a conversation in memory.
func CachedOf(l *match.Stored) *Cached { return l.Notes.(*Cached) }

// Meter returns the meter.
func (n *Cached) Meter() Meter {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.meter
}

// Change changes the meter, so that requests know it that come before this one is archived.
func (n *Cached) Change(change func(*Meter)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.meter)
}

// Plan returns the decisions that were planned for the observed requests of the conversation, and false when they were
// not read yet.
func (n *Cached) Plan() ([]decant.Decision, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.plan, n.planned
}

// Read sets what was planned, if nobody has read it before, and returns what it is.
func (n *Cached) Read(ds []decant.Decision) []decant.Decision {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.planned {
		n.plan, n.planned = ds, true
	}
	return n.plan
}

// Extend adds decisions to what was planned, if that is still as long as it was, and reports whether it did.
func (n *Cached) Extend(was int, ds []decant.Decision) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.plan) != was {
		return false
	}
	n.plan = append(n.plan[:len(n.plan):len(n.plan)], ds...)
	return true
}
