package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// translate adds to an error of the driver the condition of package store that it means.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w", store.ErrNotFound)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	for condition, codes := range map[error][]int{
		store.ErrFull:     {lib.SQLITE_FULL},
		store.ErrBusy:     {lib.SQLITE_BUSY, lib.SQLITE_LOCKED},
		store.ErrReadOnly: {lib.SQLITE_READONLY, lib.SQLITE_PERM},
		store.ErrCorrupt:  {lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB},
	} {
		for _, code := range codes {
			if e.Code()&0xff == code && !errors.Is(err, condition) {
				return fmt.Errorf("%w: %w", condition, err)
			}
		}
	}
	return err
}

// noBlob returns the error for a blob that is not stored.
func noBlob(h decant.Hash) error { return fmt.Errorf("blob %s: %w", h, store.ErrNotFound) }
