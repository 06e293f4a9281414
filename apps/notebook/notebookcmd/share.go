package notebookcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
)

type shareCmd struct {
	IDs     []string `arg:"" optional:"" name:"id" help:"Ids of rules (or #3) and decisions."`
	All     bool     `help:"Share all active rules and decisions."`
	Remove  bool     `help:"Take them out of the file again. They stay in this notebook."`
	Trust   bool     `xor:"trust" help:"From now on, apply rules that others share at once, without asking you."`
	NoTrust bool     `xor:"trust" help:"Ask you about each shared rule again."`
	flags
}

// Run shares records.
func (c *shareCmd) Run(s *process.Process) error {
	if len(c.IDs) == 0 && !c.All && !c.Trust && !c.NoTrust {
		return exit.Usage(errors.New("name ids, --all, --trust or --no-trust"))
	}
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		if _, err := c.files(ctx, s, b); err != nil {
			return err
		}
		if c.Trust || c.NoTrust {
			if err := b.Trust(ctx, c.Trust); err != nil {
				return err
			}
		}
		ids := c.IDs
		if c.All {
			items, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindRule, memory.KindMemory}})
			if err != nil {
				return err
			}
			ids = append(ids, shareable(items)...)
		}
		if len(ids) == 0 {
			return nil
		}
		return c.share(ctx, s, b, ids)
	})
}

// share shares records, or takes them back.
func (c *shareCmd) share(ctx context.Context, s *process.Process, b *notebook.Book, ids []string) error {
	do, what := b.Share, "in .decant/shared.jsonl: commit it"
	if c.Remove {
		do, what = b.Unshare, "taken out of .decant/shared.jsonl"
	}
	changes, err := do(ctx, ids)
	if err != nil {
		return err
	}
	if c.DryRun {
		return printChanges(s, changes)
	}
	_, err = fmt.Fprintf(s.Out, "%s %s\n", report.Count(len(ids), "record"), what)
	return err
}

// shareable returns the ids of the rules and decisions among items.
func shareable(items []memory.Item) (ids []string) {
	for i := range items {
		if r, err := notebook.RecordOf(items[i]); err == nil && r.Shareable() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

type publishCmd struct {
	Remove bool `help:"Delete the file and stop writing it."`
	flags
}

// Run writes the rules where agents without the plugin read them.
func (c *publishCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		do := b.Publish
		if c.Remove {
			do = b.Unpublish
		}
		changes, err := do(ctx)
		if err != nil {
			return err
		}
		if c.DryRun {
			return printChanges(s, changes)
		}
		for _, ch := range changes {
			fmt.Fprintln(s.Out, filepath.Join(b.Root(), ch.Name))
		}
		return nil
	})
}
