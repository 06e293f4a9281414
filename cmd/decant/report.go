package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

type reportCmd struct {
	Files []string      `arg:"" optional:"" name:"file" help:"Session files of agents, plain or gzip, or directories of them: what they have cost by the usage in them. Default: what went through the gateway."`
	Since command.Age   `placeholder:"AGE" help:"Only what happened in the last 30d, 12h, ... Default: everything."`
	Month command.Month `placeholder:"MONTH" help:"Only one month: 2026-10. Without a value: the current month."`
	By    string        `enum:",model,project,day,tenant" default:"" placeholder:"WHAT" help:"Print one table only: model, project, day, or tenant (which covers all tenants of the database)."`
	Only  string        `name:"conversation" placeholder:"ID" help:"Report on one conversation, with what each of its decisions has saved and cost: its id, its session, the beginning of either, or \"last\"."`
	Full  bool          `help:"Print everything, not only what fits a screen: sizes, every day, why the cache was written."`
	Line  bool          `name:"status-line" help:"Print one line about the session that standard input names, as Claude Code's setting statusLine asks for it."`
	JSON  bool          `name:"json" help:"Print JSON."`
	HTML  string        `name:"html" placeholder:"FILE" help:"Write an HTML page. It needs no network."`
	command.AllFlag
	command.CatalogFlag
	command.DBFlag
}

// Run sums up what the database holds.
func (c *reportCmd) Run(s *process.Process) error {
	if c.Line {
		return c.statusLine(s)
	}
	now := time.Now().UTC()
	p, err := c.period(now)
	if err != nil {
		return exit.Usage(err)
	}
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	if len(c.Files) > 0 {
		return c.spending(s, catalog, p)
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		l, err := c.ledger(ctx, db, catalog, p)
		if err != nil {
			return err
		}
		l.From, l.To = p.Days(now)
		l.Full = c.Full
		l.Date(catalog, now)
		if c.HTML != "" {
			if err := s.Output(c.HTML, l.WriteHTML); err != nil {
				return err
			}
		}
		return c.print(s.Out, l)
	})
}

// spending sums up what session files say that they have cost.
func (c *reportCmd) spending(s *process.Process, catalog *token.Catalog, p lookup.Period) error {
	files, err := sessionFiles(s, c.Files)
	if err != nil {
		return exit.Input(err)
	}
	out := &report.Spending{From: p.From, To: p.To, By: c.By}
	models := func(id string) token.Model {
		m, _ := catalog.Lookup(id)
		return m
	}
	for _, name := range files {
		doc, err := sessionfile.Read(s, name, "")
		if err != nil {
			if len(files) == 1 {
				return err
			}
			out.Skipped = append(out.Skipped, err.Error())
			continue
		}
		out.Add(sessionfile.Directory(doc), doc.Conversation, models)
	}
	out.Sort()
	if c.JSON {
		return command.WriteJSON(s.Out, out)
	}
	return out.WriteText(s.Out)
}

// period returns the time that the report is about.
func (c *reportCmd) period(now time.Time) (p lookup.Period, err error) {
	switch {
	case len(c.Files) > 0 && (c.By == "tenant" || c.AllTenants || c.Tenant.Given || c.Only != "" || c.HTML != ""):
		return p, errors.New("session files have no tenants and no conversations of the gateway: leave out --tenant, --all-tenants, --conversation and --html")
	case c.Month.Given && c.Since != 0:
		return p, errors.New("--since and --month exclude each other")
	case c.Only != "" && (c.Month.Given || c.Since != 0):
		return p, errors.New("--conversation and --since or --month exclude each other: savings of a decision count from the moment it was made")
	case (c.By == "tenant" || c.AllTenants) && (c.Tenant.Given || c.Only != ""):
		return p, errors.New("--by tenant and --all-tenants cover all tenants: leave out --tenant and --conversation")
	case c.Month.Given:
		return c.Month.Period(now), nil
	}
	return lookup.Period{From: c.Since.Since(now)}, nil
}

func (c *reportCmd) print(w io.Writer, l *report.Ledger) error {
	if c.JSON {
		return command.WriteJSON(w, l)
	}
	return l.WriteText(w)
}

// ledger reads what was stored and booked in a period, of one tenant, of all, or of one conversation.
func (c *reportCmd) ledger(ctx context.Context, db store.Store, catalog *token.Catalog, p lookup.Period) (*report.Ledger, error) {
	l := lookup.NewLedger(db, lookup.LedgerOptions{Period: p, Catalog: catalog, By: c.By, Each: c.Only != ""})
	tenants, err := c.Tenant.Chosen(ctx, db, &command.AllFlag{AllTenants: c.AllTenants || c.By == "tenant"})
	if err != nil {
		return nil, err
	}
	for _, tenant := range tenants {
		found, err := c.conversations(ctx, db, tenant, p)
		if err != nil {
			return nil, err
		}
		if err := l.Add(ctx, tenant, found); err != nil {
			return nil, err
		}
	}
	return l.Report(), nil
}

// conversations returns the conversations of a tenant that the report covers.
func (c *reportCmd) conversations(ctx context.Context, db store.Store, tenant string, p lookup.Period) ([]store.Summary, error) {
	if c.Only == "" {
		return db.Conversations(ctx, store.Filter{Tenant: tenant, Since: p.From, Limit: mostReported})
	}
	one, err := c.Find(ctx, db, c.Only)
	if err != nil {
		return nil, err
	}
	return []store.Summary{*one}, nil
}

// mostReported is how many conversations one report reads at most.
const mostReported = 100_000
