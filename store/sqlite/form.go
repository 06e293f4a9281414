package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// A rower is where one row can be asked for: a database or one of its connections.
type rower interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readable returns the format version of a database. The error says why it cannot be read as it is: its format is older
// or newer than the one that this program knows.
func readable(ctx context.Context, r rower, forms fs.FS) (have int64, err error) {
	if err = r.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return 0, fmt.Errorf("read the version: %w", err)
	}
	switch known := newestForm(forms); {
	case have > known:
		err = fmt.Errorf("its format is version %d and this program knows up to %d: %w", have, known, store.ErrNewer)
	case have < known:
		err = fmt.Errorf("its format is version %d and must be upgraded to %d; copy it to where it can be written: %w", have, known, store.ErrReadOnly)
	}
	return have, err
}

// newestForm returns the version of the format after all migrations.
func newestForm(forms fs.FS) (newest int64) {
	files, _ := fs.ReadDir(forms, "migrations") // part of the program
	for _, f := range files {
		newest = max(newest, version(f.Name()))
	}
	return newest
}

// version returns the version that a migration leads to.
func version(name string) int64 {
	digits, _, _ := strings.Cut(name, "_")
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// settle upgrades the format of a database, switches it to a write-ahead log, and for a new one decides whether it is
// encrypted. Others may do so at the same time, with another key or none: one is first, and the rest find the work done.
func settle(ctx context.Context, c *conn, d dsn, forms fs.FS, key *seal.Key) (how sealing, err error) {
	if err := begin(ctx, c, d.setup()); err != nil {
		return how, err
	}
	if err = migrate(ctx, c, forms); err == nil {
		how, err = decide(ctx, c, key)
	}
	if err != nil {
		_, _ = c.ExecContext(context.Background(), "ROLLBACK") // it may have ended by itself
		return how, err
	}
	if _, err = c.ExecContext(ctx, "COMMIT"); err == nil {
		err = logAhead(ctx, c, d.open)
	}
	if err != nil {
		return how, fmt.Errorf("upgrade its format: %w", err)
	}
	return how, nil
}

// logAhead switches a database to a write-ahead log. Whoever else writes is waited for here: SQLite does not wait, as it reads
// already when it finds that it has to write.
func logAhead(ctx context.Context, c *conn, patience time.Duration) error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		_, err := c.ExecContext(ctx, "PRAGMA journal_mode = wal")
		if !errors.Is(translate(err), store.ErrBusy) || time.Since(begun) > patience {
			return err
		}
	}
}

// begin waits until no other process is writing, and begins a transaction. The last setting is written, so it is what
// waits. It must come before the first page, which BEGIN IMMEDIATE would make, and by itself it would be a transaction more.
func begin(ctx context.Context, c *conn, setup string) error {
	for _, statement := range []string{setup, "BEGIN", "PRAGMA auto_vacuum = incremental"} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			if err = translate(err); errors.Is(err, store.ErrBusy) {
				return fmt.Errorf("its format must be upgraded: %w", err)
			}
			return err
		}
	}
	return nil
}

// migrate applies the migrations that a database lacks.
func migrate(ctx context.Context, c *conn, forms fs.FS) error {
	have, err := readable(ctx, c, forms)
	if !errors.Is(err, store.ErrReadOnly) {
		return err // nothing is to be done, or nothing can be
	}
	files, err := fs.ReadDir(forms, "migrations")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	for _, f := range files { // in the order of their versions
		if version(f.Name()) <= have {
			continue
		}
		script, err := fs.ReadFile(forms, "migrations/"+f.Name())
		if err != nil {
			return fmt.Errorf("read migrations: %w", err)
		}
		if _, err = c.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d", script, version(f.Name()))); err != nil {
			return fmt.Errorf("migrate by %s: %w", f.Name(), err)
		}
	}
	return nil
}
