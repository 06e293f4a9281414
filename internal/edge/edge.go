package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/keyring"
)

// An Edge is where a server meets its clients: listeners, certificate and keys, and the goroutines that keep them up
// to date.
type Edge struct {
	cfg      *config.Config
	keys     *keyring.Ring
	stored   keyring.Source
	log      *slog.Logger
	listener net.Listener
	pair     *front.Certificate // nil: without TLS
	metrics  net.Listener       // nil: none

	server *http.Server // of metrics
	work   sync.WaitGroup
}

// How often a server looks for changes made while it runs.
const (
	keysEvery = time.Second
	certEvery = 10 * time.Second
)

// New opens the listener of a server, and keeps its certificate and the keys that are stored up to date until the context ends.
func New(ctx context.Context, c *config.Config, keys *keyring.Ring, stored keyring.Source, log *slog.Logger) (*Edge, error) {
	e := &Edge{cfg: c, keys: keys, stored: stored, log: log}
	if err := e.listen(); err != nil {
		return nil, err
	}
	e.every(keysEvery, func(tick <-chan time.Time) { keys.Watch(ctx, stored, tick, e.keysChanged) })
	if e.pair != nil {
		e.every(certEvery, func(tick <-chan time.Time) { e.pair.Watch(ctx, tick, e.certChanged) })
	}
	return e, nil
}

// Operate registers metrics about the server and its database, and serves operations on the listener of metrics, if the settings
// want one.
func (e *Edge) Operate(db string, reg prometheus.Registerer, operations http.Handler) (err error) {
	if err = e.measure(db, reg); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	if e.cfg.Metrics == "" {
		return nil
	}
	if e.metrics, err = net.Listen("tcp", e.cfg.Metrics); err != nil {
		return fmt.Errorf("metrics_listen: %w", err)
	}
	e.server = front.Server(operations, e.log)
	e.work.Go(func() {
		if err := e.server.Serve(e.metrics); !errors.Is(err, http.ErrServerClosed) {
			e.log.Error("metrics are not shown any longer", "error", err.Error())
		}
	})
	return nil
}

// listen opens the listener for clients.
func (e *Edge) listen() (err error) {
	if err = e.cfg.CheckPlain(); err != nil {
		return exit.Usage(err)
	}
	if e.cfg.TLS.Cert != "" {
		if e.pair, err = front.LoadCertificate(e.cfg.TLS.Cert, e.cfg.TLS.Key); err != nil {
			return exit.Usage(err)
		}
	}
	if e.listener, err = net.Listen("tcp", e.cfg.Listen); err != nil {
		return err
	}
	if e.pair != nil {
		e.listener = tls.NewListener(e.listener, e.pair.Config())
	}
	return nil
}

// Listener returns the listener for clients.
func (e *Edge) Listener() net.Listener { return e.listener }

// Metrics returns the listener of metrics, nil for none.
func (e *Edge) Metrics() net.Listener { return e.metrics }

// Encrypts reports whether clients are served with TLS.
func (e *Edge) Encrypts() bool { return e.pair != nil }

// every runs do with a tick at an interval; close waits for its end.
func (e *Edge) every(interval time.Duration, do func(tick <-chan time.Time)) {
	e.work.Go(func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		do(t.C)
	})
}

// warn logs settings that the operator may not have intended.
func (e *Edge) warn() {
	if e.cfg.Public() && e.pair == nil {
		e.log.Warn("other machines can reach this server, and it serves without TLS, as plain_http asks: keys and everything that is said cross the network in clear",
			"listen", e.cfg.Listen)
	}
	if e.cfg.MetricsPublic() && e.cfg.Token == "" {
		e.log.Warn("other machines can read the metrics, which say what is spent; set metrics_token, or metrics_listen to an address that only Prometheus reaches",
			"metrics_listen", e.cfg.Metrics)
	}
}

// Serve has clients answered until the context of New ends, which stop ends, and closes the edge. On a hangup it reads
// keys and certificate again; settings returns the current configuration.
func (e *Edge) Serve(ctx context.Context, stop context.CancelFunc, hangups <-chan os.Signal, settings func() (*config.Config, error),
	serve func(context.Context, net.Listener, time.Duration) error,
) error {
	e.warn()
	e.work.Go(func() { e.followHangups(ctx, hangups, settings) })
	err := serve(ctx, e.listener, time.Duration(e.cfg.Drain))
	stop() // needed if it has ended by itself
	return errors.Join(err, e.Close())
}

// followHangups reads keys and certificate again on every hangup until the context ends. If they cannot be read, the
// old ones stay in force.
func (e *Edge) followHangups(ctx context.Context, hangups <-chan os.Signal, settings func() (*config.Config, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			e.reload(ctx, settings)
		}
	}
}

func (e *Edge) reload(ctx context.Context, settings func() (*config.Config, error)) {
	if c, err := settings(); err != nil {
		e.log.Warn("the settings cannot be used; the keys of the old ones stay in force", "error", err.Error())
	} else {
		e.keys.SetKeys(keysOf(c))
		if needRestart(e.cfg, c) {
			e.log.Warn("settings other than keys have changed; they take effect at the next start")
		}
	}
	if err := e.keys.Refresh(ctx, e.stored); err != nil {
		e.keysChanged(err)
	}
	if e.pair != nil {
		e.certChanged(e.pair.Reload())
	}
	e.log.Info("reloaded", "keys", e.keys.Len())
}

// needRestart reports whether settings differ in something that is read only when a gateway starts.
func needRestart(was, is *config.Config) bool {
	a, b := *was, *is
	a.Keys, b.Keys = nil, nil
	return !reflect.DeepEqual(a, b)
}

func (e *Edge) keysChanged(err error) {
	if err != nil {
		e.log.Warn("the keys in the database cannot be read; those that are known stay in force", "error", err.Error())
		return
	}
	e.log.Info("the keys in the database can be read again")
}

func (e *Edge) certChanged(err error) {
	if err != nil {
		e.log.Warn("the certificate cannot be used; the old one stays in force", "error", err.Error(), "expires", e.pair.Expires())
		return
	}
	e.log.Info("certificate", "expires", e.pair.Expires())
}

// Close closes the listeners and waits for the edge's goroutines. The context must have ended.
func (e *Edge) Close() error {
	var errs []error
	if e.server != nil {
		errs = append(errs, e.server.Close())
	} else if e.metrics != nil {
		errs = append(errs, e.metrics.Close())
	}
	if e.listener != nil {
		if err := e.listener.Close(); !errors.Is(err, net.ErrClosed) { // the gateway's server may have closed it already
			errs = append(errs, err)
		}
	}
	e.work.Wait()
	return errors.Join(errs...)
}
