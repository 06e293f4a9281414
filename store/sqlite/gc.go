package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// GC implements store.Keeper. Each conversation goes in a transaction of its own, so that commits
// are never kept waiting for long; a dry run does the same to a copy.
func (db *database) GC(ctx context.Context, p store.Policy) (*store.Collected, error) {
	if p.Now.IsZero() {
		p.Now = db.now()
	}
	c := &collector{Policy: p, Collected: &store.Collected{}, write: db.write}
	var err error
	if p.DryRun {
		err = db.rehearse(ctx, c, func() error { return c.run(ctx) })
	} else if err = c.run(ctx); err == nil {
		err = shrink(ctx, db.write)
	}
	return c.Collected, wrap("collect garbage", err)
}

// rehearse lets a collector work on a copy of the database, which lies beside it until then. To do the same in a
// transaction that is undone would keep all commits waiting, for minutes where much would go.
func (db *database) rehearse(ctx context.Context, c *collector, do func() error) (err error) {
	var live, copied int64
	if err := db.read(ctx, func(r *reader) (err error) { live, err = used(r); return err }); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(db.path), ".decant-dry-run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "copy.db")
	if err := db.Backup(ctx, path); err != nil {
		return err
	}
	twin, err := openAs(ctx, path, Options{Now: db.now, Key: keyFunc(db.key)}, db.forms)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, twin.Close()) }()
	if err := twin.read(ctx, func(r *reader) (err error) { copied, err = used(r); return err }); err != nil {
		return err
	}
	c.write, c.packed = twin.write, live-copied
	return do()
}

// A collector carries out a policy.
type collector struct {
	store.Policy
	*store.Collected
	write func(context.Context, func(*tx) error) error
	heirs heirs

	pieces *pieces // of what is removed; nil: none are taken
	size   int64   // of the database, as far as it is in use and does not belong to others
	others int64   // bytes that other tenants keep
	packed int64   // bytes that the same content takes less in a copy, which is packed tighter
}

// A candidate is a conversation that the policy may remove.
type candidate struct {
	store.Key
	session string
	updated int64
	pinned  bool
	surplus bool // its session has Policy.Lines newer ones
}

func (c *collector) run(ctx context.Context) error {
	var list []candidate
	if err := c.write(ctx, func(t *tx) (err error) {
		list, err = c.candidates(t)
		return err
	}); err != nil {
		return err
	}
	// A parent can go only after its forks, whichever was changed last: go round until nothing more goes.
	for {
		rest, err := c.round(ctx, list)
		if err != nil {
			return err
		}
		if len(rest) == len(list) {
			return errors.Join(c.stale(ctx), c.spends(ctx))
		}
		list = rest
	}
}

// whose is the condition for what the policy is about, with its parameters.
const whose = "(tenant = ? OR ?)"

// candidates lists the conversations that the policy is about, longest unchanged first.
func (c *collector) candidates(t *tx) (list []candidate, err error) {
	err = t.rows("SELECT tenant, id, session, updated, pinned FROM conversations WHERE "+whose+" ORDER BY updated, tenant, id", []any{c.Tenant, c.AllTenants}, func(rows *sql.Rows) error {
		var k candidate
		err := rows.Scan(&k.Tenant, &k.ID, &k.session, &k.updated, &k.pinned)
		list = append(list, k)
		return err
	})
	if err == nil {
		err = t.row(`SELECT (SELECT COALESCE(sum(length(data)), 0) FROM packs WHERE NOT `+whose+`)
			+ (SELECT COALESCE(sum(length(data)), 0) FROM segments WHERE NOT `+whose+`)
			+ (SELECT COALESCE(sum(length(text) + length(extra)), 0) FROM memories WHERE NOT `+whose+`)
			+ (SELECT COALESCE(sum(length(data)), 0) FROM journal_steps WHERE NOT `+whose+`)`,
			[]any{c.Tenant, c.AllTenants, c.Tenant, c.AllTenants, c.Tenant, c.AllTenants, c.Tenant, c.AllTenants}, &c.others)
	}
	if err == nil {
		err = c.measure(t)
	}
	c.markSurplus(list)
	return list, err
}

// markSurplus marks the conversations beyond the number that their session may have.
func (c *collector) markSurplus(list []candidate) {
	newer := map[[2]string]int{}
	for i := len(list) - 1; i >= 0; i-- {
		k := &list[i]
		session := [2]string{k.Tenant, k.session}
		k.surplus = c.Lines > 0 && newer[session] >= c.Lines
		newer[session]++
	}
}

// measure finds out how many bytes of the file hold something that does not belong to others.
func (c *collector) measure(t *tx) error {
	n, err := used(t)
	c.size = n + c.packed - c.others
	return err
}

// used returns how many bytes of the file are in use.
func used(t interface {
	row(query string, args []any, dest ...any) error
}) (int64, error) {
	var pages, free, size int64
	err := errors.Join(t.row("PRAGMA page_count", nil, &pages), t.row("PRAGMA freelist_count", nil, &free), t.row("PRAGMA page_size", nil, &size))
	return (pages - free) * size, err
}

// round tries to remove each conversation once and returns those that are left.
func (c *collector) round(ctx context.Context, list []candidate) (rest []candidate, err error) {
	c.Pinned, c.Shared = 0, 0
	for _, k := range list {
		removed, err := c.try(ctx, k)
		if err != nil {
			return nil, err
		}
		if !removed {
			rest = append(rest, k)
		}
	}
	return rest, nil
}

// due reports whether the policy wants a conversation to go.
func (c *collector) due(k candidate) bool {
	old := c.MaxAge > 0 && k.updated < form.Micros(c.Now.Add(-c.MaxAge))
	return old || k.surplus || c.Size > 0 && c.size > c.Size
}

func (c *collector) try(ctx context.Context, k candidate) (removed bool, err error) {
	if !c.due(k) {
		return false, nil
	}
	if k.pinned {
		c.Pinned++
		return false, nil
	}
	err = c.write(ctx, func(t *tx) (err error) {
		removed, err = c.remove(t, k)
		return err
	})
	return removed, err
}

// remove removes a conversation unless it is in use after all.
func (c *collector) remove(t *tx, k candidate) (bool, error) {
	var forks, same int
	if err := t.row("SELECT count(*) FROM conversations WHERE tenant = ? AND parent = ? AND parent <> ''", []any{k.Tenant, k.ID}, &forks); err != nil {
		return false, err
	}
	if forks > 0 {
		c.Shared++
		return false, nil
	}
	if err := t.row("SELECT count(*) FROM conversations WHERE tenant = ? AND id = ? AND updated = ? AND pinned = 0",
		[]any{k.Tenant, k.ID, k.updated}, &same); err != nil || same == 0 {
		return false, err // changed or pinned since it was listed
	}
	return true, c.discard(t, k.Key)
}

// discard removes a conversation and what only it holds.
func (c *collector) discard(t *tx, k store.Key) error {
	if err := c.sample(t, k); err != nil {
		return err
	}
	if err := c.release(t, k); err != nil {
		return err
	}
	if err := unlinkAll(t, k); err != nil {
		return err
	}
	for _, table := range []string{"segments", "decisions", "checkpoints", "requests", "claims"} {
		if err := t.exec("DELETE FROM "+table+" WHERE tenant = ? AND conversation = ?", k.Tenant, k.ID); err != nil {
			return err
		}
	}
	if err := c.endScope(t, k); err != nil {
		return err
	}
	if err := c.dropJournals(t, "tenant = ? AND conversation = ?", k.Tenant, k.ID); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM conversations WHERE tenant = ? AND id = ?", k.Tenant, k.ID); err != nil {
		return err
	}
	c.Conversations = append(c.Conversations, k)
	return c.measure(t)
}

// endScope removes what is remembered in the scope of a conversation.
func (c *collector) endScope(t *tx, k store.Key) error {
	scope := memory.Scope{Level: memory.Conversation, Name: k.ID}
	n, err := t.change("DELETE FROM memories INDEXED BY memories_scope WHERE tenant = ? AND scope = ?", k.Tenant, t.hash(k.Tenant, form.ScopeHash(scope)))
	c.Memories += int(n)
	return err
}

// unlinkAll makes a conversation unknown to Match.
func unlinkAll(t *tx, k store.Key) error {
	var session string
	var version int64
	var base int
	if err := t.row("SELECT session, version, base FROM conversations WHERE tenant = ? AND id = ?", []any{k.Tenant, k.ID}, &session, &version, &base); err != nil {
		return err
	}
	chain, err := form.Chain(lineage{t, k.Tenant}, k.ID, version)
	if err != nil {
		return err
	}
	return unlink(t, k, session, chain[min(base, len(chain)):])
}

// spends removes old spends.
func (c *collector) spends(ctx context.Context) error {
	if c.Policy.Spends == 0 {
		return nil
	}
	return c.write(ctx, func(t *tx) error {
		n, err := t.change("DELETE FROM spends WHERE time < ? AND "+whose, form.Micros(c.Now.Add(-c.Policy.Spends)), c.Tenant, c.AllTenants)
		c.Collected.Spends = int(n)
		return err
	})
}

// dropJournals removes the journals under a condition and takes samples of them.
func (c *collector) dropJournals(t *tx, where string, args ...any) error {
	if c.pieces != nil {
		for _, query := range []string{
			"SELECT id, head FROM journals WHERE " + where,
			"SELECT data FROM journal_steps s WHERE EXISTS (SELECT 1 FROM journals j WHERE j.tenant = s.tenant AND j.id = s.journal AND " + where + ")",
		} {
			if err := t.rows(query, args, func(rows *sql.Rows) error { return columns(rows, c.pieces.take) }); err != nil {
				return fmt.Errorf("sample journals: %w", err)
			}
		}
	}
	n, err := t.change("DELETE FROM journals WHERE "+where, args...)
	c.Journals += int(n)
	return err
}

// stale removes the journals that are too old and were of a conversation that is gone. One that never was of any stays: it may be of
// something else than a session, and holds nothing that a conversation would.
func (c *collector) stale(ctx context.Context) error {
	if c.MaxAge == 0 {
		return nil
	}
	return c.write(ctx, func(t *tx) error {
		return c.dropJournals(t, whose+` AND updated < ? AND conversation <> '' AND NOT EXISTS (SELECT 1 FROM conversations k
			WHERE k.tenant = journals.tenant AND k.id = journals.conversation)`, c.Tenant, c.AllTenants, form.Micros(c.Now.Add(-c.MaxAge)))
	})
}

// shrink gives free pages back to the file system.
func shrink(ctx context.Context, write func(context.Context, func(*tx) error) error) error {
	if err := write(ctx, func(t *tx) error {
		return t.rows("PRAGMA incremental_vacuum", nil, func(*sql.Rows) error { return nil })
	}); err != nil {
		return fmt.Errorf("shrink the file: %w", err)
	}
	return nil
}
