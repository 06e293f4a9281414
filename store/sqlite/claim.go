package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant/store"
)

// Claim implements store.Claims. A claim is a job that somebody has done.
func (db *DB) Claim(ctx context.Context, k store.Key, work string, at time.Time) (first bool, err error) {
	id := k.ID + " " + work
	err = db.write(ctx, func(t *tx) error {
		var one int
		err := t.row("SELECT 1 FROM conversations WHERE tenant = ? AND id = ?", []any{k.Tenant, k.ID}, &one)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("conversation %s: %w", k.ID, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		err = t.row("SELECT 1 FROM jobs WHERE tenant = ? AND id = ?", []any{k.Tenant, id}, &one)
		if first = errors.Is(err, sql.ErrNoRows); !first {
			return err
		}
		return t.exec(`INSERT INTO jobs (tenant, id, kind, conversation, payload, due, attempts, holder, lease, error)
			VALUES (?, ?, 'claim', ?, ?, ?, 1, '', 0, ?)`, k.Tenant, id, k.ID,
			t.seal([]byte{}, jobPlace(k, "jobs.payload", id)), micros(at), t.text("", jobPlace(k, "jobs.error", id)))
	})
	return first, wrap("claim work", err)
}

// Claimed implements store.Claims.
func (db *DB) Claimed(ctx context.Context, k store.Key) (out []string, err error) {
	err = db.rows(ctx, "SELECT id FROM jobs WHERE tenant = ? AND conversation = ? AND kind = 'claim' ORDER BY id", []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		out = append(out, strings.TrimPrefix(id, k.ID+" "))
		return err
	})
	return out, wrap("list claimed work", err)
}
