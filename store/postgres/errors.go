package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// conditions are what PostgreSQL's codes of errors mean.
var conditions = map[string]error{
	"53100": store.ErrFull,        // disk full
	"25006": store.ErrReadOnly,    // a standby, or default_transaction_read_only
	"42501": store.ErrReadOnly,    // no privilege
	"40001": store.ErrBusy,        // could not be serialized
	"40P01": store.ErrBusy,        // deadlock
	"55P03": store.ErrBusy,        // lock_timeout
	"57014": store.ErrBusy,        // statement_timeout
	"53300": store.ErrBusy,        // too many connections
	"57P01": store.ErrUnreachable, // shutting down
	"57P02": store.ErrUnreachable,
	"57P03": store.ErrUnreachable, // starting up
	"22021": store.ErrInvalid,     // a text that is no text
	"22P05": store.ErrInvalid,
	"XX001": store.ErrCorrupt,
	"XX002": store.ErrCorrupt,
}

// translate adds to an error of the driver the condition of package store that it means. What it adds and keeps says
// nothing of the database's address but its host and its user.
func translate(err error) error {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) && !errors.Is(err, context.Canceled) { // its own time limit ends a context, too
		return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		if c, ok := conditions[e.Code]; ok && !errors.Is(err, c) {
			return fmt.Errorf("%w: %w", c, err)
		}
		return err
	}
	var broken net.Error
	if errors.As(err, &broken) || pgconn.SafeToRetry(err) {
		return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	return err
}

// noBlob returns the error for a blob that is not stored.
func noBlob(h decant.Hash) error { return fmt.Errorf("blob %s: %w", h, store.ErrNotFound) }

// noConversation returns the error for a conversation that is not stored.
func noConversation(id string) error { return fmt.Errorf("conversation %s: %w", id, store.ErrNotFound) }
