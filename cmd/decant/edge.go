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

	"github.com/decantdev/decant/internal/cert"
	"github.com/decantdev/decant/internal/config"
)

// An edge is where a service meets its clients: listeners, certificate and keys, and the goroutines that keep them up
// to date.
type edge struct {
	cfg      *config.Config
	service  *service
	log      *slog.Logger
	listener net.Listener
	pair     *cert.Pair   // nil: without TLS
	metrics  net.Listener // nil: none

	server *http.Server // of metrics
	work   sync.WaitGroup
}

// How often the gateway looks for changes made while it runs.
const (
	keysEvery = time.Second
	certEvery = 10 * time.Second
)

// newEdge opens the listeners of a service, and keeps keys and certificate up to date until the context ends.
func newEdge(ctx context.Context, c *config.Config, s *service, log *slog.Logger) (*edge, error) {
	e := &edge{cfg: c, service: s, log: log}
	if err := e.listen(); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := e.measure(s.metrics); err != nil {
		return nil, errors.Join(fmt.Errorf("register metrics: %w", err), e.close())
	}
	e.every(keysEvery, func(tick <-chan time.Time) { s.keys.Watch(ctx, s.store, tick, e.keysChanged) })
	if e.pair != nil {
		e.every(certEvery, func(tick <-chan time.Time) { e.pair.Watch(ctx, tick, e.certChanged) })
	}
	if e.metrics != nil {
		e.server = &http.Server{Handler: s.gateway.Operations(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
		e.work.Go(func() {
			if err := e.server.Serve(e.metrics); !errors.Is(err, http.ErrServerClosed) {
				log.Error("metrics are not shown any longer", "error", err.Error())
			}
		})
	}
	return e, nil
}

// listen opens the listeners.
func (e *edge) listen() (err error) {
	if e.cfg.TLS.Cert != "" {
		if e.pair, err = cert.Load(e.cfg.TLS.Cert, e.cfg.TLS.Key); err != nil {
			return usageError{err}
		}
	}
	if e.listener, err = net.Listen("tcp", e.cfg.Listen); err != nil {
		return err
	}
	if e.pair != nil {
		e.listener = tls.NewListener(e.listener, e.pair.Config())
	}
	if e.cfg.Metrics == "" {
		return nil
	}
	if e.metrics, err = net.Listen("tcp", e.cfg.Metrics); err != nil {
		return fmt.Errorf("metrics_listen: %w", err)
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
		log.Warn("other machines can reach this gateway, and it serves without TLS: keys and everything that is said cross the network in clear; set tls.cert and tls.key, or let a proxy on this machine end TLS and listen on 127.0.0.1",
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
		e.service.keys.SetKeys(keysOf(c))
		if needRestart(e.cfg, c) {
			e.log.Warn("settings other than keys have changed; they take effect at the next start")
		}
	}
	if err := e.service.keys.Refresh(ctx, e.service.store); err != nil {
		e.keysChanged(err)
	}
	if e.pair != nil {
		e.certChanged(e.pair.Reload())
	}
	e.log.Info("reloaded", "keys", e.service.keys.Len())
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
