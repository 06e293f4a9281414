package sqlite

import (
	"context"
	"database/sql"
	"io/fs"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/decantdev/decant/store"
)

// Pragma runs a statement on the write connection.
func (db *DB) Pragma(t *testing.T, statement string) {
	t.Helper()
	err := db.write(t.Context(), func(x *tx) error {
		return x.rows(statement, nil, func(*sql.Rows) error { return nil })
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Downgrade gives the database at path the form that it had at a version.
func Downgrade(ctx context.Context, path string, version int64) error {
	db, err := sql.Open("sqlite", newDSN(path, Options{}).write())
	if err != nil {
		return err
	}
	defer db.Close()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = p.DownTo(ctx, version)
	return err
}

// DefaultPathOn is DefaultPath on another system.
var DefaultPathOn = defaultPath

// Hold keeps a write transaction open until release is called.
func (db *DB) Hold(t *testing.T) (release func()) {
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.write(t.Context(), func(x *tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	return func() {
		close(end)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Row returns the columns of the one row that a query gives, with bars between them.
func (db *DB) Row(t *testing.T, query string, columns int) string {
	t.Helper()
	cells := make([]string, columns)
	dest := make([]any, columns)
	for i := range cells {
		dest[i] = &cells[i]
	}
	if err := db.rows(t.Context(), query, nil, func(rows *sql.Rows) error { return rows.Scan(dest...) }); err != nil {
		t.Fatal(err)
	}
	return strings.Join(cells, "|")
}

// EncodeSegment returns the data of a segment with the entries.
func EncodeSegment(entries []store.Entry) []byte {
	data := newSegment(len(entries))
	for i := range entries {
		data = appendEntry(data, &entries[i])
	}
	return data
}

// DecodeSegment returns the entries of a segment that begins a chain.
func DecodeSegment(data []byte) ([]store.Entry, error) { return appendSegment(nil, data) }

// Exec runs a statement on the write connection.
func (db *DB) Exec(ctx context.Context, statement string) error {
	return db.write(ctx, func(x *tx) error { return x.exec(statement) })
}
