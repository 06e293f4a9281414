package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store/sqlite"
)

// remember is a command for scripts: it saves texts as a flush of a conversation would, each a day after the one before.
// Their ids count.
//
//	remember [-tenant NAME] [-session ID] [-project NAME] [-kind KIND] [-archive] DB FIRST TEXT...
func remember(flag *flag.FlagSet, args []string, file func(string) string, _ io.Writer) error {
	tenant := flag.String("tenant", "", "name")
	session := flag.String("session", "", "that the texts come from")
	project := flag.String("project", "", "of the texts; without it they are of the user")
	kind := flag.String("kind", "memory", "of the items")
	gone := flag.Bool("archive", false, "archive them")
	if err := flag.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := sqlite.Open(ctx, file(flag.Arg(0)), sqlite.Options{})
	if err != nil {
		return err
	}
	o := flush.Origin{Scope: memory.Scope{Level: memory.User}, Time: time.Date(2026, 3, 14, 9, 26, 0, 0, time.UTC)}
	if *project != "" {
		o.Scope = memory.Scope{Level: memory.Project, Name: *project}
	}
	if *session != "" {
		c, err := lookup.Conversation(ctx, db, *tenant, *session)
		if err != nil {
			return errors.Join(err, db.Close())
		}
		o.Source = memory.Source{Conversation: c.ID, From: 1, To: 9}
	}
	var n int
	if _, err := fmt.Sscan(flag.Arg(1), &n); err != nil {
		return errors.Join(err, db.Close())
	}
	o.ID = func() (string, error) { n++; return fmt.Sprintf("m:%012x", n-1), nil }
	for _, text := range flag.Args()[2:] {
		items, err := o.Items([]flush.Draft{{Kind: memory.Kind(*kind), Text: text}})
		for i := 0; i < len(items) && err == nil; i++ {
			if *gone {
				items[i], err = memory.Archive(items[i], o.Time.Add(time.Hour))
			}
		}
		if err == nil {
			err = db.Revise(ctx, *tenant, o.Scope, memory.Save(items...))
		}
		if err != nil {
			return errors.Join(err, db.Close())
		}
		o.Time = o.Time.AddDate(0, 0, 1)
	}
	return db.Close()
}
