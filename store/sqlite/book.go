package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Book implements store.Committer. A row that is replaced is removed first, so that the sums are kept.
func (db *database) Book(ctx context.Context, k store.Key, spends []store.Spend) error {
	ev := events{Events: &store.Events{}, Key: k}
	err := db.write(ctx, func(t *tx) error {
		for i := range spends {
			s := spends[i] // not the caller's: its time may change
			var at int64
			switch err := t.row("SELECT time FROM spends WHERE tenant = ? AND id = ?", []any{k.Tenant, s.ID}, &at); {
			case err == nil:
				s.Time = form.Moment(at)
			case !errors.Is(err, sql.ErrNoRows):
				return err
			}
			if err := t.exec("DELETE FROM spends WHERE tenant = ? AND id = ?", k.Tenant, s.ID); err != nil {
				return err
			}
			if err := ev.spend(t, &s); err != nil {
				return fmt.Errorf("spend %s: %w", s.ID, err)
			}
		}
		return nil
	})
	return wrap("book", err)
}
