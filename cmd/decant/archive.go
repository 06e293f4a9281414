package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/archive"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// archive writes each conversation to a file in the directory, and an index, last changed first. It
// replaces existing files.
func (c *exportCmd) archive(ctx context.Context, s *streams, db *sqlite.DB) error {
	tenant, err := c.Tenant.one(ctx, db)
	if err != nil {
		return err
	}
	found, err := db.Conversations(ctx, store.Filter{Tenant: tenant, Limit: mostReported})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Archive, 0o700); err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	rows := make([]report.Archived, 0, len(found))
	for i := range found {
		row, err := c.keep(ctx, s, db, &found[i])
		if err != nil {
			s.warn(fmt.Errorf("conversation %s is left out: %w", found[i].ID, err))
			continue
		}
		rows = append(rows, row)
	}
	return s.output(filepath.Join(c.Archive, "INDEX.md"), func(w io.Writer) error { return report.WriteArchive(w, rows) })
}

// keep writes one conversation and returns its row of the index.
func (c *exportCmd) keep(ctx context.Context, s *streams, db *sqlite.DB, sum *store.Summary) (report.Archived, error) {
	t, err := archive.ReadTranscript(ctx, db, sum.Key, store.Newest)
	if err != nil {
		return report.Archived{}, err
	}
	conv, err := c.conversation(t)
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
	row := report.Archived{
		File: sum.ID + ext, Created: sum.Created, Lasted: sum.Updated.Sub(sum.Created).Round(time.Minute), Messages: sum.Messages, Tokens: sum.Tokens,
		Project: sum.Project, Model: sum.Model, About: about(t.Conversation),
	}
	return row, s.output(filepath.Join(c.Archive, row.File), func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
}

// about says what a conversation is about: the first thing that its user said, and the newest if it is
// different.
func about(conv *decant.Conversation) string {
	first, last := "", ""
	for i := range conv.Messages {
		m := &conv.Messages[i]
		for k := range m.Blocks {
			if b := &m.Blocks[k]; m.Role == decant.RoleUser && b.Kind == decant.KindText && b.Author == decant.AuthorUser {
				last = b.Text()
				first = cmp.Or(first, last)
			}
		}
	}
	const most = 100 // characters of each
	out := shorten(first, most)
	if last != first {
		out += " … " + shorten(last, most)
	}
	return out
}

// shorten puts text on one line of at most n characters, without its secrets.
func shorten(text string, n int) string {
	r := []rune(strings.Join(strings.Fields(secret.Mask(text)), " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
