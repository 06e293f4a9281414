package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/decantdev/decant/store"
)

// A stmt is a statement with its parameters.
type stmt struct {
	sql  string
	args []any
}

// A querier runs statements in one round trip, all or none, and returns the rows of each.
type querier interface {
	do(ctx context.Context, stmts ...stmt) ([][]row, error)
}

// tries is how often statements are tried that a deadlock has ended, or that were not sent because the connection had broken.
const tries = 4

// do implements querier, each time in a transaction of its own.
func (db *database) do(ctx context.Context, stmts ...stmt) (out [][]row, err error) {
	for range tries {
		err = db.pool.use(ctx, func(c *pgconn.PgConn) (err error) {
			out, err = send(ctx, c, stmts)
			return err
		})
		if !again(err) {
			break
		}
	}
	return out, err
}

// rows returns the rows of one statement.
func (db *database) rows(ctx context.Context, sql string, args ...any) ([]row, error) {
	return one(db.do(ctx, stmt{sql, args}))
}

// one returns the rows of the last statement.
func one(results [][]row, err error) ([]row, error) {
	if err != nil {
		return nil, err
	}
	return results[len(results)-1], nil
}

// snapshot runs statements that only read and that see one moment. The first and the last result are empty.
func (db *database) snapshot(ctx context.Context, stmts ...stmt) ([][]row, error) {
	all := append([]stmt{{sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}}, stmts...)
	return db.do(ctx, append(all, stmt{sql: "COMMIT"})...)
}

// change runs one statement and returns how many rows it returned.
func change(ctx context.Context, q querier, sql string, args ...any) (int, error) {
	rows, err := one(q.do(ctx, stmt{sql, args}))
	return len(rows), err
}

// again reports whether what failed has done nothing and may succeed now.
func again(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code == "40P01" || e.Code == "40001"
	}
	return err != nil && pgconn.SafeToRetry(err)
}

// A tx is a transaction of several round trips.
type tx struct{ c *pgconn.PgConn }

func (t tx) do(ctx context.Context, stmts ...stmt) ([][]row, error) { return send(ctx, t.c, stmts) }

// transact runs do in a transaction, again after a deadlock.
func (db *database) transact(ctx context.Context, do func(tx) error) (err error) {
	for range tries {
		err = db.pool.use(ctx, func(c *pgconn.PgConn) error {
			t := tx{c}
			if _, err := t.do(ctx, stmt{sql: "BEGIN"}); err != nil {
				return err
			}
			if err := do(t); err != nil {
				_, undone := t.do(context.WithoutCancel(ctx), stmt{sql: "ROLLBACK"})
				return errors.Join(err, undone)
			}
			_, err := t.do(ctx, stmt{sql: "COMMIT"})
			return err
		})
		if !again(err) {
			break
		}
	}
	return err
}

// send runs statements in one round trip.
func send(ctx context.Context, c *pgconn.PgConn, stmts []stmt) ([][]row, error) {
	var b pgconn.Batch
	for _, s := range stmts {
		values, types, formats := encode(s.args)
		b.ExecParams(s.sql, values, types, formats, []int16{1})
	}
	results, err := c.ExecBatch(ctx, &b).ReadAll()
	if err != nil {
		return nil, err
	}
	out := make([][]row, len(results))
	for i, r := range results {
		if r.Err != nil {
			return nil, r.Err
		}
		for _, cells := range r.Rows {
			out[i] = append(out[i], row{cells: cells})
		}
	}
	return out, nil
}

// A pool keeps connections.
type pool struct {
	cfg   *pgconn.Config
	turns chan struct{} // one for each connection that may be used

	mu     sync.Mutex
	idle   []idle // the one last used comes last
	closed bool
}

// An idle connection, and since when it is that.
type idle struct {
	*pgconn.PgConn
	since time.Time
}

// rested is how long a connection may be idle before it is examined, and spent how long before it is closed.
const (
	rested = time.Second
	spent  = 5 * time.Minute
)

func newPool(address string) (*pool, error) {
	cfg, most, err := parse(address)
	if err != nil {
		return nil, err
	}
	p := &pool{cfg: cfg, turns: make(chan struct{}, most)}
	for range most {
		p.turns <- struct{}{}
	}
	return p, nil
}

// use calls do with a connection of its own.
func (p *pool) use(ctx context.Context, do func(*pgconn.PgConn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-p.turns:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { p.turns <- struct{}{} }()
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	if err = do(c); err != nil && c.IsClosed() && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", store.ErrUnreachable, err) // it broke
	}
	p.give(c)
	return err
}

// take returns an idle connection, or a new one.
func (p *pool) take(ctx context.Context) (*pgconn.PgConn, error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, store.ErrClosed
		}
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return pgconn.ConnectConfig(ctx, p.cfg)
		}
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if time.Since(c.since) < rested || c.Ping(ctx) == nil {
			return c.PgConn, nil
		}
		c.Close(ctx)
	}
}

// give takes a connection back, and closes those that nobody has needed for long.
func (p *pool) give(c *pgconn.PgConn) {
	var old []idle
	p.mu.Lock()
	if p.closed || c.IsClosed() || c.TxStatus() != 'I' {
		old = append(old, idle{PgConn: c})
	} else {
		p.idle = append(p.idle, idle{c, time.Now()})
		n := slices.IndexFunc(p.idle, func(i idle) bool { return time.Since(i.since) < spent })
		old = slices.Clone(p.idle[:n])
		p.idle = slices.Delete(p.idle, 0, n)
	}
	p.mu.Unlock()
	for _, c := range old {
		c.Close(context.Background())
	}
}

// close waits for the uses under way.
func (p *pool) close() {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	p.mu.Unlock()
	if was {
		return
	}
	for range cap(p.turns) {
		<-p.turns
	}
	for _, c := range p.idle {
		c.Close(context.Background())
	}
	p.idle = nil
	for range cap(p.turns) { // whoever comes later learns that it is closed
		p.turns <- struct{}{}
	}
}
