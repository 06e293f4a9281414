// Package standin is what the stand-ins for services have in common: what goes wrong with them when they are told to.
//
// A stand-in is a strict copy of the part of a service that this module uses. Whatever the service would refuse it refuses, with the
// service's own words, and what it does not know is an error and never a guess.
package standin

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Fault is something that goes wrong.
type Fault struct {
	Operation string // that it happens to, as the stand-in names them; empty: any
	After     int    // how many calls pass before
	Times     int    // how often it happens; 0: once

	Status     int           // of the answer, such as 401, 429 and 503; 0: the connection is closed without one
	RetryAfter time.Duration // for the header of that name, in whole seconds; 0: none
	Delay      time.Duration // before it happens; a client that leaves ends it
}

// Faults are what is still to go wrong. The zero value is nothing, and ready for use by many at once.
type Faults struct {
	mu   sync.Mutex
	list []Fault
}

// Inject adds a fault.
func (f *Faults) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Times = max(fault.Times, 1)
	f.list = append(f.list, fault)
}

// Strike does what is to go wrong with a call. With done, the call is over: status is that of the answer that the stand-in has yet to
// write, in its own form; 0: nothing is left to do. Headers are set already.
func (f *Faults) Strike(w http.ResponseWriter, r *http.Request, operation string) (status int, done bool) {
	fault, ok := f.next(operation)
	if !ok {
		return 0, false
	}
	if fault.Delay > 0 {
		select {
		case <-r.Context().Done():
			return 0, true
		case <-time.After(fault.Delay):
		}
	}
	if fault.Status == 0 {
		panic(http.ErrAbortHandler) // the documented way to close a connection without an answer
	}
	if fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(fault.RetryAfter.Seconds()))))
	}
	return fault.Status, true
}

// next returns the fault that happens to a call now.
func (f *Faults) next(operation string) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		switch fault := &f.list[i]; {
		case fault.Operation != "" && fault.Operation != operation || fault.Times == 0:
		case fault.After > 0:
			fault.After--
		default:
			fault.Times--
			return *fault, true
		}
	}
	return Fault{}, false
}
