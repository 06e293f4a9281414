package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/monthly"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

type notebookReportCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Session files. Default: those that Claude Code, Codex and pi keep of the project in the current directory."`
	Month    month    `placeholder:"MONTH" help:"The month: 2026-10. Without a value, the current one. Default: the month of yesterday, so that the 1st has the whole month before."`
	All      bool     `help:"Sessions of all projects."`
	JSON     bool     `name:"json" help:"Print JSON."`
	Markdown bool     `help:"Print Markdown."`
	HTML     string   `name:"html" placeholder:"FILE" help:"Write an HTML page. It needs no network."`
	catalogFlag
	dbFlag
}

// Run sums up a month.
func (c *notebookReportCmd) Run(s *streams) error {
	now := time.Now().UTC()
	if !c.Month.given {
		c.Month.first = monthOf(now.AddDate(0, 0, -1))
	}
	p := c.Month.period(now)
	ss, err := sessionChoice{files: c.Files, all: c.All, since: p.From}.read(s)
	if err != nil {
		return err
	}
	v := monthly.Values{Month: p.From, Sessions: ss}
	if err := c.stored(&v, p); err != nil {
		return err
	}
	r := monthly.New(v)
	if c.HTML != "" {
		if err := s.output(c.HTML, r.WriteHTML); err != nil {
			return err
		}
	}
	return c.print(s.out, r)
}

// monthOf returns the first moment of a month.
func monthOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func (c *notebookReportCmd) print(w io.Writer, r *monthly.Report) error {
	switch {
	case c.JSON:
		return writeJSON(w, r)
	case c.Markdown:
		return r.WriteMarkdown(w)
	}
	return r.WriteText(w)
}

// stored adds what the database holds about the month, if there is one.
func (c *notebookReportCmd) stored(v *monthly.Values, p lookup.Period) error {
	catalog, err := c.models()
	if err != nil {
		return err
	}
	if missing, err := c.missing(); err != nil || missing {
		return err
	}
	return c.with(func(ctx context.Context, db store.Store) error {
		l, err := (&reportCmd{dbFlag: c.dbFlag}).ledger(ctx, db, catalog, p)
		if err != nil {
			return err
		}
		if l.Requests > 0 {
			v.Ledger = &monthly.Ledger{Conversations: l.Conversations, Compacted: l.Compacted, Requests: l.Requests, Recovered: l.Recovered,
				Without: l.Bare, Spent: l.Spent, Saved: l.Saved, ReadAgain: l.ReadAgain, ReadAgainTokens: l.ReadAgainTokens, Rewritten: l.Rewritten}
		}
		q := store.MemoryQuery{Archived: true}
		if q.Tenant, err = c.Tenant.one(ctx, db); err != nil {
			return err
		}
		if !c.All {
			here, err := notebook.ScopeOf(".")
			if err != nil {
				return err
			}
			q.Scopes = []memory.Scope{here}
		}
		items, err := db.Memories(ctx, q)
		if err == nil {
			err = fromMemory(v, items, p)
		}
		return err
	})
}

// missing reports whether nothing was ever stored: the usual database does not exist. One that the user names must.
func (c *notebookReportCmd) missing() (bool, error) {
	settings, err := c.settings()
	if err != nil || c.DB != "" || os.Getenv("DECANT_DB") != "" {
		return false, err
	}
	path, err := databasePath(settings.DB)
	if err != nil {
		return false, err
	}
	_, err = os.Stat(path)
	return errors.Is(err, fs.ErrNotExist), nil
}

// fromMemory adds the rules in force and what changed among records during the month. A rule that was taken back is in force for nobody.
func fromMemory(v *monthly.Values, items []memory.Item, p lookup.Period) error {
	in := func(t time.Time) bool { return !t.Before(p.From) && t.Before(p.To) }
	for i := range items {
		it, err := record.Of(items[i])
		if err != nil {
			return err
		}
		if it.Kind != memory.KindObservation && it.Kind != memory.KindRule && it.Kind != memory.KindTask {
			continue
		}
		if v.Records == nil {
			v.Records = &monthly.Records{}
		}
		switch {
		case it.Kind == memory.KindRule && it.Item.State() == memory.Active && it.Suspended.IsZero():
			v.Rules = append(v.Rules, monthly.Rule{ID: it.ID, Text: it.Text, Since: it.Created})
		case it.Kind == memory.KindObservation && in(it.Escalated):
			v.Records.Escalated++
		case it.Kind == memory.KindObservation && in(it.Archived):
			v.Records.Archived++
		case it.Kind == memory.KindTask && in(it.Archived):
			v.Records.TasksArchived++
		}
	}
	return nil
}
