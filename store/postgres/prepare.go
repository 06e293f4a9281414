package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/decantdev/decant/store"
)

// schema makes all tables.
//
//go:embed schema.sql
var schema string

// format is what schema writes into the table decant.
const format = 1

// lockSchema is the advisory lock of whoever makes the tables.
const lockSchema = 0x646563616e74 // "decant"

// prepare makes the tables where there are none.
func (db *database) prepare(ctx context.Context) error {
	there, err := db.prepared(ctx)
	if there || err != nil {
		return err
	}
	err = db.transact(ctx, func(t tx) error {
		if _, err := t.do(ctx, stmt{"SELECT pg_advisory_xact_lock($1)", []any{lockSchema}}); err != nil {
			return err
		}
		rows, err := one(t.do(ctx, stmt{sql: tables}))
		if err != nil || rows[0].bool() {
			return err
		}
		_, err = t.c.Exec(ctx, schema).ReadAll()
		return err
	})
	if err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	_, err = db.prepared(ctx)
	return err
}

const tables = "SELECT to_regclass('decant') IS NOT NULL"

// prepared reports whether the tables are there, and refuses those of another format.
func (db *database) prepared(ctx context.Context) (bool, error) {
	rows, err := db.rows(ctx, "SELECT current_setting('server_encoding'), current_setting('server_version_num')::int")
	if err != nil {
		return false, err
	}
	if encoding, version := rows[0].text(), rows[0].int(); encoding != "UTF8" || version < 150000 {
		return false, fmt.Errorf("a database of PostgreSQL 15 or newer with encoding UTF8 is needed, not %d with %s", version/10000, encoding)
	}
	if rows, err = db.rows(ctx, tables); err != nil || !rows[0].bool() {
		return false, err
	}
	rows, err = db.rows(ctx, "SELECT format FROM decant")
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && e.Code == "42703", err == nil && len(rows) != 1:
		return false, errors.New("its table decant is not Decant's: name another database, or another schema by the parameter search_path")
	case err == nil && rows[0].int() > format:
		err = store.ErrNewer
	}
	return true, err
}
