package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// archive writes each conversation to a file in the directory, and an index, last changed first. It
// replaces existing files.
func (c *exportCmd) archive(ctx context.Context, s *process.Process, db store.Store) error {
	tenant, err := c.Tenant.One(ctx, db)
	if err != nil {
		return err
	}
	found, err := db.Conversations(ctx, store.Filter{Tenant: tenant, Limit: mostReported})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Path(c.Archive), 0o700); err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	rows := make([]report.Archived, 0, len(found))
	for i := range found {
		row, err := c.keep(ctx, s, db, &found[i])
		if err != nil {
			s.Warn(fmt.Errorf("conversation %s is left out: %w", found[i].ID, err))
			continue
		}
		rows = append(rows, row)
	}
	return s.Output(filepath.Join(c.Archive, "INDEX.md"), func(w io.Writer) error { return report.WriteArchive(w, rows) })
}

// keep writes one conversation and returns its row of the index.
func (c *exportCmd) keep(ctx context.Context, s *process.Process, db store.Store, sum *store.Summary) (report.Archived, error) {
	t, err := archive.ReadTranscript(ctx, db, sum.Key, store.Newest)
	if err != nil {
		return report.Archived{}, err
	}
	conv, err := c.conversation(s, t)
	if err != nil {
		return report.Archived{}, err
	}
	out, err := c.encode(s, t, conv)
	if err != nil {
		return report.Archived{}, err
	}
	ext := ".json"
	if c.As == "text" {
		ext = ".txt"
	}
	row := lookup.Archived(sum.ID+ext, sum, t.Conversation)
	return row, s.Output(filepath.Join(c.Archive, row.File), func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
}
