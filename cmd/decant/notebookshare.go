package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
)

type notebookShareCmd struct {
	IDs     []string `arg:"" optional:"" name:"id" help:"Ids of rules (or #3) and decisions."`
	All     bool     `help:"All rules and decisions that are in use."`
	Remove  bool     `help:"Take them out of the file again; they stay in this notebook."`
	Trust   bool     `xor:"trust" help:"From now on, rules that others share hold at once, without your yes to each."`
	NoTrust bool     `xor:"trust" help:"Ask for a yes to each again."`
	notebookFlag
}

// Run shares records.
func (c *notebookShareCmd) Run(s *streams) error {
	if len(c.IDs) == 0 && !c.All && !c.Trust && !c.NoTrust {
		return usageError{errors.New("say what: ids, --all, --trust or --no-trust")}
	}
	return c.book(func(ctx context.Context, b *notebook.Book) error {
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
		return c.share(ctx, s, b, ids)
	})
}

// share shares records, or takes them back.
func (c *notebookShareCmd) share(ctx context.Context, s *streams, b *notebook.Book, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	do := b.Share
	if c.Remove {
		do = b.Unshare
	}
	changes, err := do(ctx, ids)
	if err != nil {
		return err
	}
	if c.DryRun {
		return printChanges(s, changes)
	}
	what := "in .decant/shared.jsonl: commit it"
	if c.Remove {
		what = "taken out of .decant/shared.jsonl"
	}
	_, err = fmt.Fprintf(s.out, "%s %s\n", report.Count(len(ids), "record"), what)
	return err
}

// shareable returns the ids of the rules and decisions among items.
func shareable(items []memory.Item) (ids []string) {
	for i := range items {
		if r, err := record.Of(items[i]); err == nil && r.Shareable() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
