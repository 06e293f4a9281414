package store

import "time"

// A Job is a piece of background work. It is done at least once: whoever does it must be able to
// do it again.
type Job struct {
	Tenant       string
	ID           string
	Kind         string
	Conversation string // empty: none
	Payload      []byte
	Due          time.Time // not before
	Attempts     int       // claims so far, the present one included
	Holder       string    // who claimed it; empty: nobody
	Lease        time.Time // when the claim runs out
	Error        string    // of the last attempt that failed
}

// A Claim asks for a job.
type Claim struct {
	Kinds  []string // empty: any
	Holder string   // unique name of the worker
	Now    time.Time
	Until  time.Time // when the lease runs out unless it is extended
}

// A Settlement says what became of a claim.
type Settlement struct {
	Tenant string
	ID     string
	Holder string
	Done   bool      // remove the job
	Extend time.Time // a heartbeat: hold it until then; zero with Done false gives the job back
	Due    time.Time // of a job given back: when to try again
	Error  string    // of a job given back: why
}
