package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/doctor"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

type doctorCmd struct {
	gatewayFlags
	Listen string         `placeholder:"ADDR" help:"Address that clients should use (127.0.0.1:4141)."`
	Tenant command.Tenant `placeholder:"NAME" help:"Tenant whose conversations to count. Default: the only tenant in the database."`
	command.AllFlag
}

// Run examines everything between an agent and the API. It fails when something is broken, but not when
// something only deserves attention.
func (c *doctorCmd) Run(s *process.Process) error {
	cfg, err := c.load(s, c.Listen)
	if err != nil {
		return err
	}
	ca, err := setup.Authorities(cfg)
	if err != nil {
		return err
	}
	out, err := setup.Outbound(cfg)
	if err != nil {
		return err
	}
	defer out.CloseIdleConnections()
	catalog, err := token.Builtin()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return diagnosis(s.Out, doctor.Examine(ctx, &doctor.Setup{
		Config: cfg, File: cfg.File, Outbound: out, CA: ca, Env: s.Getenv, Now: time.Now, Database: c.database(cfg), Catalog: catalog,
		Summary: func(ctx context.Context) (string, error) { return setup.CheckSummary(ctx, cfg, out) },
	}))
}

// database returns the database of the settings and the tenants that the command is about.
func (c *doctorCmd) database(cfg *config.Config) (d doctor.Database) {
	d.Path, d.Server = config.ShowDB(cfg.DB), config.IsServer(cfg.DB)
	var key *seal.Key
	if key, d.Err = setup.Key(cfg); key != nil {
		d.Key = key.ID()
	}
	d.Open = func(ctx context.Context) (doctor.Store, error) { return setup.Open(ctx, cfg, cfg.DB) }
	d.Tenants = func(ctx context.Context, db store.Directory) ([]string, error) {
		tenants, err := c.Tenant.Chosen(ctx, db, &c.AllFlag)
		if err != nil && exit.Code(err) == exit.BadUsage {
			err = doctor.Choice{Err: err}
		}
		return tenants, err
	}
	return d
}

// diagnosis prints findings. It returns an error when something is broken.
func diagnosis(w io.Writer, fs []doctor.Finding) error {
	n := 0
	for _, f := range fs {
		if f.Broken() {
			n++
		}
		if _, err := fmt.Fprintf(w, "%-4s  %-12s  %s\n", f.Verdict, f.About, f.Text); err != nil {
			return err
		}
	}
	if n > 0 {
		return fmt.Errorf("broken: %d of %d", n, len(fs))
	}
	return nil
}
