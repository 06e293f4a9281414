package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Requests implements store.Log.
func (db *database) Requests(ctx context.Context, k store.Key) ([]store.Request, error) {
	out, err := db.requests(ctx, k, "ORDER BY time, id")
	return out, wrap("read requests of "+k.ID, err)
}

// Standing implements store.Log.
func (db *database) Standing(ctx context.Context, k store.Key, limit int) ([]store.Request, error) {
	out, err := db.requests(ctx, k, `AND NOT EXISTS (SELECT 1 FROM segments s WHERE s.tenant = r.tenant AND s.conversation = r.conversation
		AND s.version > r.version AND s.position <= r.length) ORDER BY id DESC LIMIT ?`, limit)
	return out, wrap("read the newest requests of "+k.ID, err)
}

// requests reads the requests of a conversation. rest is the end of the query, with parameters of its own.
func (db *database) requests(ctx context.Context, k store.Key, rest string, args ...any) (out []store.Request, err error) {
	err = db.rows(ctx, `SELECT id, time, version, length, api, model, fixed, frame, view, status, broken, answer, answer_id, stop, usage, planned, plan FROM requests r
		WHERE tenant = ? AND conversation = ? `+rest, append([]any{k.Tenant, k.ID}, args...), func(rows *sql.Rows) error {
		r, err := db.scanRequest(k, rows)
		out = append(out, r)
		return err
	})
	return out, err
}

func (db *database) scanRequest(k store.Key, rows *sql.Rows) (r store.Request, err error) {
	var at int64
	var fixed, frame, view, answer, stop, usage, planned, plan []byte
	err = rows.Scan(&r.ID, &at, &r.Version, &r.Length, &r.API, &r.Model, &fixed, &frame, &view, &r.Status, &r.Broken, &answer, &r.AnswerID, &stop, &usage, &planned, &plan)
	if err != nil {
		return r, err
	}
	s, t := db.how, k.Tenant
	r.Time, r.Fixed, r.Frame, r.View, r.Answer = form.Moment(at), s.unhash(t, fixed), s.unhash(t, frame), s.unhash(t, view), s.unhash(t, answer)
	if err = s.opened(&r.Stop, stop, requestPlace(k, "requests.stop", r.ID)); err != nil {
		return r, fmt.Errorf("request %s: %w", r.ID, err)
	}
	if planned, err = s.open(planned, requestPlace(k, "requests.planned", r.ID)); err != nil {
		return r, fmt.Errorf("request %s: %w", r.ID, err)
	}
	if len(planned) > 0 {
		r.Planned = &store.Planned{Decisions: s.unhash(t, plan)}
		if err := form.Unmarshal(planned, r.Planned); err != nil {
			return r, err
		}
	}
	var u form.UsageColumn
	err = form.Unmarshal(usage, &u)
	r.Usage, r.Writes = u.Usage, u.Writes
	return r, err
}

// Spending implements store.Log.
func (db *database) Spending(ctx context.Context, q store.SpendQuery) ([]store.Total, error) {
	until := int64(math.MaxInt64)
	if !q.Until.IsZero() {
		until = form.Micros(q.Until)
	}
	// The index is named: without statistics SQLite prefers the primary key, and reads all that the tenant has.
	from, args := "spends INDEXED BY spends_time WHERE tenant = ? AND time >= ? AND time < ?", []any{q.Tenant, form.Micros(q.Since), until}
	if q.Conversation != "" {
		from, args = "spends INDEXED BY spends_conversation WHERE tenant = ? AND time >= ? AND time < ? AND conversation = ?", append(args, q.Conversation)
	}
	sums := strings.Join([]string{
		"count(*) - sum(own), sum(own)",
		"sum(input), sum(cache_read), sum(cache_write), sum(write_1h), sum(output)",
		"sum(bare_input), sum(bare_cache_read), sum(bare_cache_write), sum(bare_write_1h), sum(bare_output)",
		"sum(cost), sum(cost * own), sum(bare), sum(rewrite)",
		"sum(oversized), sum(oversized * (input + cache_read + cache_write)), sum(oversized * (bare_input + bare_cache_read + bare_cache_write))",
		"sum(oversized * cost), sum(oversized * bare)",
		"sum(trial), sum(trial * (input + cache_read + cache_write)), sum(trial_prompt), sum(trial * cost), sum(trial_cost)",
		"sum(purpose = '" + store.ForCache + "'), sum(cost * (purpose = '" + store.ForCache + "'))",
	}, ", ")
	var out []store.Total
	err := db.rows(ctx, "SELECT day, model, "+sums+" FROM "+from+" GROUP BY day, model ORDER BY day, model",
		args, func(rows *sql.Rows) error {
			t, err := scanTotal(rows)
			out = append(out, t)
			return err
		})
	return out, wrap("sum spending", err)
}

// Spent implements store.Log.
func (db *database) Spent(ctx context.Context, q store.SpendQuery) (sum store.Sum, err error) {
	query, args := "SELECT COALESCE(sum(tokens), 0), COALESCE(sum(cost), 0) FROM spent WHERE tenant = ? AND day >= ? AND day < ?",
		[]any{q.Tenant, form.Day(q.Since), int64(math.MaxInt64)}
	if !q.Until.IsZero() {
		args[2] = form.Day(q.Until)
	}
	if q.Conversation != "" {
		query, args = "SELECT spent_tokens, spent_cost FROM conversations WHERE tenant = ? AND id = ?", []any{q.Tenant, q.Conversation}
	}
	var row [2]driver.Value
	err = db.read(ctx, func(r *reader) error { return r.first(query, args, row[:]) })
	if errors.Is(err, sql.ErrNoRows) {
		return sum, nil
	}
	tokens, _ := row[0].(int64)
	cost, _ := row[1].(int64)
	return store.Sum{Tokens: int(tokens), Cost: store.Money(cost)}, wrap("sum spending", err)
}

func scanTotal(rows *sql.Rows) (t store.Total, err error) {
	var days int64
	u, w, o, x := &t.Usage, &t.Without, &t.Over, &t.Trials
	err = rows.Scan(&days, &t.Model, &t.Calls, &t.Own,
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.Write1h, &u.Output,
		&w.Input, &w.CacheRead, &w.CacheWrite, &w.Write1h, &w.Output,
		&t.Cost, &t.OwnCost, &t.Bare, &t.Rewrite, &o.Calls, &o.Sent, &o.Without, &o.Cost, &o.Bare,
		&x.Calls, &x.Sent, &x.Prompt, &x.Cost, &x.Would, &t.Warm, &t.WarmCost)
	t.Day = time.Unix(days*86400, 0).UTC().Format(time.DateOnly)
	return t, err
}
