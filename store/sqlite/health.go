package sqlite

import (
	"context"
	"database/sql/driver"
)

// Ping reports whether the database answers. It costs the same whatever is kept.
func (db *DB) Ping(ctx context.Context) error {
	var row [1]driver.Value
	err := db.read(ctx, func(r *reader) error { return r.first("SELECT 1 FROM goose_db_version LIMIT 1", nil, row[:]) })
	return wrap("ask the database", err)
}
