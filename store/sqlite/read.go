package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
)

// A querier reads: within the writer's transaction, or on a connection of the read pool.
type querier interface {
	// row reads one row into dest. No row is sql.ErrNoRows.
	row(query string, args []any, dest ...any) error
	// rows calls each for every row.
	rows(query string, args []any, each func(*sql.Rows) error) error
	// vault returns how values are kept.
	vault() sealing
}

// readers is how many reads run at a time.
const readers = 8

// pool keeps the read connections. One is opened when all that are open are in use: to open one takes longer than most
// reads.
type pool struct {
	db    *sql.DB
	how   sealing
	busy  time.Duration // how long a read waits for another process
	turns chan struct{} // one for each read that may begin

	mu   sync.Mutex
	idle []*conn
}

func newPool(db *sql.DB, how sealing, busy time.Duration) *pool {
	p := &pool{db: db, how: how, busy: busy, turns: make(chan struct{}, readers)}
	for range readers {
		p.turns <- struct{}{}
	}
	return p
}

// use calls do with a connection of its own.
func (p *pool) use(ctx context.Context, do func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-p.turns:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { p.turns <- struct{}{} }()
	c := p.take()
	if c == nil {
		if c, err = p.open(ctx); err != nil {
			return err
		}
	}
	err = do(c)
	if errors.Is(err, sql.ErrConnDone) { // it broke: the next one opens another
		c.close()
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	return err
}

// open returns one more connection.
func (p *pool) open(ctx context.Context) (*conn, error) {
	c, err := newConn(ctx, p.db, p.how)
	if err != nil {
		return nil, err
	}
	if err = c.patience(ctx, p.busy); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// take returns the connection that was used last and is idle, nil when none is.
func (p *pool) take() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

// close waits for the reads under way.
func (p *pool) close() error {
	for range readers {
		<-p.turns
	}
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// read calls do with a querier, each of whose reads sees what is committed when it begins.
func (c *connections) read(ctx context.Context, do func(*reader) error) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return store.ErrClosed
	}
	if err := c.health.there(); err != nil {
		return err
	}
	err := c.pool.use(ctx, func(one *conn) error { return do(&reader{ctx, one}) })
	if err != nil {
		c.health.judge(err)
	}
	return err
}

// snapshot calls do with a querier all of whose reads see one moment.
func (c *connections) snapshot(ctx context.Context, do func(*reader) error) error {
	return c.read(ctx, func(r *reader) (err error) {
		// Not with ctx: a BEGIN that was carried out and then reported as cancelled would leave the
		// connection in the past.
		if _, err = r.ExecContext(context.Background(), "BEGIN DEFERRED"); err != nil {
			return err
		}
		defer func() {
			_, end := r.ExecContext(context.Background(), "ROLLBACK")
			err = errors.Join(err, end)
		}()
		return do(r)
	})
}

// reader is a querier on a connection of the pool.
type reader struct {
	ctx context.Context
	*conn
}

func (r *reader) row(query string, args []any, dest ...any) error {
	s, err := r.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(r.ctx, args...).Scan(dest...)
}

func (r *reader) rows(query string, args []any, each func(*sql.Rows) error) error {
	s, err := r.stmt(query)
	if err != nil {
		return err
	}
	return scan(s.QueryContext(r.ctx, args...))(each)
}

// rows calls each for every row of one query.
func (c *connections) rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error {
	return c.read(ctx, func(r *reader) error { return r.rows(query, args, each) })
}
