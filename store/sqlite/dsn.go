package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver

	"github.com/decantdev/decant/store"
)

// dsn makes the data source names of one file.
type dsn struct {
	path string
	busy time.Duration // how long readers wait for another process
	open time.Duration // how long Open does
	sync string
	only string // how a database is opened that must not be written; empty: it may be
}

func newDSN(path string, o Options) dsn {
	d := dsn{path: path, busy: o.Busy, sync: "normal"}
	if d.busy == 0 {
		d.busy = 10 * time.Second
	}
	if d.open = o.Opening; d.open == 0 {
		d.open = d.busy
	}
	if o.SurvivePowerLoss {
		d.sync = "full"
	}
	return d
}

// checkpointPages is how long the write-ahead log gets before its pages are copied to the database:
// 16 MB. A page that many commits have changed is copied once, and the disk is flushed as rarely.
const checkpointPages = 4000

func (d dsn) write() string {
	return d.with(d.open, "_txlock=immediate", "_pragma=auto_vacuum(incremental)", "_pragma=synchronous("+d.sync+")",
		"_pragma=journal_mode(wal)", "_pragma=cache_size(-16000)", "_pragma=journal_size_limit(67108864)",
		"_pragma=wal_autocheckpoint("+strconv.Itoa(checkpointPages)+")")
}

func (d dsn) read() string {
	return d.with(d.busy, "_pragma=query_only(1)", "_pragma=cache_size(-8000)", "_pragma=temp_store(memory)")
}

// with returns the URI of the file. The path is escaped, because the driver would cut it at a
// question mark.
func (d dsn) with(wait time.Duration, params ...string) string {
	busy := "_pragma=busy_timeout(" + strconv.FormatInt(wait.Milliseconds(), 10) + ")"
	p := (&url.URL{Path: filepath.ToSlash(d.path)}).EscapedPath()
	if d.only != "" {
		params = append(params, d.only)
	}
	return "file:" + p + "?" + strings.Join(append([]string{busy}, params...), "&")
}

//go:embed migrations/*.sql
var migrations embed.FS

// free waits until no other process is writing to a database whose form must be brought up to date.
func free(ctx context.Context, w *sql.DB) error {
	if _, err := w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		if err = translate(err); errors.Is(err, store.ErrBusy) {
			return fmt.Errorf("its form must be brought up to date: %w", err)
		}
		return nil // what is wrong the migrations will say
	}
	_, err := w.ExecContext(ctx, "ROLLBACK")
	return err
}

// migrate brings the form of the database up to date. Two processes may do it at once: each
// migration is one immediate transaction, so the later one fails and finds the work done.
func migrate(ctx context.Context, w *sql.DB, forms fs.FS) error {
	if err := readable(ctx, w, forms); err == nil || errors.Is(err, store.ErrNewer) {
		return err // nothing will be written
	}
	if err := free(ctx, w); err != nil {
		return err
	}
	files, err := fs.Sub(forms, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, w, files, goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	for range len(p.ListSources()) + 1 { // another process may be first with each of them
		if _, err = p.Up(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return readable(ctx, w, forms)
}
