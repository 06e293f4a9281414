package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// conn is one connection with the statements prepared on it. One goroutine uses it at a time.
type conn struct {
	*sql.Conn
	stmts   map[string]*sql.Stmt
	directs map[string]directStmt
}

// A directStmt is a statement of the driver's, without package sql around it.
type directStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func newConn(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, stmts: map[string]*sql.Stmt{}, directs: map[string]directStmt{}}, nil
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

// direct is stmt for the driver's connection d, which is c's and known while a function given to
// Raw runs.
func (c *conn) direct(d driver.Conn, query string) (directStmt, error) {
	if s := c.directs[query]; s != nil {
		return s, nil
	}
	p, err := d.Prepare(query)
	if err != nil {
		return nil, err
	}
	s, ok := p.(directStmt)
	if !ok {
		return nil, errors.Join(errors.New("the driver's statements take no context"), p.Close())
	}
	c.directs[query] = s
	return s, nil
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
	return errors.Join(append(errs, c.Close())...)
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
