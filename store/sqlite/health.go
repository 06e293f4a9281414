package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/store"
)

// Ping reports whether the database can be read and, as far as the last seconds have shown, written. It costs the same
// whatever is kept.
func (db *database) Ping(ctx context.Context) error {
	if db.readOnly() {
		return fmt.Errorf("%w: %s", store.ErrReadOnly, db.path)
	}
	var row [1]driver.Value
	err := db.read(ctx, func(r *reader) error { return r.first("SELECT one FROM encryption", nil, row[:]) })
	if err == nil {
		err = db.health.lately()
	}
	return wrap("ask the database", err)
}

const (
	glance  = time.Second      // how often readers look whether the files are still there
	illness = 10 * time.Second // how long a failure counts that nothing has disproved
)

// health is what is known about the state of a database.
type health struct {
	anchorage
	looked atomic.Int64 // when it was last looked whether the files are there, in nanoseconds since 1970
	absent atomic.Pointer[error]
	ill    atomic.Pointer[ailment]
	log    *slog.Logger
}

// An ailment is a failure that means more than the one operation.
type ailment struct {
	error
	time time.Time
}

// there returns an error when the files are no longer there, by a look that is at most a glance old.
func (h *health) there() error {
	now := time.Now().UnixNano()
	if was := h.looked.Load(); now-was >= int64(glance) && h.looked.CompareAndSwap(was, now) {
		return h.look()
	}
	if err := h.absent.Load(); err != nil {
		return *err
	}
	return nil
}

// look checks whether the files are there. It logs once that they are gone, and once that they are back.
func (h *health) look() error {
	err := h.moved()
	if err == nil {
		if was := h.absent.Swap(nil); was != nil {
			h.log.Warn("the database is back in its place; what comes from now on is kept")
		}
		return nil
	}
	if h.absent.Swap(&err) == nil {
		h.log.Error("nothing is kept until the database is back in its place", "error", err)
	}
	return err
}

// judge notes what the end of an operation says about the database.
func (h *health) judge(err error) {
	switch err = translate(err); {
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrCorrupt):
		h.ill.Store(&ailment{err, time.Now()})
	}
}

// lately returns the newest failure that still counts, or nil.
func (h *health) lately() error {
	if a := h.ill.Load(); a != nil && time.Since(a.time) < illness {
		return a.error
	}
	return nil
}
