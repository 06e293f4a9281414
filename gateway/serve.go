package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve answers requests on a listener until the context ends. Then it takes no more and waits for
// those under way, streams included, at most for drain; what is still open after that is cut. It
// returns nil when everything was answered.
func (g *Gateway) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	srv := &http.Server{
		Handler:           g,
		ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute, // no limit on bodies: streams are long
		ErrorLog: slog.NewLogLogger(g.opts.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { ended <- g.drain(srv, drain) })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) && stop() {
		return fmt.Errorf("serve: %w", err)
	}
	return <-ended
}

// drain ends a server.
func (g *Gateway) drain(srv *http.Server, limit time.Duration) error {
	g.draining.Store(true)
	g.opts.Log.Info("draining", "limit_s", limit.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(fmt.Errorf("drain: requests still open after %s were cut", limit), srv.Close())
	}
	g.open.wait() // what was cut ends at once; nobody may close the engine before
	g.opts.Log.Info("stopped")
	return err
}

// open counts the requests that are being answered.
type open struct {
	mu   sync.Mutex
	n    int
	none *sync.Cond
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
			o.none.Broadcast()
		}
	}
}

// wait returns when no request is being answered.
func (o *open) wait() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.none == nil {
		o.none = sync.NewCond(&o.mu)
	}
	for o.n > 0 {
		o.none.Wait()
	}
}
