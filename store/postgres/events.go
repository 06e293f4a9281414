package postgres

import (
	"context"
	"fmt"

	"github.com/decantdev/decant/store"
)

// later lets a transaction not wait for the disk.
var later = stmt{sql: "SELECT set_config('synchronous_commit', 'off', true)"}

// Record implements store.Committer.
func (db *database) Record(ctx context.Context, k store.Key, e *store.Events) error {
	return wrap("record events of "+k.ID, db.record(ctx, k, e))
}

func (db *database) record(ctx context.Context, k store.Key, e *store.Events) error {
	var w writes
	if err := w.collect(k, e, nil, nil); err != nil {
		return err
	}
	newest := int64(0)
	for i := range e.Requests {
		newest = max(newest, e.Requests[i].Version)
	}
	w.with("l", "SELECT version, fixed, anchor_time FROM conversations WHERE tenant = $1 AND id = $2 AND version >= "+
		w.arg(newest)+w.there()+" FOR NO KEY UPDATE")
	if err := w.store("l.version"); err != nil {
		return err
	}
	if err := w.update("updated = greatest(c.updated, " + w.arg(db.now()) + ")"); err != nil {
		return err
	}
	rows, err := one(db.do(ctx, later, w.query()))
	if err != nil || len(rows) > 0 {
		return err
	}
	version, err := db.Version(ctx, k)
	if err != nil {
		return err
	}
	if version < newest {
		return fmt.Errorf("a request of version %d, of %d: %w", newest, version, store.ErrInvalid)
	}
	if err := w.missing(ctx, db); err != nil {
		return err
	}
	return fmt.Errorf("something else has changed meanwhile: %w", store.ErrBusy)
}

// Book implements store.Committer. It locks the conversation first, if there is one, as every write does.
func (db *database) Book(ctx context.Context, k store.Key, spends []store.Spend) error {
	last := map[string]store.Spend{} // of two with one id the later one counts
	for _, s := range spends {
		if s.ID == "" {
			return wrap("book", fmt.Errorf("a spend without an id: %w", store.ErrInvalid))
		}
		last[s.ID] = s
	}
	once := make([]store.Spend, 0, len(last))
	for _, s := range last {
		once = append(once, s)
	}
	rows, err := spendRows(once)
	if err != nil {
		return wrap("book", err)
	}
	_, err = db.do(ctx, later,
		stmt{"SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE", []any{k.Tenant, k.ID}},
		stmt{"INSERT INTO spends " + spendColumns + " FROM " + fmt.Sprintf(spendFrom, "$3") + ` ON CONFLICT (tenant, id) DO UPDATE SET
			conversation = excluded.conversation, model = excluded.model, own = excluded.own, purpose = excluded.purpose,
			input = excluded.input, cache_read = excluded.cache_read, cache_write = excluded.cache_write, write_1h = excluded.write_1h,
			output = excluded.output, bare_input = excluded.bare_input, bare_cache_read = excluded.bare_cache_read,
			bare_cache_write = excluded.bare_cache_write, bare_write_1h = excluded.bare_write_1h, bare_output = excluded.bare_output,
			cost = excluded.cost, bare = excluded.bare, rewrite = excluded.rewrite, oversized = excluded.oversized,
			trial = excluded.trial, trial_prompt = excluded.trial_prompt, trial_cost = excluded.trial_cost`, []any{k.Tenant, k.ID, rows}})
	return wrap("book", err)
}
