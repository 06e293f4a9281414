package sqlite

import (
	"context"
	"database/sql"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Findings implements store.Findings.
func (db *database) Findings(ctx context.Context, upstream, organization string) ([]store.Finding, error) {
	var out []store.Finding
	err := db.rows(ctx, "SELECT topic, value, time FROM findings WHERE upstream = ? AND organization = ? ORDER BY topic",
		[]any{upstream, organization}, func(rows *sql.Rows) error {
			f := store.Finding{Upstream: upstream, Organization: organization}
			var value []byte
			var at int64
			err := rows.Scan(&f.Topic, &value, &at)
			f.Time = form.Moment(at)
			if err == nil {
				err = db.how.opened(&f.Value, value, findingPlace(&f))
			}
			out = append(out, f)
			return err
		})
	return out, wrap("read findings", err)
}

// Find implements store.Findings.
func (db *database) Find(ctx context.Context, fs ...store.Finding) error {
	return wrap("store findings", db.write(ctx, func(t *tx) error {
		for i := range fs {
			f := &fs[i]
			err := t.exec(`INSERT INTO findings (upstream, organization, topic, value, time) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET value = excluded.value, time = excluded.time WHERE excluded.time >= findings.time`,
				f.Upstream, f.Organization, f.Topic, t.text(f.Value, findingPlace(f)), form.Micros(f.Time))
			if err != nil {
				return err
			}
		}
		return nil
	}))
}
