package gateway

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

// A bodyError says that a request's body did not arrive completely.
type bodyError struct {
	err    error
	status int
}

// stalled reports whether the client is still connected and has stopped sending. The server reports the expired
// deadline as if the client had left.
func (e *bodyError) stalled() bool { return e != nil && e.status == http.StatusRequestTimeout }

// Error says what happened.
func (e *bodyError) Error() string { return e.err.Error() }

// Unwrap returns what happened.
func (e *bodyError) Unwrap() error { return e.err }

// leastStep is how much of a body must come within its time: less is no progress.
const leastStep = 16 << 10

// A timed is a request's body that ends with an error when it makes no progress. Only the time spent waiting for
// the client counts: a slow upstream is not the client's fault.
type timed struct {
	io.ReadCloser
	conn  *http.ResponseController
	limit time.Duration

	failed atomic.Pointer[bodyError] // nil: it has not failed

	mu     sync.Mutex
	closed bool          // the connection may be at its next request
	left   time.Duration // until something must have come
	step   int           // bytes that have come since left was limit
}

// withTime returns the body of r as it is read by w's handler, with a limit on its time.
func withTime(w http.ResponseWriter, r *http.Request, limit time.Duration) *timed {
	return &timed{ReadCloser: r.Body, conn: http.NewResponseController(w), limit: limit, left: limit}
}

// Read reads what the client sends.
func (t *timed) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	begin := time.Now()
	if err := t.conn.SetReadDeadline(begin.Add(t.left)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := t.ReadCloser.Read(p)
	if t.step += n; t.step >= leastStep {
		t.left, t.step = t.limit, 0
	} else {
		t.left -= time.Since(begin)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, t.fail(&bodyError{fmt.Errorf("the body has not come on for %s", t.limit), http.StatusRequestTimeout})
	case err == nil && t.left > 0:
		return n, nil
	}
	t.conn.SetReadDeadline(time.Time{}) // what is read next is not the body; a connection that has no deadlines had none
	if err != nil && !errors.Is(err, io.EOF) {
		err = t.fail(&bodyError{fmt.Errorf("read the body: %w", err), http.StatusBadRequest})
	}
	return n, err
}

// fail notes that the body has failed.
func (t *timed) fail(err *bodyError) error {
	t.failed.Store(err)
	return err
}

// Close ends the body. The goroutine that sends the request to the upstream may outlive it, and must not set
// deadlines any more: the connection may be at its next request.
func (t *timed) Close() error {
	err := t.ReadCloser.Close() // first: it ends a Read that is under way
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return err
}
