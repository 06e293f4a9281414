package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/decantdev/decant/internal/front"
)

// Serve answers requests on a listener until the context ends. Then it accepts no more and waits for
// requests under way, streams included, for at most drain. It cuts what is still open after that, and waits
// two more seconds for it to end. It returns nil when everything was answered.
func (g *Gateway) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	srv := front.Server(g, g.opts.Logger)
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { ended <- g.drain(srv, drain) })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) && stop() {
		return fmt.Errorf("serve: %w", err)
	}
	return <-ended
}

// linger is how long cut requests may take to end. They use the engine, so it must not be closed before.
const linger = 2 * time.Second

// drain ends a server.
func (g *Gateway) drain(srv *http.Server, limit time.Duration) error {
	g.draining.Store(true)
	g.opts.Logger.Info("draining", "limit_s", limit.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		g.cut.Store(true)
		err = errors.Join(fmt.Errorf("drain: requests still open after %s were cut", limit), srv.Close())
	}
	if n := g.open.wait(linger); n > 0 { // cut requests end at once unless they are stuck
		err = errors.Join(err, fmt.Errorf("drain: %d requests did not end when they were cut", n))
	}
	g.opts.Logger.Info("stopped")
	return err
}

// open counts the requests that are being answered.
type open struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when no request is open; nil if there are no waiters
}

// enter counts a request until leave is called.
func (o *open) enter() (leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.n++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.n--; o.n == 0 && o.none != nil {
			close(o.none)
			o.none = nil
		}
	}
}

// wait waits until no request is being answered, at most for limit, and returns how many are left.
func (o *open) wait(limit time.Duration) (left int) {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		none := o.idle()
		if none == nil {
			return 0
		}
		select {
		case <-none:
		case <-late.C:
			o.mu.Lock()
			defer o.mu.Unlock()
			return o.n
		}
	}
}

// idle returns a channel that is closed when no request is being answered; nil if none is being answered now.
func (o *open) idle() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n > 0 && o.none == nil {
		o.none = make(chan struct{})
	}
	return o.none
}
