package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	driver "modernc.org/sqlite"

	"github.com/decantdev/decant/store"
)

// A Database is what Open returns, with what only tests ask of it.
type Database = database

// OpenDatabase is Open.
func OpenDatabase(ctx context.Context, path string, o Options) (*Database, error) {
	return openAs(ctx, path, o, migrations)
}

// Pragma runs a statement on the write connection.
func (db *database) Pragma(t *testing.T, statement string) {
	t.Helper()
	err := db.write(t.Context(), func(x *tx) error {
		return x.rows(statement, nil, func(*sql.Rows) error { return nil })
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// OpenNext opens a database as a program does that knows one form more: what a migration makes of the present one.
func OpenNext(ctx context.Context, path string, o Options, migration string) (*database, error) {
	return openAs(ctx, path, o, nextForm(migration))
}

// nextForm returns the migrations with one more.
func nextForm(migration string) fs.FS {
	all := fstest.MapFS{}
	files, _ := fs.Glob(migrations, "migrations/*")
	for _, name := range files {
		data, _ := fs.ReadFile(migrations, name) // part of the program
		all[name] = &fstest.MapFile{Data: data}
	}
	name := fmt.Sprintf("migrations/%05d_next.sql", newestForm(migrations)+1)
	all[name] = &fstest.MapFile{Data: []byte(migration)}
	return all
}

// Hold keeps a write transaction open until release is called.
func (db *database) Hold(t *testing.T) (release func()) {
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
func (db *database) Row(t *testing.T, query string, columns int) string {
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

// Statements returns all statements that the database has run so far, in their order as texts.
func (db *database) Statements() []string {
	all := map[string]bool{}
	db.eachConn(func(c *conn) {
		for q := range c.stmts {
			all[q] = true
		}
		for q := range c.directs {
			all[q] = true
		}
	})
	return slices.Sorted(maps.Keys(all))
}

// Explain returns the steps by which a statement reads.
func (db *database) Explain(t *testing.T, statement string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(statement, "?"))
	for i := range args {
		args[i] = 0
	}
	err := db.rows(t.Context(), "EXPLAIN QUERY PLAN "+statement, args, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return steps
}

// Pages returns how many pages of the database the connections have looked at so far, in memory or in the file.
func (db *database) Pages(t *testing.T) (n int) {
	t.Helper()
	count := func(c *conn) {
		err := c.Raw(func(d any) error {
			for _, op := range []driver.DBStatusOp{driver.DBStatusCacheHit, driver.DBStatusCacheMiss} {
				pages, _, err := d.(driver.DBStatus).Status(op, false)
				if err != nil {
					return err
				}
				n += pages
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	db.eachConn(count)
	return n
}

// eachConn calls do with every connection. Nobody uses the database meanwhile.
func (db *database) eachConn(do func(*conn)) {
	do(db.writer.tx.conn)
	for _, c := range db.pool.idle {
		do(c)
	}
}

// Idle returns how many read connections are open. Nobody uses the database meanwhile.
func (db *database) Idle() int { return len(db.pool.idle) }

// OpenReadOnly opens a database as one is opened that must not be written.
func OpenReadOnly(ctx context.Context, path string) (*database, error) {
	return openReadOnly(ctx, path, migrations)
}

// OpenReadOnlyNext is OpenReadOnly for a program that knows one form more.
func OpenReadOnlyNext(ctx context.Context, path, migration string) (*database, error) {
	return openReadOnly(ctx, path, nextForm(migration))
}

func openReadOnly(ctx context.Context, path string, forms fs.FS) (*database, error) {
	db := &database{now: time.Now, connections: connections{
		path: path, forms: forms, dsn: newDSN(path, Options{}), health: health{log: slog.New(slog.DiscardHandler)},
	}}
	err := db.openReadOnly(ctx)
	if err != nil {
		db.shut()
		return nil, err
	}
	return db, nil
}

// Exec runs a statement on the write connection.
func (db *database) Exec(ctx context.Context, statement string) error {
	return db.write(ctx, func(x *tx) error { return x.exec(statement) })
}

// Tables returns what is done with each column, "table.column", of an encrypted database, and which are kept in clear.
func Tables() (known map[string]bool, clear []string) {
	known = map[string]bool{}
	for name, t := range tables {
		for _, c := range strings.Fields(strings.Join([]string{t.clear, t.sealed, t.named, t.short, t.masked, t.listed}, " ")) {
			known[name+"."+c] = true
		}
		for _, c := range strings.Fields(t.clear) {
			clear = append(clear, name+"."+c)
		}
	}
	slices.Sort(clear)
	return known, clear
}

// ForgetUncleaned is Forget without cleaning the files, so that what it has removed can still be in them.
func (db *database) ForgetUncleaned(ctx context.Context, ids ...string) (*store.Proof, error) {
	c := &collector{Collected: &store.Collected{}, write: db.write, pieces: newPieces()}
	if err := c.forgetAll(ctx, &store.Forgetting{Conversations: ids}); err != nil {
		return nil, err
	}
	return db.prove(ctx, c.pieces)
}

// Find returns which pieces stand in what r gives, and how much that was.
func Find(r io.Reader, list ...string) ([]string, int64, error) {
	f := newFinder(list)
	n, err := f.read(r)
	return f.left(), n, err
}
