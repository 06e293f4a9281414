package main

import (
	"context"
	"fmt"
	"os"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/store"
)

// dbCmd maintains the database itself.
type dbCmd struct {
	Check  dbCheckCmd  `cmd:"" help:"Check the whole database and list problems." example:"decant db check"`
	Backup dbBackupCmd `cmd:"" help:"Copy the database to a new file while it is in use." example:"decant db backup copy.db"`
}

type dbCheckCmd struct {
	command.DBFlag
}

// Run checks the database. A problem is an error.
func (c *dbCheckCmd) Run(s *process.Process) error {
	return c.With(s, func(ctx context.Context, db store.Store) error {
		var problems []string
		err := s.Working("checking the database", func() (err error) {
			problems, err = db.Check(ctx)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range problems {
			fmt.Fprintln(s.Out, p)
		}
		if n := len(problems); n > 0 {
			return exit.Input(fmt.Errorf("%d problems: restore a backup, or move the file away; conversations then start again", n))
		}
		_, err = fmt.Fprintln(s.Out, "the database is sound")
		return err
	})
}

type dbBackupCmd struct {
	File string `arg:"" help:"File for the copy. It must not exist."`
	command.DBFlag
}

// Run writes a copy of the database.
func (c *dbBackupCmd) Run(s *process.Process) error {
	if _, err := os.Stat(s.Path(c.File)); err == nil {
		return exit.Usage(fmt.Errorf("%s exists already: name a new file", c.File))
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		return s.Working("writing "+c.File, func() error { return db.Backup(ctx, s.Path(c.File)) })
	})
}
