package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var _ store.Journals = (*database)(nil)

// AddSteps implements store.Journals.
func (db *database) AddSteps(ctx context.Context, a *store.Addition) error {
	return wrap("write journal "+a.ID, db.addSteps(ctx, a))
}

func (db *database) addSteps(ctx context.Context, a *store.Addition) error {
	at := a.Time
	if at.IsZero() {
		at = db.now()
	}
	n := len(a.Steps)
	var w writes
	w.args = []any{a.Tenant, a.ID}
	switch {
	case a.Length == 0 && n == 0:
		return fmt.Errorf("it would begin without a step: %w", store.ErrInvalid)
	case a.Length == 0:
		time := w.arg(at)
		w.with("j", "INSERT INTO journals SELECT $1, $2, "+w.list(a.Kind, a.Conversation, a.Head, n)+", "+time+", "+time+
			" ON CONFLICT DO NOTHING RETURNING 1")
	default:
		set := "length = length + " + w.arg(n) + ", updated = greatest(updated, " + w.arg(at) + ")"
		if a.Conversation != "" {
			set += ", conversation = " + w.arg(a.Conversation)
		}
		if a.Head != nil {
			set += ", head = " + w.arg(a.Head)
		}
		where := ""
		if n > 0 {
			where = " AND length = " + w.arg(a.Length)
		}
		w.with("j", "UPDATE journals SET "+set+" WHERE tenant = $1 AND id = $2"+where+" RETURNING 1")
	}
	if n > 0 {
		codecs, data := make([]int64, n), make([][]byte, n)
		for i, step := range a.Steps {
			codec, stored, _ := form.Encode(nil, step)
			codecs[i], data[i] = int64(codec), stored
		}
		w.with("step", "INSERT INTO journal_steps SELECT $1, $2, "+w.arg(a.Length)+" + x.n, x.codec, x.data FROM j, unnest("+
			w.list(codecs, data)+") WITH ORDINALITY x (codec, data, n)")
	}
	rows, err := one(db.do(ctx, stmt{w.begin() + "SELECT 1 FROM j", w.args}))
	if err != nil || len(rows) > 0 {
		return err
	}
	if _, err := db.Journal(ctx, a.Key); err != nil {
		return err
	}
	return fmt.Errorf("it does not have %d steps: %w", a.Length, store.ErrConflict)
}

// journals returns those of a tenant under a condition.
func (db *database) journals(ctx context.Context, tenant, where string, args ...any) (out []store.Journal, err error) {
	rows, err := db.rows(ctx, "SELECT id, kind, conversation, head, length, created, updated FROM journals WHERE tenant = $1 AND "+where,
		append([]any{tenant}, args...)...)
	for i := range rows {
		r := &rows[i]
		out = append(out, store.Journal{Key: store.Key{Tenant: tenant, ID: r.text()}, Kind: r.text(), Conversation: r.text(), Head: r.bytes(),
			Length: r.int(), Created: r.moment(), Updated: r.moment()})
	}
	return out, err
}

// Journal implements store.Journals.
func (db *database) Journal(ctx context.Context, k store.Key) (*store.Journal, error) {
	js, err := db.journals(ctx, k.Tenant, "id = $2", k.ID)
	if err == nil && len(js) == 0 {
		err = noJournal(k.ID)
	}
	if err != nil {
		return nil, wrap("read journal", err)
	}
	return &js[0], nil
}

func noJournal(id string) error { return fmt.Errorf("journal %s: %w", id, store.ErrNotFound) }

// Journals implements store.Journals.
func (db *database) Journals(ctx context.Context, q store.JournalQuery) ([]store.Journal, error) {
	before := q.Before
	if before.IsZero() {
		before = time.UnixMicro(math.MaxInt64)
	}
	out, err := db.journals(ctx, q.Tenant, `updated < $2 AND ($3 = '' OR kind = $3) AND ($4 = '' OR id ILIKE $4 || '%')
		ORDER BY updated DESC, id LIMIT $5`, before, q.Kind, form.EscapeLike(q.Name), cmp.Or(q.Limit, 1000))
	return out, wrap("list journals", err)
}

// Steps implements store.Journals.
func (db *database) Steps(ctx context.Context, k store.Key, after, limit int) (out [][]byte, err error) {
	results, err := db.do(ctx,
		stmt{"SELECT 1 FROM journals WHERE tenant = $1 AND id = $2", []any{k.Tenant, k.ID}},
		stmt{"SELECT seq, codec, data FROM journal_steps WHERE tenant = $1 AND journal = $2 AND seq > $3 ORDER BY seq LIMIT $4",
			[]any{k.Tenant, k.ID, after, cmp.Or(limit, math.MaxInt)}})
	if err == nil && len(results[0]) == 0 {
		err = noJournal(k.ID)
	}
	if err != nil {
		return nil, wrap("read journal", err)
	}
	for i := range results[1] {
		r := &results[1][i]
		seq := r.int()
		step, err := form.Decode(r.int(), -1, r.bytes())
		if err != nil {
			return nil, wrap("read journal", fmt.Errorf("step %d of journal %s: %w", seq, k.ID, err))
		}
		out = append(out, step)
	}
	return out, nil
}

// DropJournal implements store.Journals.
func (db *database) DropJournal(ctx context.Context, k store.Key) error {
	n, err := change(ctx, db, "DELETE FROM journals WHERE tenant = $1 AND id = $2 RETURNING 1", k.Tenant, k.ID)
	if err == nil && n == 0 {
		err = noJournal(k.ID)
	}
	return wrap("remove journal", err)
}
