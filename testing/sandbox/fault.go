package sandbox

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// A FaultKind is something that goes wrong at a provider or on the way to it.
type FaultKind string

// The faults. All but the first four can strike in the middle of a stream.
const (
	FaultRateLimit   FaultKind = "rate_limit"   // 429 with retry-after
	FaultOverloaded  FaultKind = "overloaded"   // 529
	FaultInternal    FaultKind = "internal"     // 500
	FaultUnavailable FaultKind = "unavailable"  // 529, because a compaction cannot be had
	FaultStreamError FaultKind = "stream_error" // an error event after HTTP 200, then the end
	FaultReset       FaultKind = "reset"        // the connection is reset
	FaultCut         FaultKind = "cut"          // the connection is closed without an end of the body
	FaultHalf        FaultKind = "half"         // the same, when half of the answer is sent
	FaultStall       FaultKind = "stall"        // nothing more comes until Wait is over or the client leaves
	FaultSlow        FaultKind = "slow"         // Wait passes before every event
)

// A Fault makes one request go wrong. Nothing of such a request enters the cache unless its answer
// has begun.
type Fault struct {
	Kind FaultKind

	// After is the number of events that are sent before the fault strikes. With 0 a reset, a cut
	// and a stall come before the status; a stream error comes right after it. An answer that is
	// not a stream counts as one event. A half answer needs no number.
	After int

	// Wait is how long a stall lasts, how long a slow stream pauses before each event, and what
	// retry-after says, rounded up to seconds. Zero means that a stall never ends by itself, and
	// one second for retry-after.
	Wait time.Duration
}

// fault returns what is to go wrong with the n-th request: what Inject queued, else what Options say.
func (s *Server) fault(n int, r *http.Request) Fault {
	s.mu.Lock()
	if len(s.queue) > 0 {
		f := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return f
	}
	s.mu.Unlock()
	if s.opts.Faults != nil {
		return s.opts.Faults(n, r)
	}
	return Fault{}
}

// Inject makes the next requests for messages go wrong, one fault each, in order. The zero Fault
// lets one pass.
func (s *Server) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, faults...)
}

// refusal returns the error that a fault answers with, nil when it is of another kind.
func (f Fault) refusal() *apiError {
	switch f.Kind {
	case FaultRateLimit:
		wait := f.Wait
		if wait <= 0 {
			wait = time.Second
		}
		return &apiError{status: http.StatusTooManyRequests, kind: kindRateLimit, message: "This request would exceed your rate limit. Please try again later.", retry: wait}
	case FaultOverloaded:
		return &apiError{status: statusOverloaded, kind: kindOverloaded, message: "Overloaded"}
	case FaultUnavailable:
		return &apiError{status: statusOverloaded, kind: kindOverloaded, code: codeUnavailable, message: "Compaction is temporarily unavailable."}
	case FaultInternal:
		return &apiError{status: http.StatusInternalServerError, kind: kindInternal, message: "Internal server error"}
	}
	return nil
}

// of returns the fault as it strikes an answer of n events.
func (f Fault) of(n int) Fault {
	if f.Kind == FaultHalf {
		return Fault{Kind: FaultCut, After: n / 2}
	}
	return f
}

// breaks reports whether the fault ends the exchange at the given number of events sent.
func (f Fault) breaks(sent int) bool {
	switch f.Kind {
	case FaultStreamError, FaultReset, FaultCut:
		return sent == f.After
	}
	return false
}

// strike does what a fault does when the given number of events has been sent. It returns false
// when the exchange is over.
func (s *Server) strike(w http.ResponseWriter, r *http.Request, f Fault, sent int) bool {
	switch f.Kind {
	case FaultReset, FaultCut:
		if sent == f.After {
			hangUp(w, f.Kind == FaultReset)
			return false
		}
	case FaultStall:
		if sent != f.After {
			return true
		}
		if f.Wait <= 0 {
			<-r.Context().Done()
			return false
		}
		return s.sleep(r.Context(), f.Wait) == nil
	case FaultSlow:
		return s.sleep(r.Context(), f.Wait) == nil
	}
	return true
}

// hangUp closes the connection under the response. A reset discards what is still on its way.
func hangUp(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the documented way to end a response that cannot be hijacked
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// retryAfter is the value of the header of that name.
func retryAfter(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}
