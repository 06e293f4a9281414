// Package postgres is a store in a PostgreSQL database (15 or newer), which many processes on many machines share.
//
// A commit is one statement in one round trip. It locks the conversation's row, compares the version and writes
// everything else only if that is right, at READ COMMITTED: whoever comes second waits, reads the row again and changes
// nothing. No session state outlives a statement and nothing is prepared, so a pooler in transaction mode may
// stand between.
//
// A commit is durable as the server's synchronous_commit says. Records and bookings do not wait for the disk: a crash of the
// server may lose the newest of them, never a decision.
//
// Contents are kept once for each tenant and compressed here, with S2. Nothing is encrypted by the store.
package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/decantdev/decant/store"
)

// Options configures what Open opens. The zero value is ready to use.
type Options struct {
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // gets what operators should know; nil: nothing is logged
}

// A database is a store in one PostgreSQL database.
type database struct {
	pool *pool
	now  func() time.Time
}

var _ store.Core = (*database)(nil)

// Open opens the database at an address, a postgres:// URL, and makes its tables if there are none. The password may come
// from the environment (PGPASSWORD, PGPASSFILE) instead. Beyond this machine the connection is encrypted and the
// server's certificate verified; an address that asks for less is refused. The parameter pool_max_conns of the address says
// how many connections there are at most, 10 by default.
//
// Errors never contain the address. One that wraps store.ErrUnreachable means that there was no server, store.ErrNewer that
// a newer version of Decant has changed the tables.
func Open(ctx context.Context, address string, o Options) (store.Store, error) {
	db, err := open(ctx, address, o)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL database: %w", err)
	}
	return store.Complete(db), nil
}

func open(ctx context.Context, address string, o Options) (*database, error) {
	p, err := newPool(address)
	if err != nil {
		return nil, err
	}
	db := &database{pool: p, now: o.Now}
	if db.now == nil {
		db.now = time.Now
	}
	if err := db.prepare(ctx); err != nil {
		p.close()
		return nil, translate(err)
	}
	return db, nil
}

// Ping implements store.Core.
func (db *database) Ping(ctx context.Context) error {
	rows, err := db.rows(ctx, "SELECT current_setting('transaction_read_only') = 'on' OR NOT has_table_privilege('conversations', 'UPDATE')")
	if err == nil && rows[0].bool() {
		err = store.ErrReadOnly
	}
	return wrap("ping", err)
}

// Close implements store.Core.
func (db *database) Close() error {
	db.pool.close()
	return nil
}

// wrap adds the step to an error, and translates the error into one of package store.
func wrap(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", step, translate(err))
}
