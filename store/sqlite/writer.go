package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/decantdev/decant/store"
)

// writer owns the one write connection. Whoever wants to write hands it an op; all ops that wait
// when a transaction ends become the next transaction.
type writer struct {
	tx   *tx
	ops  chan *op
	next *op           // received and not in a batch yet; only the loop uses it
	done chan struct{} // closed when the loop has ended

	mu     sync.RWMutex // held for reading while sending to ops, for writing to close it
	closed bool
}

// An op is one writer's part of a transaction.
type op struct {
	do    func(*tx) error
	alone bool // in a transaction of its own
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
	opGone          // nobody waits for it any longer: do not start it
)

// batchSize bounds a transaction, and with it the time that a commit waits for its neighbours.
const batchSize = 128

func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := newConn(ctx, db)
	if err != nil {
		return nil, err
	}
	w := &writer{
		tx:   &tx{conn: conn},
		ops:  make(chan *op, batchSize),
		done: make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// write runs do within a transaction and returns when that has been committed, or do's error when
// it was rolled back. If ctx ends before do was started, do is never run. What changes many pages is
// better done alone: beside others each page would be copied first, to be put back if do fails.
func (w *writer) write(ctx context.Context, alone bool, do func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err // the selects below might choose to go on
	}
	o := &op{do: do, alone: alone, done: make(chan struct{})}
	if err := w.send(ctx, o); err != nil {
		return err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if o.state.CompareAndSwap(opWaiting, opGone) {
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
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.ops)
	}
	w.mu.Unlock()
	<-w.done
	return w.tx.close()
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
		if w.next.state.CompareAndSwap(opWaiting, opTaken) {
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
	if len(batch) == 0 {
		return
	}
	if err := w.run(batch); err != nil {
		for _, o := range batch {
			if o.err == nil {
				o.err = err
			}
		}
	}
	for _, o := range batch {
		close(o.done)
	}
}

// run returns an error when nothing of the batch was committed.
func (w *writer) run(batch []*op) error {
	if err := w.tx.exec("BEGIN IMMEDIATE"); err != nil {
		w.tx.rollback() // of a transaction that would not end; the next one begins clean
		return fmt.Errorf("begin: %w", err)
	}
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
	return nil
}

// tx is the write connection within a transaction. Only the writer's goroutine uses it, and its
// statements do not end with anybody's context: a transaction that has begun must end.
type tx struct {
	*conn
	packer packer
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
