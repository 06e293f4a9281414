package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A service is a gateway with everything behind it.
type service struct {
	gateway  *gateway.Gateway
	store    *standing
	tracing  *tracing.Tracing // nil: nothing is traced
	outbound *modelhttp.Outbound
	keys     *keyring.Ring // nil: everybody is the one local user
	metrics  *prometheus.Registry
	board    *notice.Board
	tally    *tally          // of it, and of what was booked
	own      *setup.OwnCalls // nil: no model is asked
	path     string          // of the database
	work     sync.WaitGroup
	stop     context.CancelFunc // of work
}

// A ringFunc returns the keys that admit requests to a service.
type ringFunc func(context.Context, *config.Config, keyring.Source, *slog.Logger) (*keyring.Ring, error)

// newService opens the store and builds what a configuration asks for. ring returns the keys that admit requests;
// nil means that no keys are needed.
func newService(ctx context.Context, p *process.Process, c *config.Config, log *slog.Logger, ring ringFunc) (*service, error) {
	pre, rules, err := setup.Presets(c)
	if err != nil {
		return nil, err
	}
	out, err := setup.Outbound(c)
	if err != nil {
		return nil, err
	}
	s := &service{outbound: out, metrics: prometheus.NewRegistry(), path: c.DB, board: &notice.Board{Log: log, Now: time.Now}}
	s.tally = &tally{Board: s.board}
	money, err := gateway.NewMoney(s.metrics)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	if s.own, err = setup.NewOwnCalls(c, out, pre, log); err != nil {
		return nil, err
	}
	if err = s.own.Register(s.metrics, money, s.board, func(tenant string) []store.Allowance { return s.keys.Allowances(tenant) }); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	if s.tracing, err = newTracing(c, out, p.Version, pre.Name, s.metrics, log); err != nil {
		return nil, err
	}
	if s.store, err = newStanding(ctx, c, c.DB, manager(c, pre, s, money, log), log); err != nil {
		endTracing(s.tracing)
		return nil, err
	}
	s.board.Hooks = hooks(c, out, log)
	if ring != nil {
		if s.keys, err = ring(ctx, c, s.store.TenantKeys, log); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	s.gateway, err = gateway.New(gateway.Options{
		Engine: s.store.current.Load().engine, Upstream: c.Destinations()[0], OpenAI: c.OpenAIUpstream(), Routes: setup.Routes(c), Outbound: out, Keys: s.keys, Rules: rules, Project: c.Project, Logger: log,
		Metrics: s.metrics, MetricsToken: c.Token.Reveal(), Version: p.Version, Commit: p.Commit,
		Local: local(c.Listen), Hosts: c.Hosts, MaxBody: edge.BodyLimit(c), Memory: edge.BodyMemory(c),
		Ready: s.store.Ping, Tracing: s.tracing, Accepted: s.own.Accepted(),
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.tend(ctx)
	return s, nil
}

// timeouts are how long engines may work on a request; zero: as long as they do by themselves.
var timeouts engine.Timeouts

// manager returns a function that makes the engine for a store.
func manager(c *config.Config, pre *preset.Preset, s *service, money *gateway.Money, log *slog.Logger) func(*serviceStore) (*engine.Engine, error) {
	o := engine.Options{
		Preset: pre, Mode: engine.Mode(c.Mode), Window: c.Window, Adds: engine.Adds{DropBlock: c.DropBlock, Markers: c.AddMarkers}, Budgets: setup.Budgets(c),
		Logger: log, Memory: engine.Memory{Backlog: edge.Backlog(c)}, Watcher: s.tally, Timeouts: timeouts,
		OnBooked: func(tenant string, spends []store.Spend) {
			money.Book(tenant, spends)
			s.tally.book(spends)
		},
	}
	return func(db *serviceStore) (*engine.Engine, error) {
		o := o
		if err := s.own.Into(&o, db); err != nil {
			return nil, err
		}
		if db.failed == nil {
			f := flush.New(flush.Options{Store: db, Asker: o.Models.Asker, Told: s.board.Flushed, Logger: log})
			o.Models.Flusher = f
			if c.Recall {
				o.Models.Recall = f.Recall
			}
		}
		e, err := engine.New(s.tracing.Store(db), o)
		if err != nil {
			return nil, fmt.Errorf("start engine: %w", err)
		}
		return e, nil
	}
}

// tend maintains the database until the service is closed.
func (s *service) tend(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.work.Go(func() {
		t := time.NewTicker(standEvery)
		defer t.Stop()
		s.store.tend(ctx, t.C, s.gateway.Use)
	})
}

// local reports whether an address can be reached from this machine only.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && config.Loopback(host)
}

// close waits for archives and closes everything.
func (s *service) close() error {
	if s.stop != nil {
		s.stop()
	}
	s.work.Wait()
	err := s.store.Close()
	s.own.Close()
	s.board.Hooks.Close()
	endTracing(s.tracing) // last, so that it includes what the engine archived at the end
	s.outbound.CloseIdleConnections()
	return err
}
