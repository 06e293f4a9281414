package sqlite

import (
	"context"
	"database/sql"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var _ store.Auditor = (*database)(nil)

// Audit implements store.Auditor.
func (db *database) Audit(ctx context.Context, a store.Act) error {
	return wrap("write audit log", db.write(ctx, func(t *tx) error { return t.audit(a) }))
}

// audit adds an act within a transaction.
func (t *tx) audit(a store.Act) error {
	return t.exec("INSERT INTO acts (time, actor, action, tenant, target, detail) VALUES (?, ?, ?, ?, ?, ?)",
		form.Micros(a.Time), a.Actor, a.Action, a.Tenant, a.Target, t.text(a.Detail, actPlace(&a)))
}

// Acts implements store.Auditor.
func (db *database) Acts(ctx context.Context, q store.ActQuery) ([]store.Act, error) {
	where, args := "time >= ?", []any{form.Micros(q.Since)}
	if q.Tenant != nil {
		where, args = where+" AND tenant = ?", append(args, *q.Tenant)
	}
	if q.Limit <= 0 {
		q.Limit = -1
	}
	var out []store.Act
	err := db.rows(ctx, "SELECT * FROM (SELECT seq, time, actor, action, tenant, target, detail FROM acts WHERE "+where+" ORDER BY seq DESC LIMIT ?) ORDER BY seq",
		append(args, q.Limit), func(rows *sql.Rows) error {
			var a store.Act
			var at int64
			var detail []byte
			err := rows.Scan(&a.Number, &at, &a.Actor, &a.Action, &a.Tenant, &a.Target, &detail)
			a.Time = form.Moment(at)
			if err == nil {
				err = db.how.opened(&a.Detail, detail, actPlace(&a))
			}
			out = append(out, a)
			return err
		})
	return out, wrap("read audit log", err)
}
