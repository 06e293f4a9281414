package front

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/internal/exit"
)

// A Service answers requests until it is told to stop. The zero value is ready.
type Service struct {
	// Ready returns why requests cannot be answered now, for /readyz. Nil means that they always can.
	Ready func(context.Context) error

	// Closing ends what is under way beside requests, by the time its context ends; the last of it may then take
	// two more seconds. It is called once, when the service is told to stop. Nil means that there is nothing.
	Closing func(context.Context)

	draining, cut atomic.Bool
	open          open
}

// Enter counts a request until leave is called.
func (s *Service) Enter() (leave func()) { return s.open.enter() }

// Cut reports whether the requests that were still open have been cut.
func (s *Service) Cut() bool { return s.cut.Load() }

// Health answers requests for /healthz and /readyz, and reports whether it was one.
func (s *Service) Health(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/healthz":
		told(w, http.StatusOK, "ok")
	case "/readyz":
		status, text := s.ready(r.Context())
		told(w, status, text)
	default:
		return false
	}
	return true
}

func (s *Service) ready(ctx context.Context) (status int, text string) {
	if s.draining.Load() {
		return http.StatusServiceUnavailable, "draining"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if s.Ready != nil {
		if err := s.Ready(ctx); err != nil {
			return http.StatusServiceUnavailable, "not ready: " + err.Error()
		}
	}
	return http.StatusOK, "ready"
}

func told(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text) // a client that has left needs no answer
}

// Serve answers requests on a listener until the context ends. Then it accepts no more and waits for
// requests under way, streams included, for at most drain. It cuts what is still open after that, and waits
// two more seconds for it to end. It returns nil when everything was answered.
func (s *Service) Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger, drain time.Duration) error {
	srv := Server(h, log)
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { ended <- s.drain(srv, log, drain) })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) && stop() {
		return errors.Join(fmt.Errorf("serve: %w", err), s.drain(srv, log, 0))
	}
	return <-ended
}

// linger is how long cut requests may take to end. They use the engine, so it must not be closed before.
const linger = 2 * time.Second

// drain ends a server.
func (s *Service) drain(srv *http.Server, log *slog.Logger, limit time.Duration) error {
	s.draining.Store(true)
	log.Info("draining", "limit_s", limit.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var work sync.WaitGroup
	late := ctx
	if s.Closing != nil {
		work.Go(func() { s.Closing(ctx) })
		var cancel context.CancelFunc
		late, cancel = context.WithTimeout(context.Background(), limit+linger) // requests end with what they wait for
		defer cancel()
	}
	err := srv.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		s.cut.Store(true)
		err = errors.Join(fmt.Errorf("drain: requests still open after %s were cut", limit), srv.Close())
	}
	work.Wait()
	if n := s.open.wait(linger); n > 0 { // cut requests end at once unless they are stuck
		err = errors.Join(err, fmt.Errorf("drain: %d requests did not end when they were cut", n))
	}
	log.Info("stopped")
	return err
}

// After a signal to stop a process may drain, and then has this long to end by itself.
const (
	lateWarn = 3 * time.Second
	lateExit = 4500 * time.Millisecond
)

// Tend keeps the process of a server small until the context ends, and then sees to it that it ends within the drain
// and a few seconds more. The server calls ended when it has ended by itself.
func Tend(ctx context.Context, drain time.Duration, log *slog.Logger) (ended func()) {
	go tendMemory(ctx)
	return endAfter(ctx, drain, log)
}

// endAfter ends the process if the server has not ended by itself some seconds after the drain, no matter what it is
// doing: a supervisor would kill it anyway, and stored data does not need an orderly end.
func endAfter(ctx context.Context, drain time.Duration, log *slog.Logger) (ended func()) {
	over := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		warn := time.AfterFunc(drain+lateWarn, func() { // the log may be what holds the process up
			log.Error("still at work after the drain; what was not archived comes back with the clients' next requests")
		})
		end := time.AfterFunc(drain+lateExit, func() { os.Exit(exit.Failed) })
		<-over
		warn.Stop()
		end.Stop()
	})
	return func() { forget(); close(over) }
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
