package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Claim implements store.Claims.
func (db *database) Claim(ctx context.Context, k store.Key, work string, at time.Time) (first bool, err error) {
	err = db.write(ctx, func(t *tx) error {
		var one int
		err := t.row("SELECT 1 FROM conversations WHERE tenant = ? AND id = ?", []any{k.Tenant, k.ID}, &one)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("conversation %s: %w", k.ID, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		n, err := t.change("INSERT INTO claims (tenant, conversation, work, time) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			k.Tenant, k.ID, work, form.Micros(at))
		first = n == 1
		return err
	})
	return first, wrap("claim work", err)
}

// Claimed implements store.Claims.
func (db *database) Claimed(ctx context.Context, k store.Key) (out []string, err error) {
	err = db.rows(ctx, "SELECT work FROM claims WHERE tenant = ? AND conversation = ? ORDER BY work", []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		var work string
		err := rows.Scan(&work)
		out = append(out, work)
		return err
	})
	return out, wrap("list claimed work", err)
}
