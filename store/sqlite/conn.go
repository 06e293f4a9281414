package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"time"
)

// conn is one connection with the statements prepared on it. One goroutine uses it at a time.
type conn struct {
	*sql.Conn
	sealing
	owner   *sql.DB // that is closed with the connection; nil: none
	stmts   map[string]*sql.Stmt
	directs map[string]directStmt
	args    []driver.NamedValue // of the direct statement that runs: one slice for all
}

// A directStmt is a statement of the driver's, without package sql around it: for what is done most
// often that would cost as much as the statement.
type directStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func newConn(ctx context.Context, db *sql.DB, s sealing) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, sealing: s, stmts: map[string]*sql.Stmt{}, directs: map[string]directStmt{}}, nil
}

// patience sets how long SQLite waits for another process.
func (c *conn) patience(ctx context.Context, d time.Duration) error {
	_, err := c.ExecContext(ctx, "PRAGMA busy_timeout = "+strconv.FormatInt(d.Milliseconds(), 10))
	return err
}

// stmt returns the prepared statement for query. Statements outlive the context of whoever needed
// them first.
func (c *conn) stmt(query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.PrepareContext(context.Background(), query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// direct calls do with the driver's statement for query and its parameters. Nothing interrupts what
// runs in it.
func (c *conn) direct(query string, args []any, do func(directStmt, []driver.NamedValue) error) error {
	return c.Raw(func(d any) error {
		s := c.directs[query]
		if s == nil {
			p, err := d.(driver.Conn).Prepare(query)
			if err != nil {
				return err
			}
			s = p.(directStmt) // the driver is the one that this package imports
			c.directs[query] = s
		}
		c.args = c.args[:0]
		for i, a := range args {
			if n, ok := a.(int); ok {
				a = int64(n) // the driver knows one type of integers
			}
			c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
		}
		return do(s, c.args)
	})
}

// change runs a statement and returns how many rows it changed.
func (c *conn) change(query string, args ...any) (n int64, err error) {
	err = c.direct(query, args, func(s directStmt, args []driver.NamedValue) error {
		res, err := s.ExecContext(context.Background(), args)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	return n, err
}

// first reads the columns of the first row, as many as dest has, in the driver's types: int64,
// float64, string, []byte. No row is sql.ErrNoRows.
func (c *conn) first(query string, args []any, dest []driver.Value) error {
	return c.direct(query, args, func(s directStmt, args []driver.NamedValue) error {
		rows, err := s.QueryContext(context.Background(), args)
		if err != nil {
			return err
		}
		if err = rows.Next(dest); errors.Is(err, io.EOF) {
			err = sql.ErrNoRows
		}
		return errors.Join(err, rows.Close())
	})
}

// each calls do for every row, with its columns in dest as first has them. do must not use c.
func (c *conn) each(query string, args []any, dest []driver.Value, do func()) error {
	return c.direct(query, args, func(s directStmt, args []driver.NamedValue) error {
		rows, err := s.QueryContext(context.Background(), args)
		if err != nil {
			return err
		}
		for err = rows.Next(dest); err == nil; err = rows.Next(dest) {
			do()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return errors.Join(err, rows.Close())
	})
}

func (c *conn) close() error {
	var errs []error
	if len(c.directs) > 0 {
		errs = append(errs, c.Raw(func(any) error {
			var errs []error
			for _, s := range c.directs {
				errs = append(errs, s.Close())
			}
			return errors.Join(errs...)
		}))
	}
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	errs = append(errs, c.Close())
	if c.owner != nil {
		errs = append(errs, c.owner.Close())
	}
	return errors.Join(errs...)
}

// scan returns a function that calls each for every row and closes rows.
func scan(rows *sql.Rows, err error) func(each func(*sql.Rows) error) error {
	return func(each func(*sql.Rows) error) error {
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}
