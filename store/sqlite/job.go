package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant/store"
)

// Enqueue implements store.Jobs.
func (db *DB) Enqueue(ctx context.Context, jobs ...store.Job) error {
	return wrap("enqueue jobs", db.write(ctx, func(t *tx) error {
		for i := range jobs {
			j := &jobs[i]
			if j.ID == "" || j.Kind == "" {
				return fmt.Errorf("job without id or kind: %w", store.ErrInvalid)
			}
			if err := t.exec(`INSERT INTO jobs (tenant, id, kind, conversation, payload, due, attempts, holder, lease, error)
				VALUES (?, ?, ?, ?, ?, ?, 0, '', 0, ?) ON CONFLICT DO NOTHING`,
				j.Tenant, j.ID, j.Kind, j.Conversation, t.seal(nonNil(j.Payload), jobPlace(j.Tenant, j.ID, "jobs.payload")), micros(j.Due),
				t.text("", jobPlace(j.Tenant, j.ID, "jobs.error"))); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Claim implements store.Jobs.
func (db *DB) Claim(ctx context.Context, c store.Claim) (*store.Job, error) {
	where, args := "", []any{micros(c.Now), micros(c.Now)}
	if len(c.Kinds) > 0 {
		where = " AND kind IN (?" + strings.Repeat(", ?", len(c.Kinds)-1) + ")"
		for _, k := range c.Kinds {
			args = append(args, k)
		}
	}
	j := &store.Job{Holder: c.Holder, Lease: c.Until.UTC()}
	err := db.write(ctx, func(t *tx) error {
		var due int64
		var payload, failure []byte
		err := t.row(`SELECT tenant, id, kind, conversation, payload, due, attempts, error FROM jobs
			WHERE due <= ? AND (holder = '' OR lease <= ?)`+where+" ORDER BY due, tenant, id LIMIT 1",
			args, &j.Tenant, &j.ID, &j.Kind, &j.Conversation, &payload, &due, &j.Attempts, &failure)
		if err != nil {
			return err
		}
		if j.Payload, err = t.open(payload, jobPlace(j.Tenant, j.ID, "jobs.payload")); err == nil {
			err = t.opened(&j.Error, failure, jobPlace(j.Tenant, j.ID, "jobs.error"))
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
		j.Due = moment(due)
		j.Attempts++
		return t.exec("UPDATE jobs SET holder = ?, lease = ?, attempts = ? WHERE tenant = ? AND id = ?",
			c.Holder, micros(c.Until), j.Attempts, j.Tenant, j.ID)
	})
	if err != nil {
		return nil, wrap("claim job", err)
	}
	return j, nil
}

// Settle implements store.Jobs.
func (db *DB) Settle(ctx context.Context, s store.Settlement) error {
	query, args := "UPDATE jobs SET holder = '', lease = 0, due = ?, error = ?", []any{micros(s.Due), db.how.text(s.Error, jobPlace(s.Tenant, s.ID, "jobs.error"))}
	switch {
	case s.Done:
		query, args = "DELETE FROM jobs", nil
	case !s.Extend.IsZero():
		query, args = "UPDATE jobs SET lease = ?", []any{micros(s.Extend)}
	}
	args = append(args, s.Tenant, s.ID, s.Holder)
	return wrap("settle job "+s.ID, db.write(ctx, func(t *tx) error {
		n, err := t.change(query+" WHERE tenant = ? AND id = ? AND holder = ?", args...)
		if err == nil && n == 0 {
			err = fmt.Errorf("%s does not hold it: %w", s.Holder, store.ErrConflict)
		}
		return err
	}))
}
