package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/gateway/keyring"
	"github.com/decantdev/decant/gateway/tracing"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store/sqlite"
)

// gatewayFlags are the settings that a command line may give. Empty ones come from the environment, the
// file, or the defaults, in that order; so no flag has a default here.
type gatewayFlags struct {
	Config   string `placeholder:"FILE" help:"YAML file with settings (or DECANT_CONFIG)."`
	Upstream string `name:"anthropic-upstream" placeholder:"URL" help:"Base URL of the Messages API (https://api.anthropic.com)."`
	DB       string `name:"db" placeholder:"FILE" help:"Database file (your own)."`
	keyFileFlag
	Preset string `placeholder:"NAME" help:"Policy for requests that match no rule (default)."`
	Thrift string `placeholder:"LEVEL" help:"How eagerly to pour early, to save money: off, low, default or high. Overrides what presets say."`
	Mode   string `placeholder:"MODE" help:"manage, observe (record and plan, but change nothing) or off (manage)."`
	Window int    `placeholder:"TOKENS" help:"Window to use for every model instead of the catalogue's."`
	Log    string `placeholder:"LEVEL" help:"Least level to log: debug, info, warn or error (info)."`
}

// load returns the configuration; listen may be empty.
func (f *gatewayFlags) load(listen string) (*config.Config, error) {
	return f.loadWith(map[string]string{"listen": listen})
}

// loadWith returns the configuration with more flags.
func (f *gatewayFlags) loadWith(flags map[string]string) (*config.Config, error) {
	window := ""
	if f.Window != 0 {
		window = strconv.Itoa(f.Window)
	}
	maps.Copy(flags, map[string]string{
		"anthropic_upstream": f.Upstream, "db": f.DB, "encryption_key_file": f.EncryptionKeyFile, "preset": f.Preset, "thrift": f.Thrift, "mode": f.Mode, "window": window, "log": f.Log,
	})
	c, err := config.Load(config.Sources{File: f.Config, Environ: os.Environ(), Flags: flags})
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

type serveCmd struct {
	gatewayFlags
	Listen        string `placeholder:"ADDR" help:"Address to listen on (127.0.0.1:4141). Any but loopback needs keys."`
	TLSCert       string `name:"tls-cert" placeholder:"FILE" help:"TLS certificate, in PEM."`
	TLSKey        string `name:"tls-key" placeholder:"FILE" help:"Key of the TLS certificate, in PEM."`
	MetricsListen string `placeholder:"ADDR" help:"Separate address for metrics, for Prometheus."`
}

// settings returns the configuration as it is now.
func (c *serveCmd) settings() (*config.Config, error) {
	return c.loadWith(map[string]string{"listen": c.Listen, "tls_cert": c.TLSCert, "tls_key": c.TLSKey, "metrics_listen": c.MetricsListen})
}

// Run serves until it is told to stop. On a hangup it reads keys and certificates again.
func (c *serveCmd) Run(s *streams) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // first, because until then a hangup ends the process
	defer signal.Stop(hangups)
	cfg, err := c.settings()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	go tendMemory(ctx)
	log := logger(cfg, s)
	endAfter(ctx, time.Duration(cfg.Drain), log)
	srv, err := newService(ctx, cfg, log, storedKeys)
	if err != nil {
		return err
	}
	e, err := newEdge(ctx, cfg, srv, log)
	if err != nil {
		return errors.Join(err, srv.close())
	}
	log.Info("serving", startAttrs(cfg, e, srv)...)
	e.warn(log)
	reloads := make(chan struct{})
	go func() {
		defer close(reloads)
		e.followHangups(ctx, hangups, c.settings)
	}()
	err = srv.gateway.Serve(ctx, e.listener, time.Duration(cfg.Drain))
	stop() // needed if the gateway has ended by itself
	<-reloads
	return errors.Join(err, e.close(), srv.close())
}

// startAttrs returns what the log says about a gateway that begins to serve. A window of 0 means every model's own.
func startAttrs(c *config.Config, e *edge, s *service) []any {
	as := []any{"listen", e.listener.Addr().String(), "tls", e.pair != nil, "upstream", c.Upstream, "db", s.path, "preset", c.Preset, "mode", c.Mode, "keys", s.keys.Len()}
	if c.Seal.KeyFile != "" {
		as = append(as, "encrypted", true)
	}
	if e.metrics != nil {
		as = append(as, "metrics", e.metrics.Addr().String())
	}
	if c.Tracing.Export.URL != "" {
		as = append(as, "traces", c.Tracing.Export.URL)
	}
	if c.Window > 0 {
		as = append(as, "window", c.Window)
	}
	return as
}

// logger returns the log that a configuration asks for. Logs go to standard error.
func logger(c *config.Config, s *streams) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log)); err != nil {
		level = slog.LevelInfo // checked with the configuration
	}
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(s.err, o))
	}
	return slog.New(slog.NewTextHandler(s.err, o))
}

// A service is a gateway with everything behind it.
type service struct {
	gateway  *gateway.Gateway
	store    *standing
	tracing  *tracing.Tracing // nil: nothing is traced
	outbound *gateway.Outbound
	keys     *keyring.Ring // nil: everybody is the one local user
	metrics  *prometheus.Registry
	path     string // of the database
	work     sync.WaitGroup
	stop     context.CancelFunc // of work
}

// newService opens the store and builds what a configuration asks for. ring returns the keys that admit requests;
// nil means that no keys are needed.
func newService(ctx context.Context, c *config.Config, log *slog.Logger, ring ringFunc) (*service, error) {
	pre, rules, err := presets(c)
	if err != nil {
		return nil, err
	}
	out, err := outbound(c)
	if err != nil {
		return nil, err
	}
	s := &service{outbound: out, metrics: prometheus.NewRegistry()}
	money, err := gateway.NewMoney(s.metrics)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	if s.path, err = databasePath(c.DB); err != nil {
		return nil, err
	}
	if s.tracing, err = newTracing(c, out, pre.Name, s.metrics, log); err != nil {
		return nil, err
	}
	if s.store, err = newStanding(ctx, c, s.path, manager(c, pre, s.tracing, money, log), log); err != nil {
		endTracing(s.tracing)
		return nil, err
	}
	if ring != nil {
		if s.keys, err = ring(ctx, c, s.store, log); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	s.gateway, err = gateway.New(gateway.Options{
		Engine: s.store.engine, Upstream: c.Destinations()[0], Outbound: out, Keys: s.keys, Rules: rules, Project: c.Project, Logger: log,
		Metrics: s.metrics, MetricsToken: c.Token.Reveal(), Version: versionOf(buildInfo()), Commit: commitOf(buildInfo()),
		Local: local(c.Listen), Hosts: c.Hosts, MaxBody: int64(c.BodyLimit), Memory: bodyMemory(c),
		Ready: s.store.Ping, Tracing: s.tracing,
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.tend(ctx)
	return s, nil
}

// manager returns a function that makes the engine for a store.
func manager(c *config.Config, pre *preset.Preset, traces *tracing.Tracing, money *gateway.Money, log *slog.Logger) func(engine.Store) (*engine.Engine, error) {
	o := engine.Options{
		Preset: pre, Mode: engine.Mode(c.Mode), Window: c.Window, DropBlock: c.DropBlock, NoEarlyPours: !c.Early, Budgets: budgetsOf(c),
		Logger: log, Booked: money.Book, Memory: engine.Memory{Backlog: backlog(c)},
	}
	return func(db engine.Store) (*engine.Engine, error) {
		e, err := engine.New(traces.Store(db), o)
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
	endTracing(s.tracing) // last, so that it includes what the engine archived at the end
	s.outbound.CloseIdleConnections()
	return err
}

// databasePath returns the file of a database, the user's own for the empty name.
func databasePath(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	return sqlite.DefaultPath()
}

// presets returns the policy for requests without a rule, and the rules.
func presets(c *config.Config) (*preset.Preset, []gateway.Rule, error) {
	p, err := presetAt(c.Preset, c.Thrift)
	if err != nil {
		return nil, nil, usageError{err}
	}
	var rules []gateway.Rule
	for i, r := range c.Presets {
		chosen, err := presetAt(r.Preset, c.Thrift)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("presets[%d]: %w", i, err)}
		}
		rules = append(rules, gateway.Rule{Model: r.Model, Client: r.Client, Preset: chosen})
	}
	return p, rules, nil
}

func budgetsOf(c *config.Config) (out []budget.Budget) {
	for _, b := range c.Budgets {
		out = append(out, budget.Budget(b))
	}
	return out
}

// presetAt returns a preset at a level of thrift; an empty level means its own.
func presetAt(name, thrift string) (*preset.Preset, error) {
	p, err := preset.Load(name)
	if err != nil || thrift == "" {
		return p, err
	}
	return p.WithThrift(thrift)
}

// outbound returns the only way out of the process.
func outbound(c *config.Config) (*gateway.Outbound, error) {
	ca, err := authorities(c)
	if err != nil {
		return nil, err
	}
	out, err := gateway.NewOutbound(gateway.OutboundOptions{Allow: c.Destinations(), CA: ca})
	if err != nil {
		return nil, usageError{fmt.Errorf("ca: %w", err)}
	}
	return out, nil
}

// authorities returns the certificates that a configuration trusts besides the system's.
func authorities(c *config.Config) (out [][]byte, err error) {
	for _, name := range c.CA {
		pem, err := os.ReadFile(name)
		if err != nil {
			return nil, usageError{fmt.Errorf("ca: %w", err)}
		}
		out = append(out, pem)
	}
	return out, nil
}
