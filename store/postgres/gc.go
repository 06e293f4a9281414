package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var _ store.Collector = (*database)(nil)

// errUndone ends a dry run, whose transaction is undone.
var errUndone = errors.New("a dry run")

// A collector removes conversations. Each goes in a transaction of its own, so that commits never wait for long; a dry run is one
// transaction, which is undone and keeps nobody waiting but who writes to what would go.
type collector struct {
	store.Policy
	*store.Collected
	write func(context.Context, func(tx) error) error
	size  int64 // bytes of what the policy is about
}

// collect calls do with a collector.
func (db *database) collect(ctx context.Context, p store.Policy, do func(*collector) error) (*store.Collected, error) {
	c := &collector{Policy: p, Collected: &store.Collected{}}
	if !p.DryRun {
		// While somebody removes, nobody commits: what a commit refers to must not go meanwhile.
		c.write = func(ctx context.Context, do func(tx) error) error {
			return db.transact(ctx, func(t tx) error {
				if _, err := t.do(ctx, stmt{sql: "LOCK TABLE conversations IN EXCLUSIVE MODE"}); err != nil {
					return err
				}
				return do(t)
			})
		}
		return c.Collected, do(c)
	}
	err := db.transact(ctx, func(t tx) error {
		*c.Collected = store.Collected{} // it may be tried again
		c.write = func(_ context.Context, do func(tx) error) error { return do(t) }
		if err := do(c); err != nil {
			return err
		}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		err = nil
	}
	return c.Collected, err
}

// GC implements store.Collector. The size of the database is that of its contents, without indexes.
func (db *database) GC(ctx context.Context, p store.Policy) (*store.Collected, error) {
	if p.Now.IsZero() {
		p.Now = db.now()
	}
	c, err := db.collect(ctx, p, func(c *collector) error { return c.run(ctx) })
	return c, wrap("collect garbage", err)
}

// A candidate is a conversation that the policy may remove.
type candidate struct {
	store.Key
	session string
	updated int64
	pinned  bool
	surplus bool // its session has Policy.Lines newer ones
}

// whose is the condition for what the policy is about.
const whose = "(tenant = $1 OR $2)"

func (c *collector) run(ctx context.Context) error {
	list, err := c.candidates(ctx)
	for err == nil { // a parent can go only after its forks, whichever was changed last: until nothing more goes
		var rest []candidate
		if rest, err = c.round(ctx, list); len(rest) == len(list) {
			break
		}
		list = rest
	}
	if err != nil {
		return err
	}
	return c.write(ctx, func(t tx) error {
		if c.MaxAge > 0 { // journals of a conversation that is gone; one that never was of any may be of something else
			n, err := change(ctx, t, "DELETE FROM journals j WHERE "+whose+` AND updated < $3 AND conversation <> '' AND NOT EXISTS (
				SELECT 1 FROM conversations k WHERE k.tenant = j.tenant AND k.id = j.conversation) RETURNING 1`,
				c.Tenant, c.AllTenants, c.Now.Add(-c.MaxAge))
			if c.Journals += n; err != nil {
				return err
			}
		}
		if c.Policy.Spends == 0 {
			return nil
		}
		n, err := change(ctx, t, "DELETE FROM spends WHERE "+whose+" AND time < $3 RETURNING 1", c.Tenant, c.AllTenants, c.Now.Add(-c.Policy.Spends))
		c.Collected.Spends += n
		return err
	})
}

// candidates lists the conversations that the policy is about, longest unchanged first.
func (c *collector) candidates(ctx context.Context) (list []candidate, err error) {
	args := []any{c.Tenant, c.AllTenants}
	var results [][]row
	err = c.write(ctx, func(t tx) (err error) {
		results, err = t.do(ctx,
			stmt{"SELECT tenant, id, session, updated, pinned FROM conversations WHERE " + whose + " ORDER BY updated, tenant, id", args},
			stmt{`SELECT coalesce(sum(n), 0)::bigint FROM (
				SELECT length(data) AS n FROM blobs WHERE ` + whose + ` UNION ALL SELECT length(data) FROM segments WHERE ` + whose + `
				UNION ALL SELECT length(item) FROM memories WHERE ` + whose + `
				UNION ALL SELECT length(data) FROM journal_steps WHERE ` + whose + ") x", args})
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range results[0] {
		r := &results[0][i]
		list = append(list, candidate{Key: store.Key{Tenant: r.text(), ID: r.text()}, session: r.text(), updated: r.int64(), pinned: r.bool()})
	}
	c.size = results[1][0].int64()
	newer := map[[2]string]int{}
	for i := range slices.Backward(list) {
		k := &list[i]
		session := [2]string{k.Tenant, k.session}
		k.surplus = c.Lines > 0 && newer[session] >= c.Lines
		newer[session]++
	}
	return list, nil
}

// round tries to remove each conversation once and returns those that are left.
func (c *collector) round(ctx context.Context, list []candidate) (rest []candidate, err error) {
	c.Pinned, c.Shared = 0, 0
	for _, k := range list {
		removed := false
		due := c.MaxAge > 0 && k.updated < form.Micros(c.Now.Add(-c.MaxAge)) || k.surplus || c.Size > 0 && c.size > c.Size
		switch {
		case due && k.pinned:
			c.Pinned++
		case due:
			if err := c.write(ctx, func(t tx) (err error) { removed, err = c.remove(ctx, t, k); return err }); err != nil {
				return nil, err
			}
		}
		if !removed {
			rest = append(rest, k)
		}
	}
	return rest, nil
}

// remove removes a conversation unless it is in use after all.
func (c *collector) remove(ctx context.Context, t tx, k candidate) (bool, error) {
	results, err := t.do(ctx,
		stmt{"SELECT 1 FROM conversations WHERE tenant = $1 AND parent = $2 AND parent <> '' LIMIT 1", []any{k.Tenant, k.ID}},
		stmt{"SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2 AND updated = $3 AND NOT pinned", []any{k.Tenant, k.ID, k.updated}})
	if err != nil {
		return false, err
	}
	if len(results[0]) > 0 {
		c.Shared++
		return false, nil
	}
	if len(results[1]) == 0 {
		return false, nil // changed or pinned since it was listed
	}
	return true, c.discard(ctx, t, k.Key)
}

// discard removes a conversation and what only it holds.
func (c *collector) discard(ctx context.Context, t tx, k store.Key) error {
	args := []any{k.Tenant, k.ID}
	const other = "SELECT h.conversation FROM holds h WHERE h.tenant = $1 AND h.hash = b.hash AND h.conversation <> $2"
	stmts := []stmt{
		{"UPDATE blobs b SET conversation = (" + other + " LIMIT 1) WHERE tenant = $1 AND conversation = $2 AND EXISTS (" + other + ")", args},
		{"DELETE FROM blobs WHERE tenant = $1 AND conversation = $2 RETURNING length(data)", args},
		{"DELETE FROM segments WHERE tenant = $1 AND conversation = $2 RETURNING length(data)", args},
		{"DELETE FROM memories WHERE tenant = $1 AND scope = $2 RETURNING length(item)",
			[]any{k.Tenant, form.ScopeHash(memory.Scope{Level: memory.Conversation, Name: k.ID})}},
		{"DELETE FROM journals WHERE tenant = $1 AND conversation = $2 RETURNING 0", args},
		{`DELETE FROM fixed f WHERE tenant = $1 AND (system <> '' AND NOT EXISTS (SELECT 1 FROM blobs WHERE tenant = $1 AND hash = f.system)
			OR tools <> '' AND NOT EXISTS (SELECT 1 FROM blobs WHERE tenant = $1 AND hash = f.tools))`, args[:1]},
		{`DELETE FROM chains e USING conversations c WHERE c.tenant = $1 AND c.id = $2 AND e.tenant = $1 AND e.session = c.session
			AND e.conversation = $2`, args},
	}
	for _, table := range []string{"holds", "decisions", "requests", "claims"} {
		stmts = append(stmts, stmt{"DELETE FROM " + table + " WHERE tenant = $1 AND conversation = $2", args})
	}
	stmts = append(stmts, stmt{"DELETE FROM conversations WHERE tenant = $1 AND id = $2 RETURNING 1", args})
	results, err := t.do(ctx, stmts...)
	if err != nil {
		return err
	}
	if len(results[len(results)-1]) == 0 {
		return noConversation(k.ID)
	}
	for i := range results[1] {
		c.Bytes += results[1][i].int64()
	}
	for _, rows := range results[1:4] {
		for i := range rows {
			rows[i].next = 0
			c.size -= rows[i].int64()
		}
	}
	c.Blobs, c.Memories, c.Journals = c.Blobs+len(results[1]), c.Memories+len(results[3]), c.Journals+len(results[4])
	c.Conversations = append(c.Conversations, k)
	return nil
}

// Forget implements store.Collector. There is no proof: what the server's files still hold until they are vacuumed, its
// write-ahead log and its backups are the server's.
func (db *database) Forget(ctx context.Context, f store.Forgetting) (*store.Collected, error) {
	c, err := db.collect(ctx, store.Policy{Tenant: f.Tenant, DryRun: f.DryRun}, func(c *collector) error { return c.forget(ctx, &f) })
	return c, wrap("forget", err)
}

// forget removes conversations and memories, all of the tenant when none are named.
func (c *collector) forget(ctx context.Context, f *store.Forgetting) error {
	everything := f.Conversations == nil && f.Memories == nil
	if everything || f.Conversations != nil {
		ids, err := c.withForks(ctx, f.Conversations)
		for i := 0; i < len(ids) && err == nil; i++ {
			k := store.Key{Tenant: f.Tenant, ID: ids[i]}
			err = c.write(ctx, func(t tx) error {
				if everything || !f.KeepMemories {
					if err := c.bereave(ctx, t, k); err != nil {
						return err
					}
				}
				return c.discard(ctx, t, k)
			})
		}
		if err != nil {
			return err
		}
	}
	return c.write(ctx, func(t tx) error {
		if everything { // journals of sessions that were never sent belong to no conversation
			results, err := t.do(ctx, stmt{"DELETE FROM journals WHERE tenant = $1 RETURNING 1", []any{f.Tenant}},
				stmt{"DELETE FROM memories WHERE tenant = $1 RETURNING 1", []any{f.Tenant}})
			if err == nil {
				c.Journals, c.Memories = c.Journals+len(results[0]), c.Memories+len(results[1])
			}
			return err
		}
		for _, id := range f.Memories {
			if err := c.dropMemory(ctx, t, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// withForks returns conversations with all that begin with a part of one of them, forks first; nil: all of the tenant.
func (c *collector) withForks(ctx context.Context, ids []string) (out []string, err error) {
	err = c.write(ctx, func(t tx) error {
		rows, err := one(t.do(ctx, stmt{`WITH RECURSIVE f (id, depth) AS (
			SELECT id, 1 FROM conversations WHERE tenant = $1 AND ($2 AND parent = '' OR id = ANY ($3) OR $2 AND NOT EXISTS (
				SELECT 1 FROM conversations p WHERE p.tenant = $1 AND p.id = conversations.parent))
			UNION ALL SELECT c.id, depth + 1 FROM f JOIN conversations c ON c.tenant = $1 AND c.parent = f.id AND c.parent <> '')
			SELECT id FROM f GROUP BY id ORDER BY max(depth) DESC, id`, []any{c.Tenant, ids == nil, ids}}))
		for i := range rows {
			out = append(out, rows[i].text())
		}
		for _, id := range ids {
			if err == nil && !slices.Contains(out, id) {
				err = noConversation(id)
			}
		}
		return err
	})
	return out, err
}

// bereave takes from what is remembered all that a conversation has contributed.
func (c *collector) bereave(ctx context.Context, t tx, k store.Key) error {
	items, err := remembered(ctx, t, "tenant = $1 AND (scope = $2 OR $3 = ANY (sources))",
		k.Tenant, form.ScopeHash(memory.Scope{Level: memory.Conversation, Name: k.ID}), k.ID)
	for i := 0; i < len(items) && err == nil; i++ {
		rest, some := memory.Without(items[i], k.ID)
		err = c.dropMemory(ctx, t, items[i].ID)
		if errors.Is(err, store.ErrNotFound) { // somebody revises it at this moment
			return fmt.Errorf("%w: %w", store.ErrBusy, err)
		}
		if err == nil && some {
			c.Memories--
			err = replaceMemories(ctx, t, k.Tenant, nil, []memory.Item{rest})
		}
	}
	return err
}

// dropMemory removes an item.
func (c *collector) dropMemory(ctx context.Context, t tx, id string) error {
	n, err := change(ctx, t, "DELETE FROM memories WHERE tenant = $1 AND id = $2 RETURNING 1", c.Tenant, id)
	if err == nil && n == 0 {
		err = fmt.Errorf("memory %s: %w", id, store.ErrNotFound)
	}
	c.Memories += n
	return err
}
