package postgres

import (
	"context"
	"math"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Requests implements store.Log.
func (db *database) Requests(ctx context.Context, k store.Key) ([]store.Request, error) {
	out, err := db.requests(ctx, "ORDER BY time, id", k.Tenant, k.ID)
	return out, wrap("read requests of "+k.ID, err)
}

// Standing implements store.Log.
func (db *database) Standing(ctx context.Context, k store.Key, limit int) ([]store.Request, error) {
	out, err := db.requests(ctx, `AND NOT EXISTS (SELECT 1 FROM segments s WHERE s.tenant = r.tenant AND s.conversation = r.conversation
		AND s.version > r.version AND s.position <= r.length) ORDER BY id DESC LIMIT $3`, k.Tenant, k.ID, limit)
	return out, wrap("read the newest requests of "+k.ID, err)
}

// requests reads requests of a conversation. rest is the end of the query.
func (db *database) requests(ctx context.Context, rest string, args ...any) (out []store.Request, err error) {
	rows, err := db.rows(ctx, "SELECT time, version, record FROM requests r WHERE tenant = $1 AND conversation = $2 "+rest, args...)
	for i := 0; i < len(rows) && err == nil; i++ {
		r := &rows[i]
		var record requestRecord
		at, version := r.moment(), r.int64()
		err = form.Unmarshal(r.bytes(), &record)
		record.Time, record.Version = at, version
		if record.Planned != nil {
			record.Planned.Decisions = record.Decisions
		}
		out = append(out, record.Request)
	}
	return out, err
}

const sums = `sum(1 - own), sum(own),
	sum(input)::bigint, sum(cache_read)::bigint, sum(cache_write)::bigint, sum(write_1h)::bigint, sum(output)::bigint,
	sum(bare_input)::bigint, sum(bare_cache_read)::bigint, sum(bare_cache_write)::bigint, sum(bare_write_1h)::bigint, sum(bare_output)::bigint,
	sum(cost)::bigint, sum(cost * own)::bigint, sum(bare)::bigint, sum(rewrite)::bigint,
	sum(oversized), sum(oversized * (input + cache_read + cache_write))::bigint,
	sum(oversized * (bare_input + bare_cache_read + bare_cache_write))::bigint, sum(oversized * cost)::bigint, sum(oversized * bare)::bigint,
	sum(trial), sum(trial * (input + cache_read + cache_write))::bigint, sum(trial_prompt)::bigint, sum(trial * cost)::bigint, sum(trial_cost)::bigint,
	count(*) FILTER (WHERE purpose = '` + store.ForCache + `'), coalesce(sum(cost) FILTER (WHERE purpose = '` + store.ForCache + `'), 0)::bigint`

// Spending implements store.Log.
func (db *database) Spending(ctx context.Context, q store.SpendQuery) (out []store.Total, err error) {
	rows, err := db.rows(ctx, "SELECT day, model, "+sums+` FROM spends WHERE tenant = $1 AND time >= $2 AND time < $3
		AND ($4 = '' OR conversation = $4) GROUP BY day, model ORDER BY day, model`, q.Tenant, q.Since, until(q, form.Micros), q.Conversation)
	for i := range rows {
		out = append(out, scanTotal(&rows[i]))
	}
	return out, wrap("sum spending", err)
}

// until returns the end of a query's time by a measure, the last there is if it has none.
func until(q store.SpendQuery, measure func(time.Time) int64) int64 {
	if q.Until.IsZero() {
		return math.MaxInt64
	}
	return measure(q.Until)
}

func scanTotal(r *row) (t store.Total) {
	t.Day = time.Unix(r.int64()*86400, 0).UTC().Format(time.DateOnly)
	t.Model, t.Calls, t.Own = r.text(), r.int(), r.int()
	for _, n := range []*int{
		&t.Usage.Input, &t.Usage.CacheRead, &t.Usage.CacheWrite, &t.Usage.Write1h, &t.Usage.Output,
		&t.Without.Input, &t.Without.CacheRead, &t.Without.CacheWrite, &t.Without.Write1h, &t.Without.Output,
	} {
		*n = r.int()
	}
	t.Cost, t.OwnCost, t.Bare, t.Rewrite = r.money(), r.money(), r.money(), r.money()
	t.Over = store.Excess{Calls: r.int(), Sent: r.int(), Without: r.int(), Cost: r.money(), Bare: r.money()}
	t.Trials = store.Trials{Calls: r.int(), Sent: r.int(), Prompt: r.int(), Cost: r.money(), Would: r.money()}
	t.Warm, t.WarmCost = r.int(), r.money()
	return t
}

// Spent implements store.Log.
func (db *database) Spent(ctx context.Context, q store.SpendQuery) (store.Sum, error) {
	query, args := "SELECT coalesce(sum(tokens), 0)::bigint, coalesce(sum(cost), 0)::bigint FROM spent WHERE tenant = $1 AND day >= $2 AND day < $3",
		[]any{q.Tenant, form.Day(q.Since), until(q, form.Day)}
	if q.Conversation != "" {
		query, args = "SELECT spent_tokens, spent_cost FROM conversations WHERE tenant = $1 AND id = $2", []any{q.Tenant, q.Conversation}
	}
	rows, err := db.rows(ctx, query, args...)
	if err != nil || len(rows) == 0 {
		return store.Sum{}, wrap("sum spending", err)
	}
	return store.Sum{Tokens: rows[0].int(), Cost: rows[0].money()}, nil
}
