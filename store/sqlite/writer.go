package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/store"
)

// writer owns the one write connection. Whoever wants to write hands it an op; all ops that wait
// when a transaction ends become the next transaction.
type writer struct {
	tx   *tx
	ops  chan *op
	next *op           // received and not in a batch yet; only the loop uses it
	done chan struct{} // closed when the loop has ended
	busy time.Duration // how long an op waits for another process
	kept atomic.Bool   // another process keeps the loop waiting
	look func() error  // fails when what is written is lost

	setup string // what the connection needs before it writes for the first time; empty: nothing

	mu     sync.RWMutex // held for reading while sending to ops, for writing to close it
	closed bool
}

// An op is one writer's part of a transaction.
type op struct {
	do    func(*tx) error
	alone bool      // in a transaction of its own
	bare  bool      // in none
	until time.Time // how long it waits for another process
	err   error
	state atomic.Int32 // opWaiting, then one of the others
	done  chan struct{}
}

// try does it and keeps the error.
func (o *op) try(t *tx) error {
	o.err = o.do(t)
	return o.err
}

const (
	opWaiting int32 = iota
	opTaken         // it is being written: its outcome will be known soon
	opGone          // its caller has given up: do not start it
)

// batchSize bounds a transaction, and with it the time that a commit waits for its neighbours.
const batchSize = 128

// newWriter returns a writer with the connection c. It opens the log, so that both files are of one database, and has the
// loop wait instead of SQLite, see begin.
func newWriter(ctx context.Context, c *conn, setup string, busy time.Duration, look func() error) (*writer, error) {
	if _, err := c.ExecContext(ctx, "PRAGMA user_version"); err != nil {
		return nil, err
	}
	if err := c.patience(ctx, 0); err != nil {
		return nil, err
	}
	w := &writer{
		setup: setup,
		busy:  busy,
		look:  look,
		tx:    &tx{conn: c},
		ops:   make(chan *op, batchSize),
		done:  make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// write runs do within a transaction and returns when that has been committed, or do's error when
// it was rolled back. If ctx ends before do was started, do is never run; it is not started before this process may
// write, so that nobody waits for another one longer than he can. What changes many pages is
// better done alone: beside others each page would be copied first, to be put back if do fails.
func (w *writer) write(ctx context.Context, alone bool, do func(*tx) error) error {
	return w.wait(ctx, &op{do: do, alone: alone})
}

// outside runs do on the connection while no transaction is under way in this process, and waits for other processes
// in the way of SQLite.
func (w *writer) outside(ctx context.Context, do func(*tx) error) error {
	return w.wait(ctx, &op{alone: true, bare: true, do: func(t *tx) error {
		if err := t.patience(context.Background(), w.busy); err != nil {
			return err
		}
		return errors.Join(do(t), t.patience(context.Background(), 0))
	}})
}

// wait hands the loop an op and waits for its end.
func (w *writer) wait(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err // the selects below might choose otherwise
	}
	o.until, o.done = time.Now().Add(w.busy), make(chan struct{})
	if err := w.send(ctx, o); err != nil {
		return err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if o.state.CompareAndSwap(opWaiting, opGone) {
			if w.kept.Load() {
				return fmt.Errorf("%w: %w", store.ErrBusy, ctx.Err())
			}
			return ctx.Err()
		}
		<-o.done // started: wait for the truth
		return o.err
	}
}

func (w *writer) send(ctx context.Context, o *op) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return store.ErrClosed
	}
	select {
	case w.ops <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close lets the ops that were sent finish and releases the connection.
func (w *writer) close() error {
	w.stop()
	return w.tx.close()
}

// stop lets the ops that were sent finish.
func (w *writer) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.ops)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *writer) loop() {
	defer close(w.done)
	for o := range w.ops {
		for w.next = o; w.next != nil; {
			w.commit(w.gather())
		}
	}
}

// gather returns w.next and whatever else waits, up to a batch, without waiting itself.
func (w *writer) gather() (batch []*op) {
	for w.next != nil && len(batch) < batchSize {
		if len(batch) > 0 && (w.next.alone || batch[0].alone) {
			return batch
		}
		if w.next.state.Load() == opWaiting {
			batch = append(batch, w.next)
		}
		select {
		case w.next = <-w.ops: // nil when no more will come
		default:
			w.next = nil
		}
	}
	return batch
}

// commit runs the batch in one transaction and tells every op how it ended.
func (w *writer) commit(batch []*op) {
	if len(batch) == 1 && batch[0].bare {
		for _, o := range take(batch) {
			err := w.prepare()
			if err == nil {
				err = o.try(w.tx)
			}
			end(batch, err)
		}
		return
	}
	batch, err := w.begin(batch)
	if len(batch) == 0 {
		if err == nil {
			w.tx.rollback() // its caller has given up
		}
		return
	}
	if err == nil {
		err = w.run(batch)
	}
	end(batch, err)
}

// prepare makes the connection ready for the first transaction. Whoever only reads is spared that.
func (w *writer) prepare() error {
	if w.setup == "" {
		return nil
	}
	_, err := w.tx.ExecContext(context.Background(), w.setup)
	if err == nil {
		w.setup = ""
	}
	return err
}

// end tells ops that were taken how they ended: those without an error of their own by err.
func end(batch []*op, err error) {
	for _, o := range batch {
		if o.err == nil {
			o.err = err
		}
		close(o.done)
	}
}

// begin begins a transaction, as soon as no other process is within one, and returns the ops that are to run in it:
// those that still wait. When the error is not nil there is no transaction, and these must be told.
func (w *writer) begin(batch []*op) ([]*op, error) {
	defer w.kept.Store(false)
	for wait := time.Millisecond; len(batch) > 0; wait = min(2*wait, 20*time.Millisecond) {
		if err := w.look(); err != nil {
			return take(batch), err
		}
		err := w.prepare()
		if err == nil {
			err = w.tx.exec("BEGIN IMMEDIATE")
		}
		if err == nil {
			return take(batch), nil
		}
		w.tx.rollback() // of a transaction that would not end; the next one begins clean
		err = fmt.Errorf("begin: %w", translate(err))
		if !errors.Is(err, store.ErrBusy) {
			return take(batch), err
		}
		w.kept.Store(true)
		batch = patient(batch, err)
		if len(batch) > 0 {
			time.Sleep(wait)
		}
	}
	return nil, store.ErrBusy // they know
}

// patient returns the ops that may still wait for another process, and fails those that have waited long enough.
func patient(batch []*op, err error) (rest []*op) {
	now := time.Now()
	for _, o := range batch {
		switch {
		case o.state.Load() == opGone:
		case now.Before(o.until):
			rest = append(rest, o)
		default:
			end(take([]*op{o}), err)
		}
	}
	return rest
}

// take returns the ops that somebody still waits for, who from now on waits for their end.
func take(batch []*op) (taken []*op) {
	for _, o := range batch {
		if o.state.CompareAndSwap(opWaiting, opTaken) {
			taken = append(taken, o)
		}
	}
	return taken
}

// run returns an error when nothing of the batch was committed.
func (w *writer) run(batch []*op) error {
	if len(batch) == 1 { // the transaction is its savepoint
		if o := batch[0]; o.try(w.tx) != nil {
			w.tx.rollback()
			return nil
		}
	} else if err := w.tx.attempt(batch); err != nil {
		w.tx.rollback()
		return err
	}
	if err := w.tx.exec("COMMIT"); err != nil {
		w.tx.rollback()
		return fmt.Errorf("commit: %w", err)
	}
	if err := w.look(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// tx is the write connection within a transaction. Only the writer's goroutine uses it, and its
// statements do not end with anybody's context: a transaction that has begun must end.
type tx struct {
	*conn
	packer packer
	hashed hashRows
}

// attempt runs each op within a savepoint; an op's own error goes to the op. The error that it
// returns means that the transaction is lost.
func (t *tx) attempt(batch []*op) error {
	for _, o := range batch {
		if err := t.exec("SAVEPOINT op"); err != nil {
			return err
		}
		if o.try(t) != nil {
			if err := t.exec("ROLLBACK TO op"); err != nil {
				return errors.Join(o.err, err) // a full disk ends the whole transaction by itself
			}
		}
		if err := t.exec("RELEASE op"); err != nil {
			return err
		}
	}
	return nil
}

// rollback ends a transaction that failed. That it may have ended by itself is no error.
func (t *tx) rollback() { _ = t.exec("ROLLBACK") }

// exec runs a statement.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// row reads one row into dest. No row is sql.ErrNoRows.
func (t *tx) row(query string, args []any, dest ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRow(args...).Scan(dest...)
}

// rows implements querier.
func (t *tx) rows(query string, args []any, each func(*sql.Rows) error) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	return scan(s.Query(args...))(each)
}
