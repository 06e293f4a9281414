package main

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

	"github.com/decantdev/decant/gateway/keyring"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/front"
)

// An edge is where a server meets its clients: listeners, certificate and keys, and the goroutines that keep them up
// to date.
type edge struct {
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

// newEdge opens the listener of a server, and keeps its certificate and the keys that are stored up to date until the context ends.
func newEdge(ctx context.Context, c *config.Config, keys *keyring.Ring, stored keyring.Source, log *slog.Logger) (*edge, error) {
	e := &edge{cfg: c, keys: keys, stored: stored, log: log}
	if err := e.listen(); err != nil {
		return nil, err
	}
	e.every(keysEvery, func(tick <-chan time.Time) { keys.Watch(ctx, stored, tick, e.keysChanged) })
	if e.pair != nil {
		e.every(certEvery, func(tick <-chan time.Time) { e.pair.Watch(ctx, tick, e.certChanged) })
	}
	return e, nil
}

// operate measures a gateway, and shows that on the listener of metrics, if the settings want one.
func (e *edge) operate(s *service) (err error) {
	if err = e.measure(s); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	if e.cfg.Metrics == "" {
		return nil
	}
	if e.metrics, err = net.Listen("tcp", e.cfg.Metrics); err != nil {
		return fmt.Errorf("metrics_listen: %w", err)
	}
	e.server = front.Server(s.gateway.Operations(), e.log)
	e.work.Go(func() {
		if err := e.server.Serve(e.metrics); !errors.Is(err, http.ErrServerClosed) {
			e.log.Error("metrics are not shown any longer", "error", err.Error())
		}
	})
	return nil
}

// listen opens the listener for clients.
func (e *edge) listen() (err error) {
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

// every runs do with a tick at an interval; close waits for its end.
func (e *edge) every(interval time.Duration, do func(tick <-chan time.Time)) {
	e.work.Go(func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		do(t.C)
	})
}

// warn logs settings that the operator may not have intended.
func (e *edge) warn(log *slog.Logger) {
	if e.cfg.Public() && e.pair == nil {
		log.Warn("other machines can reach this server, and it serves without TLS, as plain_http asks: keys and everything that is said cross the network in clear",
			"listen", e.cfg.Listen)
	}
	if e.cfg.MetricsPublic() && e.cfg.Token == "" {
		log.Warn("other machines can read the metrics, which say what is spent; set metrics_token, or metrics_listen to an address that only Prometheus reaches",
			"metrics_listen", e.cfg.Metrics)
	}
}

// followHangups reads keys and certificate again on every hangup until the context ends. If they cannot be read, the
// old ones stay in force. settings returns the current configuration.
func (e *edge) followHangups(ctx context.Context, hangups <-chan os.Signal, settings func() (*config.Config, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			e.reload(ctx, settings)
		}
	}
}

func (e *edge) reload(ctx context.Context, settings func() (*config.Config, error)) {
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

func (e *edge) keysChanged(err error) {
	if err != nil {
		e.log.Warn("the keys in the database cannot be read; those that are known stay in force", "error", err.Error())
		return
	}
	e.log.Info("the keys in the database can be read again")
}

func (e *edge) certChanged(err error) {
	if err != nil {
		e.log.Warn("the certificate cannot be used; the old one stays in force", "error", err.Error(), "expires", e.pair.Expires())
		return
	}
	e.log.Info("certificate", "expires", e.pair.Expires())
}

// close closes the listeners and waits for the edge's goroutines. The context must have ended.
func (e *edge) close() error {
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
