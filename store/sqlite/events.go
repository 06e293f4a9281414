package sqlite

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// events writes store.Events.
type events struct {
	*store.Events
	store.Key
	version int64 // for requests that name none
	content *content
}

// Record implements store.Committer.
func (db *database) Record(ctx context.Context, k store.Key, e *store.Events) error {
	c := newContent(len(e.Blobs))
	c.add(nil, e.Blobs...)
	ev := events{Events: e, Key: k, content: &c}
	now := form.Micros(db.now())
	err := db.write(ctx, func(t *tx) error {
		var fixed []byte
		var anchored, updated int64
		if err := t.row("SELECT version, fixed, anchor_time, updated FROM conversations WHERE tenant = ? AND id = ?", []any{k.Tenant, k.ID},
			&ev.version, &fixed, &anchored, &updated); err != nil {
			return err
		}
		c.fixed = t.unhash(k.Tenant, fixed)
		if err := c.store(t, k); err != nil {
			return err
		}
		if err := ev.write(t); err != nil {
			return err
		}
		if err := c.hold(t); err != nil {
			return err
		}
		var row assignments
		row.set("updated = ?", max(updated, now))
		if err := row.anchor(t, k, e.Anchor, anchored); err != nil {
			return err
		}
		return row.update(t, k)
	})
	return wrap("record events of "+k.ID, err)
}

func (e *events) write(t *tx) error {
	for i := range e.Requests {
		if err := e.request(t, &e.Requests[i]); err != nil {
			return fmt.Errorf("request %s: %w", e.Requests[i].ID, err)
		}
	}
	for i := range e.Spends {
		if err := e.spend(t, &e.Spends[i]); err != nil {
			return fmt.Errorf("spend %s: %w", e.Spends[i].ID, err)
		}
	}
	return nil
}

func (e *events) request(t *tx, r *store.Request) error {
	if r.ID == "" || r.Version < 0 || r.Version > e.version {
		return fmt.Errorf("id %q, version %d of %d: %w", r.ID, r.Version, e.version, store.ErrInvalid)
	}
	planned, plan, err := form.PlannedColumns(r.Planned)
	if err != nil {
		return err
	}
	for _, h := range []decant.Hash{r.Frame, r.Answer, plan} {
		if err := e.content.refer(t, h); err != nil {
			return err
		}
	}
	if err := e.content.holdFixed(t, r.Fixed); err != nil {
		return err
	}
	usage, err := form.Marshal(form.UsageColumn{Usage: r.Usage, Writes: r.Writes})
	if err != nil {
		return err
	}
	some := func(h decant.Hash) []byte { return t.some(e.Tenant, h) }
	version := r.Version
	if version == 0 {
		version = e.version
	}
	return t.exec(`INSERT INTO requests (tenant, conversation, id, time, version, length, api, model, fixed, frame, view, status, broken, answer, answer_id, stop, usage, planned, plan)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, conversation, id) DO UPDATE SET time = excluded.time, version = excluded.version, length = excluded.length,
		api = excluded.api, model = excluded.model, fixed = excluded.fixed, frame = excluded.frame, view = excluded.view,
		status = excluded.status, broken = excluded.broken, answer = excluded.answer, answer_id = excluded.answer_id,
		stop = excluded.stop, usage = excluded.usage, planned = excluded.planned, plan = excluded.plan`,
		e.Tenant, e.ID, r.ID, form.Micros(r.Time), version, r.Length, r.API, r.Model, some(r.Fixed), some(r.Frame), some(r.View),
		r.Status, r.Broken, some(r.Answer), r.AnswerID, t.text(r.Stop, requestPlace(e.Key, "requests.stop", r.ID)), string(usage),
		t.text(planned, requestPlace(e.Key, "requests.planned", r.ID)), some(plan))
}

func (e *events) spend(t *tx, s *store.Spend) error {
	if s.ID == "" {
		return fmt.Errorf("no id: %w", store.ErrInvalid)
	}
	u, b, trial := s.Usage, s.Without, s.Trial
	if trial == nil {
		trial = &store.Trial{}
	}
	return t.exec(`INSERT INTO spends (tenant, id, conversation, time, day, model, own, input, cache_read, cache_write, write_1h, output,
		bare_input, bare_cache_read, bare_cache_write, bare_write_1h, bare_output, cost, bare, rewrite, oversized,
		trial, trial_prompt, trial_cost, purpose)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		e.Tenant, s.ID, e.ID, form.Micros(s.Time), form.Day(s.Time), s.Model, s.Own,
		u.Input, u.CacheRead, u.CacheWrite, u.Write1h, u.Output,
		b.Input, b.CacheRead, b.CacheWrite, b.Write1h, b.Output, int64(s.Cost), int64(s.Bare), int64(s.Rewrite), s.Over,
		s.Trial != nil, trial.Prompt, int64(trial.Cost), s.Purpose)
}

// assignments are what changes in a conversation's row: it is written once.
type assignments struct {
	columns string
	args    []any
}

// set adds columns, in SQL, with the values of their parameters.
func (a *assignments) set(columns string, args ...any) {
	if a.columns != "" {
		a.columns += ", "
	}
	a.columns += columns
	a.args = append(a.args, args...)
}

// anchor keeps the newest report of usage: the present one is of the time anchored.
func (a *assignments) anchor(t *tx, k store.Key, n *store.Anchor, anchored int64) error {
	if n == nil || form.Micros(n.Time) < anchored {
		return nil
	}
	data, err := form.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode anchor: %w", err)
	}
	a.set("anchor = ?, anchor_time = ?", t.text(string(data), of(k, "conversations.anchor")), form.Micros(n.Time))
	return nil
}

// update writes them.
func (a *assignments) update(t *tx, k store.Key) error {
	return t.exec("UPDATE conversations SET "+a.columns+" WHERE tenant = ? AND id = ?", append(a.args, k.Tenant, k.ID)...)
}
