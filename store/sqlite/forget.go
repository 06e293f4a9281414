package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Forget implements store.Keeper. Each conversation goes in a transaction of its own. Then the files are cleaned of
// what no table shows any longer, see clean, and it is looked whether they are, see prove.
func (db *database) Forget(ctx context.Context, f store.Forgetting) (*store.Collected, error) {
	c := &collector{Policy: store.Policy{Tenant: f.Tenant, Now: db.now()}, Collected: &store.Collected{}, write: db.write}
	var err error
	if f.DryRun {
		err = db.rehearse(ctx, c, func() error { return c.forgetAll(ctx, &f) })
	} else {
		err = db.forget(ctx, c, &f)
	}
	return c.Collected, wrap("forget", err)
}

// forget removes conversations, cleans the files, and looks whether anything is left in them.
func (db *database) forget(ctx context.Context, c *collector, f *store.Forgetting) (err error) {
	c.pieces = newPieces()
	if err = c.forgetAll(ctx, f); err == nil {
		err = db.clean(ctx)
	}
	if err == nil {
		c.Proof, err = db.prove(ctx, c.pieces)
	}
	return err
}

// forgetAll removes conversations and memories, all of the tenant when none are named.
func (c *collector) forgetAll(ctx context.Context, f *store.Forgetting) error {
	everything := f.Conversations == nil && f.Memories == nil
	if everything || f.Conversations != nil {
		if err := c.forgetConversations(ctx, f.Conversations, f.KeepMemories && !everything); err != nil {
			return err
		}
	}
	if everything { // those of sessions that were never sent belong to no conversation
		if err := c.write(ctx, func(t *tx) error { return c.dropJournals(t, "tenant = ?", c.Tenant) }); err != nil {
			return err
		}
	}
	return c.forgetMemories(ctx, f.Memories, everything)
}

// forgetConversations removes conversations with their forks, and with what is remembered from them unless that is kept.
func (c *collector) forgetConversations(ctx context.Context, ids []string, keep bool) error {
	var list []store.Key
	if err := c.write(ctx, func(t *tx) (err error) {
		list, err = c.withForks(t, ids)
		return err
	}); err != nil {
		return err
	}
	for _, k := range slices.Backward(list) { // a fork before its parent
		if err := c.write(ctx, func(t *tx) error {
			if !keep {
				if err := c.bereave(t, k); err != nil {
					return err
				}
			}
			return c.discard(t, k)
		}); err != nil {
			return fmt.Errorf("conversation %s: %w", k.ID, err)
		}
	}
	return nil
}

// bereave takes from what is remembered all that a conversation has contributed.
func (c *collector) bereave(t *tx, k store.Key) error {
	items, err := remembered(t, k.Tenant, `(scope = ? OR id IN (SELECT id FROM memories WHERE tenant = ? AND conversation = ?
		UNION SELECT memory FROM confirmations WHERE tenant = ? AND conversation = ?))`,
		t.hash(k.Tenant, form.ScopeHash(memory.Scope{Level: memory.Conversation, Name: k.ID})), k.Tenant, k.ID, k.Tenant, k.ID)
	for i := 0; i < len(items) && err == nil; i++ {
		rest, some := memory.Without(items[i], k.ID)
		if err = c.dropMemory(t, items[i].ID); err == nil && some {
			c.Memories--
			err = insertMemory(t, k.Tenant, &rest)
		}
	}
	return err
}

// dropMemory removes an item and takes samples of it.
func (c *collector) dropMemory(t *tx, id string) error {
	for _, query := range []string{
		"SELECT name, text, extra FROM memories WHERE tenant = ? AND id = ?", "SELECT evidence FROM confirmations WHERE tenant = ? AND memory = ?",
	} {
		if c.pieces == nil {
			break
		}
		if err := t.rows(query, []any{c.Tenant, id}, func(rows *sql.Rows) error { return columns(rows, c.pieces.take) }); err != nil {
			return err
		}
	}
	n, err := t.change("DELETE FROM memories WHERE tenant = ? AND id = ?", c.Tenant, id)
	c.Memories += int(n)
	if err == nil && n == 0 {
		err = fmt.Errorf("memory %s: %w", id, store.ErrNotFound)
	}
	return err
}

// forgetMemories removes items, or all of the tenant.
func (c *collector) forgetMemories(ctx context.Context, ids []string, all bool) error {
	if all {
		if err := c.write(ctx, func(t *tx) (err error) {
			ids, err = t.ids("SELECT id FROM memories WHERE tenant = ?", c.Tenant)
			return err
		}); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(ids, batchSize) {
		if err := c.write(ctx, func(t *tx) (err error) {
			for i := 0; i < len(some) && err == nil; i++ {
				if err = c.dropMemory(t, some[i]); all && errors.Is(err, store.ErrNotFound) {
					err = nil // somebody else has removed it
				}
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// withForks returns conversations with all that begin with a part of one of them, parents first.
func (c *collector) withForks(t *tx, ids []string) (list []store.Key, err error) {
	if ids == nil {
		ids, err = t.ids("SELECT id FROM conversations WHERE tenant = ? AND parent = ''", c.Tenant)
		if err != nil {
			return nil, err
		}
		orphans, err := t.ids(`SELECT id FROM conversations f WHERE tenant = ? AND parent <> ''
			AND NOT EXISTS (SELECT 1 FROM conversations p WHERE p.tenant = f.tenant AND p.id = f.parent)`, c.Tenant)
		if err != nil {
			return nil, err
		}
		ids = append(ids, orphans...)
	}
	seen := map[string]bool{}
	for next := ids; len(next) > 0; {
		id := next[0]
		next = next[1:]
		forks, err := t.ids("SELECT id FROM conversations WHERE tenant = ? AND parent = ? AND parent <> ''", c.Tenant, id)
		if err != nil {
			return nil, err
		}
		next = append(next, forks...)
		if seen[id] { // a fork that is named, and has been found already: it goes behind its parent
			list = slices.DeleteFunc(list, func(k store.Key) bool { return k.ID == id })
		}
		seen[id] = true
		list = append(list, store.Key{Tenant: c.Tenant, ID: id})
	}
	return list, nil
}

// ids returns the one column of a query.
func (t *tx) ids(query string, args ...any) (out []string, err error) {
	err = t.rows(query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}

// clean leaves nothing in the files but what the tables hold. The index keeps the words of texts that were removed from
// it until its parts are merged; SQLite keeps removed rows in free pages, and earlier versions of pages in the
// write-ahead log. So the index is merged, the file rewritten and the log emptied.
func (db *database) clean(ctx context.Context) error {
	if err := db.write(ctx, func(t *tx) error {
		return t.exec("INSERT INTO search_text (search_text) VALUES ('optimize')")
	}); err != nil {
		return fmt.Errorf("merge the index: %w", err)
	}
	err := db.insist(ctx, func(t *tx) error { return t.exec("VACUUM") })
	if err == nil {
		err = db.insist(ctx, truncateLog)
	}
	if err != nil {
		return fmt.Errorf("what was removed can still stand in the files, run it again: %w", err)
	}
	return nil
}

// truncateLog empties the write-ahead log.
func truncateLog(t *tx) error {
	var busy, pages, moved int
	err := t.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &pages, &moved)
	if err == nil && busy != 0 {
		err = store.ErrBusy
	}
	return err
}

// cleanPatience is how long cleaning waits for others who use the database, with each of its steps. Each needs a moment
// in which nobody reads or writes, which a busy gateway leaves now and then.
const cleanPatience = 2 * time.Minute

// insist runs do outside of transactions, again and again while others keep the database busy.
func (db *database) insist(ctx context.Context, do func(*tx) error) error {
	for begun := time.Now(); ; {
		err := translate(db.writer.outside(ctx, do))
		if !errors.Is(err, store.ErrBusy) || time.Since(begun) > cleanPatience {
			return err
		}
	}
}
