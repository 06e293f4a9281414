package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/process"
)

type serveCmd struct {
	gatewayFlags
	Listen        string `placeholder:"ADDR" help:"Address to listen on (127.0.0.1:4141). Non-loopback addresses need keys."`
	TLSCert       string `name:"tls-cert" placeholder:"FILE" help:"TLS certificate (PEM)."`
	TLSKey        string `name:"tls-key" placeholder:"FILE" help:"Key of the TLS certificate (PEM)."`
	PlainHTTP     bool   `name:"plain-http" help:"Serve other machines without TLS: keys and messages cross the network unencrypted."`
	MetricsListen string `placeholder:"ADDR" help:"Separate address for Prometheus metrics."`
}

// settings returns the configuration as it is now.
func (c *serveCmd) settings(s *process.Process) (*config.Config, error) {
	return c.loadWith(s, map[string]string{"listen": c.Listen, "tls_cert": c.TLSCert, "tls_key": c.TLSKey, "metrics_listen": c.MetricsListen, "plain_http": command.Switch(c.PlainHTTP)})
}

// Run serves until it is told to stop. On a hangup it reads keys and certificates again.
func (c *serveCmd) Run(s *process.Process) error {
	hangups, stopHangups := s.Signals(syscall.SIGHUP) // first, because until then a hangup ends the process
	defer stopHangups()
	cfg, err := c.settings(s)
	if err != nil {
		return err
	}
	ctx, stop := s.Context()
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	log := edge.Logger(cfg, s)
	defer front.Tend(ctx, time.Duration(cfg.Drain), log)()
	srv, err := newService(ctx, s, cfg, log, edge.StoredKeys)
	if err != nil {
		return err
	}
	srv.board.Lines = linesFor(cfg, s)
	e, err := edge.New(ctx, cfg, srv.keys, srv.store.TenantKeys, log)
	if err != nil {
		return errors.Join(err, srv.close())
	}
	if err := e.Operate(srv.path, srv.metrics, srv.gateway.Operations()); err != nil {
		stop()
		return errors.Join(err, e.Close(), srv.close())
	}
	log.Info("serving", startAttrs(cfg, e, srv)...)
	err = e.Serve(ctx, stop, hangups, func() (*config.Config, error) { return c.settings(s) }, srv.gateway.Serve)
	return errors.Join(err, srv.close())
}

// startAttrs returns what the log says about a gateway that begins to serve. A window of 0 means every model's own.
func startAttrs(c *config.Config, e *edge.Edge, s *service) []any {
	as := []any{"listen", e.Listener().Addr().String(), "tls", e.Encrypts(), "upstream", c.Upstream, "openai_upstream", c.OpenAI, "db", config.ShowDB(s.path), "preset", c.Preset, "mode", c.Mode, "keys", s.keys.Len()}
	if c.Seal.KeyFile != "" {
		as = append(as, "encrypted", true)
	}
	if e.Metrics() != nil {
		as = append(as, "metrics", e.Metrics().Addr().String())
	}
	if c.Tracing.Export.URL != "" {
		as = append(as, "traces", c.Tracing.Export.URL)
	}
	if c.Window > 0 {
		as = append(as, "window", c.Window)
	}
	return append(as, s.own.Attrs()...)
}
