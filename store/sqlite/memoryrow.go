package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// insertMemory writes an item with its confirmations.
func insertMemory(t *tx, tenant string, it *memory.Item) error {
	n, err := t.change(`INSERT INTO memories (tenant, id, scope, level, name, kind, text, extra, conversation, from_message,
		to_message, times, created, confirmed, escalated, archived, restored, became, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		tenant, it.ID, t.hash(tenant, form.ScopeHash(it.Scope)), string(it.Scope.Level), t.text(it.Scope.Name, memoryPlace(tenant, "memories.name", it.ID)),
		string(it.Kind), t.text(it.Text, memoryPlace(tenant, "memories.text", it.ID)),
		t.text(it.Extra, memoryPlace(tenant, "memories.extra", it.ID)), it.Source.Conversation, it.Source.From, it.Source.To, it.Times,
		form.Micros(it.Created), form.Micros(it.Confirmed), form.Micros(it.Escalated), form.Micros(it.Archived), form.Micros(it.Restored), it.Became, it.From)
	if err == nil && n == 0 {
		err = fmt.Errorf("memory %s: %w", it.ID, store.ErrConflict)
	}
	for i := 0; i < len(it.Confirmations) && err == nil; i++ {
		c := &it.Confirmations[i]
		err = t.exec(`INSERT INTO confirmations (tenant, memory, seq, conversation, from_message, to_message, time, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			tenant, it.ID, i, c.Conversation, c.From, c.To, form.Micros(c.Time), t.text(c.Evidence, evidencePlace(tenant, it.ID, int64(i))))
	}
	return err
}

// remembered returns the items of a tenant under a condition, with their confirmations.
func remembered(q querier, tenant, where string, args ...any) (out []memory.Item, err error) {
	err = q.rows(`SELECT id, level, name, kind, text, extra, conversation, from_message, to_message, times, created, confirmed, escalated, archived,
		restored, became, origin FROM memories WHERE tenant = ? AND `+where, append([]any{tenant}, args...), func(rows *sql.Rows) error {
		it, err := scanMemory(q.vault(), tenant, rows)
		out = append(out, it)
		return err
	})
	for i := 0; i < len(out) && err == nil; i++ {
		if it := &out[i]; it.Times > 0 {
			it.Confirmations, err = confirmations(q, tenant, it.ID)
		}
	}
	return out, err
}

// scanMemory reads an item from a row.
func scanMemory(s sealing, tenant string, rows *sql.Rows) (it memory.Item, err error) {
	var name, text, extra []byte
	var created, confirmed, escalated, archived, restored int64
	if err := rows.Scan(&it.ID, &it.Scope.Level, &name, &it.Kind, &text, &extra, &it.Source.Conversation, &it.Source.From, &it.Source.To, &it.Times,
		&created, &confirmed, &escalated, &archived, &restored, &it.Became, &it.From); err != nil {
		return it, err
	}
	it.Created, it.Confirmed = form.Moment(created), form.Moment(confirmed)
	it.Escalated, it.Archived, it.Restored = form.Moment(escalated), form.Moment(archived), form.Moment(restored)
	err = s.opened(&it.Scope.Name, name, memoryPlace(tenant, "memories.name", it.ID))
	if err == nil {
		err = s.opened(&it.Text, text, memoryPlace(tenant, "memories.text", it.ID))
	}
	if err == nil {
		err = s.opened(&it.Extra, extra, memoryPlace(tenant, "memories.extra", it.ID))
	}
	if err != nil {
		err = fmt.Errorf("memory %s: %w", it.ID, err)
	}
	return it, err
}

// confirmations returns those of an item, oldest first.
func confirmations(q querier, tenant, id string) (out []memory.Confirmation, err error) {
	err = q.rows("SELECT seq, conversation, from_message, to_message, time, evidence FROM confirmations WHERE tenant = ? AND memory = ? ORDER BY seq",
		[]any{tenant, id}, func(rows *sql.Rows) error {
			var c memory.Confirmation
			var seq, at int64
			var evidence []byte
			err := rows.Scan(&seq, &c.Conversation, &c.From, &c.To, &at, &evidence)
			c.Time = form.Moment(at)
			if err == nil {
				err = q.vault().opened(&c.Evidence, evidence, evidencePlace(tenant, id, seq))
			}
			out = append(out, c)
			return err
		})
	return out, err
}
