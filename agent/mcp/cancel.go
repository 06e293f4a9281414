package mcp

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// cancels counts the calls that were given up and of which the server does not know yet. The SDK tells a server over HTTP
// behind the back of who gave up, and not at all once the connection is being closed: the server would work on, and not
// answer the closing before it is done.
type cancels struct {
	mu   sync.Mutex
	owed int           // below zero for a moment where the server knows before the caller does
	none chan struct{} // closed when nothing is owed any more; nil: nobody waits
}

// add adds n to what is owed.
func (c *cancels) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owed += n
	if c.owed <= 0 && c.none != nil {
		close(c.none)
		c.none = nil
	}
}

// wait waits until the server knows of all of them, but not longer than it may take to end.
func (c *cancels) wait() {
	c.mu.Lock()
	if c.owed <= 0 {
		c.mu.Unlock()
		return
	}
	none := make(chan struct{})
	c.none = none
	c.mu.Unlock()
	select {
	case <-none:
	case <-time.After(endWithin):
	}
}

// saysCancelled reports whether a request tells a server that a call was given up.
func saysCancelled(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	const most = 256 // the method is at the start of a message
	start, _ := io.ReadAll(io.LimitReader(body, most))
	return bytes.Contains(start, []byte(`"method":"notifications/cancelled"`))
}
