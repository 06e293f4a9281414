package main

import (
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// longestStatus bounds what Claude Code says on standard input, in bytes.
const longestStatus = 1 << 20

// statusLine prints one line about the session that Claude Code names on standard input, and nothing where it is not known:
// whatever is wrong with Decant, its user reads no errors in a status line.
func (c *reportCmd) statusLine(s *process.Process) error {
	src, err := io.ReadAll(io.LimitReader(s.In, longestStatus))
	var status struct {
		Session string `json:"session_id"`
	}
	if err != nil || json.Unmarshal(src, &status) != nil || status.Session == "" {
		return nil
	}
	line := ""
	err = c.With(s, func(ctx context.Context, db store.Store) (err error) {
		line, err = c.status(ctx, db, status.Session)
		return err
	})
	if err == nil && line != "" {
		fmt.Fprintln(s.Out, line)
	}
	return nil
}

// status sums up the conversations of a session, empty when there are none.
func (c *reportCmd) status(ctx context.Context, db store.Store, session string) (string, error) {
	tenant, err := c.Tenant.One(ctx, db)
	if err != nil {
		return "", err
	}
	found, err := db.Conversations(ctx, store.Filter{Tenant: tenant, Name: session})
	if err != nil {
		return "", err
	}
	spent, saved, known := 0.0, 0.0, false
	for i := range found {
		if found[i].Session != session {
			continue
		}
		row, err := lookup.Money(ctx, db, &found[i])
		if err != nil {
			return "", err
		}
		spent, saved, known = spent+row.Spent, saved+row.Net(), true
	}
	if !known {
		return "", nil
	}
	return report.Status(spent, saved), nil
}
