package plan

import (
	"sync"

	"github.com/decantdev/decant"
)

// A Candidate is the plan of the next pour, made while no request waited for it.
type Candidate struct {
	Place
	Plan   *decant.Plan
	Coming int      // tokens of the plan that were to come behind the request behind which it was made
	Seen   int      // messages that it was held against: all that the model used in them and that it covers is in its record
	Ahead  bool     // its record has lines of a segment that was written ahead
	Notes  []string // for people
	Counts []int32  // tokens of the blocks of that request
}

// A Place is what a candidate was made for.
type Place struct {
	Messages int         // of the request behind which it was made
	Blocks   int         // of these
	Spine    int         // of these, the blocks that are no thinking
	Chain    decant.Hash // of the last of them
	Terms    decant.Hash // of the decisions about them, and of policy, model and fixed part
	Segments int         // that had been written
}

// A Ready is the candidate that waits for the next pour of a conversation, if there is one. One is made at a time. It is
// safe for concurrent use; the zero value is ready to use.
type NextPlan struct {
	mu      sync.Mutex
	waits   *Candidate
	running chan struct{} // closed when the one under way is made, nil: none is
}

// Begin reports whether a candidate may be made now: nobody makes one. Whoever begins must call End.
func (r *NextPlan) Begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != nil {
		return false
	}
	r.running = make(chan struct{})
	return true
}

// End puts a candidate in the place of the one that waits; nil: none waits any longer.
func (r *NextPlan) End(c *Candidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = c
	close(r.running)
	r.running = nil
}

// Running returns a channel that is closed when the candidate under way is made, nil when none is.
func (r *NextPlan) Running() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// Waits returns the candidate that waits, nil when there is none. It must not be changed.
func (r *NextPlan) Waits() *Candidate {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waits
}

// Drop leaves no candidate waiting.
func (r *NextPlan) Drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = nil
}
