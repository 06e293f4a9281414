package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Memories implements store.Memories.
func (db *database) Memories(ctx context.Context, q store.MemoryQuery) (out []memory.Item, err error) {
	q.Limit = cmp.Or(q.Limit, 1000)
	where, args := selecting(&q)
	err = db.snapshot(ctx, func(r *reader) error {
		if q.Scopes == nil {
			out, err = remembered(r, q.Tenant, where+" ORDER BY confirmed DESC, id LIMIT ?", append(args, q.Limit)...)
			return err
		}
		for _, s := range q.Scopes {
			some, err := remembered(r, q.Tenant, "scope = ? AND "+where, append([]any{r.hash(q.Tenant, form.ScopeHash(s))}, args...)...)
			if err != nil {
				return err
			}
			out = append(out, some...)
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b memory.Item) int { return cmp.Or(b.Confirmed.Compare(a.Confirmed), cmp.Compare(a.ID, b.ID)) })
	return out[:min(q.Limit, len(out))], wrap("read memories", err)
}

// selecting returns the condition of a query, with its parameters, but for its tenant and its scopes.
func selecting(q *store.MemoryQuery) (where string, args []any) {
	where, args = "confirmed >= ?", []any{int64(math.MinInt64)}
	if !q.Archived {
		where += " AND archived <= restored"
	}
	if q.Name != "" {
		where, args = where+` AND id LIKE ? ESCAPE '\'`, append(args, form.EscapeLike(q.Name)+"%")
	}
	if q.Conversation != "" {
		where += ` AND id IN (SELECT id FROM memories WHERE tenant = ? AND conversation = ?
			UNION SELECT memory FROM confirmations WHERE tenant = ? AND conversation = ?)`
		args = append(args, q.Tenant, q.Conversation, q.Tenant, q.Conversation)
	}
	return where, args
}

// Revise implements store.Memories.
func (db *database) Revise(ctx context.Context, tenant string, at memory.Scope, do func([]memory.Item) ([]memory.Item, error)) error {
	return wrap("revise memories", db.write(ctx, func(t *tx) error {
		have, err := remembered(t, tenant, "scope = ? ORDER BY created, id", t.hash(tenant, form.ScopeHash(at)))
		if err != nil {
			return err
		}
		want, err := do(slices.Clone(have))
		if err != nil {
			return err
		}
		for i := range want {
			if want[i].Scope != at {
				return fmt.Errorf("memory %s is of %s, not of %s: %w", want[i].ID, want[i].Scope, at, store.ErrInvalid)
			}
		}
		if err := rooted(t, tenant, have, want); err != nil {
			return err
		}
		return replaceMemories(t, tenant, have, want)
	}))
}

// rooted insists that the conversations exist from which something is remembered that was not before.
func rooted(t *tx, tenant string, have, want []memory.Item) error {
	known := map[string]bool{"": true}
	for i := range have {
		for _, id := range form.Sources(&have[i]) {
			known[id] = true
		}
	}
	for i := range want {
		for _, id := range form.Sources(&want[i]) {
			if known[id] {
				continue
			}
			known[id] = true
			if err := t.row("SELECT 1 FROM conversations WHERE tenant = ? AND id = ?", []any{tenant, id}, new(int)); err != nil {
				return fmt.Errorf("conversation %s: %w", id, err)
			}
		}
	}
	return nil
}

// replaceMemories writes what differs between the items that there are and those that there are to be.
func replaceMemories(t *tx, tenant string, have, want []memory.Item) error {
	stays := map[string]bool{}
	for i := range have {
		stays[have[i].ID] = slices.ContainsFunc(want, func(it memory.Item) bool { return it.ID == have[i].ID && reflect.DeepEqual(it, have[i]) })
		if !stays[have[i].ID] {
			if err := t.exec("DELETE FROM memories WHERE tenant = ? AND id = ?", tenant, have[i].ID); err != nil {
				return err
			}
		}
	}
	for i := range want {
		if stays[want[i].ID] {
			continue
		}
		if err := insertMemory(t, tenant, &want[i]); err != nil {
			return err
		}
	}
	return nil
}
