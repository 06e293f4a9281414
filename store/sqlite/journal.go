package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// AddSteps implements store.Journals.
func (db *database) AddSteps(ctx context.Context, a *store.Addition) error {
	at := form.Micros(a.Time)
	if at == 0 {
		at = form.Micros(db.now())
	}
	return wrap("write journal "+a.ID, db.write(ctx, func(t *tx) error {
		if a.Length == 0 && len(a.Steps) == 0 {
			return fmt.Errorf("it would begin without a step: %w", store.ErrInvalid)
		}
		if err := addTo(t, a, at); err != nil {
			return err
		}
		for i, step := range a.Steps {
			codec, data := (&packer{pack: pack{data: step}}).encode()
			seq := int64(a.Length + i + 1)
			if err := t.exec("INSERT INTO journal_steps (tenant, journal, seq, codec, data) VALUES (?, ?, ?, ?, ?)",
				a.Tenant, a.ID, seq, codec, t.seal(data, stepPlace(a.Key, seq))); err != nil {
				return err
			}
		}
		return nil
	}))
}

// addTo writes the row of a journal to which something is added.
func addTo(t *tx, a *store.Addition, at int64) error {
	head := headPlace(a.Key)
	if a.Length == 0 {
		n, err := t.change(`INSERT INTO journals (tenant, id, kind, conversation, head, length, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, a.Tenant, a.ID, a.Kind, a.Conversation, t.seal(form.NonNil(a.Head), head), len(a.Steps), at, at)
		if err == nil && n == 0 {
			err = fmt.Errorf("it has begun already: %w", store.ErrConflict)
		}
		return err
	}
	n, err := t.change(`UPDATE journals SET conversation = iif(?1 = '', conversation, ?1), length = length + ?2, updated = max(updated, ?3)
		WHERE tenant = ?4 AND id = ?5 AND (length = ?6 OR ?2 = 0)`, a.Conversation, len(a.Steps), at, a.Tenant, a.ID, a.Length)
	if err == nil && n == 0 {
		if _, err = journal(t, a.Key); err == nil {
			err = fmt.Errorf("it does not have %d steps: %w", a.Length, store.ErrConflict)
		}
	}
	if err == nil && a.Head != nil {
		err = t.exec("UPDATE journals SET head = ? WHERE tenant = ? AND id = ?", t.seal(a.Head, head), a.Tenant, a.ID)
	}
	return err
}

const journalColumns = "id, kind, conversation, head, length, created, updated"

// scanJournal reads a journal from a row.
func scanJournal(s sealing, tenant string, rows *sql.Rows) (j store.Journal, err error) {
	j.Tenant = tenant
	var created, updated int64
	if err := rows.Scan(&j.ID, &j.Kind, &j.Conversation, &j.Head, &j.Length, &created, &updated); err != nil {
		return j, err
	}
	j.Created, j.Updated = form.Moment(created), form.Moment(updated)
	j.Head, err = s.open(j.Head, headPlace(j.Key))
	return j, err
}

// journalsWhere returns those of a tenant under a condition.
func journalsWhere(q querier, tenant, where string, args ...any) (out []store.Journal, err error) {
	err = q.rows("SELECT "+journalColumns+" FROM journals WHERE tenant = ? AND "+where, append([]any{tenant}, args...), func(rows *sql.Rows) error {
		j, err := scanJournal(q.vault(), tenant, rows)
		out = append(out, j)
		return err
	})
	return out, err
}

// journal returns one journal.
func journal(q querier, k store.Key) (*store.Journal, error) {
	js, err := journalsWhere(q, k.Tenant, "id = ?", k.ID)
	if err != nil {
		return nil, err
	}
	if len(js) == 0 {
		return nil, fmt.Errorf("journal %s: %w", k.ID, store.ErrNotFound)
	}
	return &js[0], nil
}

// Journal implements store.Journals.
func (db *database) Journal(ctx context.Context, k store.Key) (j *store.Journal, err error) {
	err = db.read(ctx, func(r *reader) (err error) { j, err = journal(r, k); return err })
	return j, wrap("read journal", err)
}

// Journals implements store.Journals.
func (db *database) Journals(ctx context.Context, q store.JournalQuery) (out []store.Journal, err error) {
	where, args := "updated < ?", []any{cmp.Or(form.Micros(q.Before), math.MaxInt64)}
	if q.Kind != "" {
		where, args = where+" AND kind = ?", append(args, q.Kind)
	}
	if q.Name != "" {
		where, args = where+` AND id LIKE ? ESCAPE '\'`, append(args, form.EscapeLike(q.Name)+"%")
	}
	err = db.read(ctx, func(r *reader) (err error) {
		out, err = journalsWhere(r, q.Tenant, where+" ORDER BY updated DESC, id LIMIT ?", append(args, cmp.Or(q.Limit, 1000))...)
		return err
	})
	return out, wrap("list journals", err)
}

// Steps implements store.Journals.
func (db *database) Steps(ctx context.Context, k store.Key, after, limit int) (out [][]byte, err error) {
	err = db.snapshot(ctx, func(r *reader) error {
		if _, err := journal(r, k); err != nil {
			return err
		}
		return r.rows("SELECT seq, codec, data FROM journal_steps WHERE tenant = ? AND journal = ? AND seq > ? ORDER BY seq LIMIT ?",
			[]any{k.Tenant, k.ID, after, cmp.Or(limit, math.MaxInt)}, func(rows *sql.Rows) error {
				var seq int64
				var codec int
				var data []byte
				if err := rows.Scan(&seq, &codec, &data); err != nil {
					return err
				}
				step, err := decodeStep(r, k, seq, codec, data)
				out = append(out, step)
				return err
			})
	})
	return out, wrap("read journal", err)
}

// decodeStep returns a step as it was written.
func decodeStep(q querier, k store.Key, seq int64, codec int, data []byte) ([]byte, error) {
	data, err := q.vault().open(data, stepPlace(k, seq))
	if err == nil {
		data, err = form.Decode(codec, -1, data)
	}
	if err != nil {
		return nil, fmt.Errorf("step %d of journal %s: %w", seq, k.ID, err)
	}
	return data, nil
}

// DropJournal implements store.Journals.
func (db *database) DropJournal(ctx context.Context, k store.Key) error {
	return wrap("remove journal", db.write(ctx, func(t *tx) error {
		n, err := t.change("DELETE FROM journals WHERE tenant = ? AND id = ?", k.Tenant, k.ID)
		if err == nil && n == 0 {
			err = fmt.Errorf("journal %s: %w", k.ID, store.ErrNotFound)
		}
		return err
	}))
}
