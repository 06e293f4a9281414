package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type forgetCmd struct {
	Session string `arg:"" optional:"" help:"Conversation: id or session, or the start of either, or \"last\". Without it: all data of the tenant that --tenant names."`
	Yes     bool   `short:"y" help:"Do not ask for confirmation."`
	DryRun  bool   `help:"Show what would be deleted; delete nothing."`
	JSON    bool   `name:"json" help:"Print JSON."`
	command.DBFlag
}

// Run removes a conversation with its forks, or everything of a tenant, pinned conversations too. It leaves nothing of
// their contents in the files of the database. Spending stays, as figures.
func (c *forgetCmd) Run(s *process.Process) error {
	if c.Session == "" && !c.Tenant.Given {
		return exit.Usage(errors.New("name a conversation, or a tenant with --tenant"))
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		f, err := c.chosen(ctx, db)
		if err != nil {
			return err
		}
		known, err := db.Conversations(ctx, store.Filter{Tenant: f.Tenant, Limit: math.MaxInt32})
		if err != nil {
			return err
		}
		if c.DryRun || !c.Yes {
			f.DryRun = true
			if err := c.forget(ctx, s, db, f, known); err != nil || c.DryRun {
				return err
			}
			if err := agreed(s, c.Yes); err != nil {
				return err
			}
			f.DryRun = false
		}
		if err := c.forget(ctx, s, db, f, known); err != nil {
			return err
		}
		cfg, err := c.Settings(s)
		if err != nil {
			return err
		}
		if err := chatcmd.DropKept(ctx, cfg.DB, db); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, "the database no longer has their contents; delete backups, exports and archives of them yourself")
		return nil
	})
}

// chosen returns what to forget: all conversations of a session if its full name is given, or the one conversation that
// a name means.
func (c *forgetCmd) chosen(ctx context.Context, db store.Store) (f store.Forgetting, err error) {
	if f.Tenant, err = c.Tenant.One(ctx, db); err != nil || c.Session == "" {
		return f, err
	}
	found, err := db.Conversations(ctx, store.Filter{Tenant: f.Tenant, Session: c.Session, Limit: math.MaxInt32})
	if err != nil {
		return f, err
	}
	if len(found) == 0 {
		one, err := c.Find(ctx, db, c.Session)
		if err != nil {
			return f, err
		}
		found = []store.Summary{*one}
	}
	for i := range found {
		f.Conversations = append(f.Conversations, found[i].ID)
	}
	return f, nil
}

// forget does it, or says what it would do.
func (c *forgetCmd) forget(ctx context.Context, s *process.Process, db store.Store, f store.Forgetting, known []store.Summary) error {
	var done *store.Collected
	err := s.Working("forgetting", func() (err error) {
		done, err = db.Forget(ctx, f)
		return err
	})
	if err != nil {
		return err
	}
	if !f.DryRun {
		detail := fmt.Sprintf("%s, %d bytes", report.Count(len(done.Conversations), "conversation"), done.Bytes)
		if err := command.Audited(ctx, db, command.Act(s, "forget", f.Tenant, strings.Join(f.Conversations, " "), detail)); err != nil {
			return err
		}
	}
	r := lookup.Collection(done, known, f.DryRun)
	return errors.Join(c.print(s, r), proven(s, done.Proof))
}

// proven prints what a search for removed content in the files found, and fails if it found anything.
func proven(s *process.Process, p *store.Proof) error {
	switch {
	case p == nil:
		return nil
	case p.Left > 0:
		return fmt.Errorf("of %s of what was removed %d are still in %s: run it again while nobody else uses the database; if that does not help, copy what you want to keep with \"decant export\" and delete the files",
			report.Count(p.Pieces, "piece"), p.Left, strings.Join(p.Where, ", "))
	}
	fmt.Fprintf(s.Err, "looked for %s of what was removed in %.1f MB, all of the database's files: none left\n", report.Count(p.Pieces, "piece"), float64(p.Bytes)/1e6)
	return nil
}

func (c *forgetCmd) print(s *process.Process, r *report.Collection) error {
	if c.JSON {
		return command.WriteJSON(s.Out, r)
	}
	return r.WriteText(s.Out, time.Local)
}
