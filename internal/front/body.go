package front

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A BodyError says that a request's body did not arrive completely.
type BodyError struct {
	Status int // that says so
	err    error
}

// Stalled reports whether the client is still connected and has stopped sending. The server reports the expired
// deadline as if the client had left.
func (e *BodyError) Stalled() bool { return e != nil && e.Status == http.StatusRequestTimeout }

// Error says what happened.
func (e *BodyError) Error() string { return e.err.Error() }

// Unwrap returns what happened.
func (e *BodyError) Unwrap() error { return e.err }

// leastStep is how much of a body must come within its time: less is no progress.
const leastStep = 16 << 10

// BodyTime is how long clients have, if nobody says otherwise.
const BodyTime = 30 * time.Second

// A Body is a request's body that ends with an error when it makes no progress. Only the time spent waiting
// for the client counts: a slow upstream is not the client's fault.
type Body struct {
	io.ReadCloser
	conn  *http.ResponseController
	limit time.Duration

	failed atomic.Pointer[BodyError] // nil: it has not failed

	mu     sync.Mutex
	closed bool          // the connection may be at its next request
	left   time.Duration // until something must have come
	step   int           // bytes that have come since left was limit
}

// Timed returns a request as w's handler gets it, with a limit on the time in which its body must come on: 16
// KB of it, or the rest. The body is a *Body then, unless there is none. A body that the handler does not
// read has the limit, too: the server reads some of it before it answers.
func Timed(w http.ResponseWriter, r *http.Request, limit time.Duration) *http.Request {
	if r.ContentLength == 0 {
		return r
	}
	b := &Body{ReadCloser: r.Body, conn: http.NewResponseController(w), limit: limit, left: limit}
	b.conn.SetReadDeadline(time.Now().Add(limit)) // where that cannot be done, Read says so
	// the server's own request keeps its body: by it the server knows what is left of it
	out := r.WithContext(r.Context())
	out.Body = b
	return out
}

// Read reads what the client sends.
func (b *Body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	begin := time.Now()
	if err := b.conn.SetReadDeadline(begin.Add(b.left)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	if b.step += n; b.step >= leastStep {
		b.left, b.step = b.limit, 0
	} else {
		b.left -= time.Since(begin)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, b.fail(&BodyError{http.StatusRequestTimeout, fmt.Errorf("the body has not come on for %s", b.limit)})
	case err == nil && b.left > 0:
		return n, nil
	}
	b.conn.SetReadDeadline(time.Time{}) // what is read next is not the body; a connection that has no deadlines had none
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.fail(&BodyError{http.StatusBadRequest, fmt.Errorf("read the body: %w", err)})
	}
	return n, err
}

// fail notes that the body has failed.
func (b *Body) fail(err *BodyError) error {
	b.failed.Store(err)
	return err
}

// Close ends the body. The goroutine that sends the request to the upstream may outlive it, and must not set
// deadlines any more: the connection may be at its next request.
func (b *Body) Close() error {
	err := b.ReadCloser.Close() // first: it ends a Read that is under way
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return err
}

// Failed returns why the body did not arrive completely, nil if it did. If the client has left, a Read may
// just be noting why: Failed then waits for it. A nil Body has not failed.
func (b *Body) Failed(gone bool) *BodyError {
	if b == nil {
		return nil
	}
	if gone {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	return b.failed.Load()
}
