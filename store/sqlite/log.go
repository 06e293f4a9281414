package sqlite

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"github.com/decantdev/decant/store"
)

// Requests implements store.Log.
func (db *DB) Requests(ctx context.Context, k store.Key) ([]store.Request, error) {
	var out []store.Request
	err := db.rows(ctx, `SELECT id, time, version, length, api, model, fixed, frame, view, status, answer, stop, usage FROM requests
		WHERE tenant = ? AND conversation = ? ORDER BY time, id`, []any{k.Tenant, k.ID}, func(rows *sql.Rows) error {
		r, err := scanRequest(rows)
		out = append(out, r)
		return err
	})
	return out, wrap("read requests of "+k.ID, err)
}

func scanRequest(rows *sql.Rows) (r store.Request, err error) {
	var at int64
	var fixed, frame, view, answer, usage []byte
	err = rows.Scan(&r.ID, &at, &r.Version, &r.Length, &r.API, &r.Model, &fixed, &frame, &view, &r.Status, &answer, &r.Stop, &usage)
	if err != nil {
		return r, err
	}
	r.Time, r.Fixed, r.Frame, r.View, r.Answer = moment(at), hash(fixed), hash(frame), hash(view), hash(answer)
	return r, unmarshal(usage, &r.Usage)
}

// Spending implements store.Log.
func (db *DB) Spending(ctx context.Context, q store.SpendQuery) ([]store.Total, error) {
	until := int64(math.MaxInt64)
	if !q.Until.IsZero() {
		until = micros(q.Until)
	}
	where, args := "tenant = ? AND time >= ? AND time < ?", []any{q.Tenant, micros(q.Since), until}
	if q.Conversation != "" {
		where, args = where+" AND conversation = ?", append(args, q.Conversation)
	}
	sums := strings.Join([]string{
		"count(*) - sum(own), sum(own)",
		"sum(input), sum(cache_read), sum(cache_write), sum(write_1h), sum(output)",
		"sum(bare_input), sum(bare_cache_read), sum(bare_cache_write), sum(bare_write_1h), sum(bare_output)",
		"sum(cost), sum(cost * own), sum(bare), sum(rewrite)",
	}, ", ")
	var out []store.Total
	err := db.rows(ctx, "SELECT day, model, "+sums+" FROM spends WHERE "+where+" GROUP BY day, model ORDER BY day, model",
		args, func(rows *sql.Rows) error {
			t, err := scanTotal(rows)
			out = append(out, t)
			return err
		})
	return out, wrap("sum spending", err)
}

func scanTotal(rows *sql.Rows) (t store.Total, err error) {
	var days int64
	u, w := &t.Usage, &t.Without
	err = rows.Scan(&days, &t.Model, &t.Calls, &t.Own,
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.Write1h, &u.Output,
		&w.Input, &w.CacheRead, &w.CacheWrite, &w.Write1h, &w.Output,
		&t.Cost, &t.OwnCost, &t.Bare, &t.Rewrite)
	t.Day = time.Unix(days*86400, 0).UTC().Format(time.DateOnly)
	return t, err
}
