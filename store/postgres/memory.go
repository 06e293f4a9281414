package postgres

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var _ store.Memories = (*database)(nil)

// Memories implements store.Memories.
func (db *database) Memories(ctx context.Context, q store.MemoryQuery) ([]memory.Item, error) {
	var scopes []decant.Hash
	for _, s := range q.Scopes {
		scopes = append(scopes, form.ScopeHash(s))
	}
	out, err := remembered(ctx, db, `tenant = $1 AND ($2 OR scope = ANY ($3)) AND (active OR $4) AND ($5 = '' OR id ILIKE $5 || '%')
		AND ($6 = '' OR $6 = ANY (sources)) ORDER BY confirmed DESC, id LIMIT $7`,
		q.Tenant, q.Scopes == nil, scopes, q.Archived, form.EscapeLike(q.Name), q.Conversation, cmp.Or(q.Limit, 1000))
	return out, wrap("read memories", err)
}

// remembered returns the items under a condition.
func remembered(ctx context.Context, q querier, where string, args ...any) (out []memory.Item, err error) {
	rows, err := one(q.do(ctx, stmt{"SELECT item FROM memories WHERE " + where, args}))
	for i := 0; i < len(rows) && err == nil; i++ {
		var it memory.Item
		err = form.Unmarshal(rows[i].bytes(), &it)
		out = append(out, spelled(it, illegible))
	}
	return out, err
}

// Revise implements store.Memories.
func (db *database) Revise(ctx context.Context, tenant string, at memory.Scope, do func([]memory.Item) ([]memory.Item, error)) error {
	scope := form.ScopeHash(at)
	return wrap("revise memories", db.transact(ctx, func(t tx) error {
		if _, err := t.do(ctx, stmt{"SELECT pg_advisory_xact_lock($1)", []any{key("scope", tenant, scope.String())}}); err != nil {
			return err
		}
		have, err := remembered(ctx, t, "tenant = $1 AND scope = $2 ORDER BY created, id", tenant, scope)
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
		if err := rooted(ctx, t, tenant, have, want); err != nil {
			return err
		}
		return replaceMemories(ctx, t, tenant, have, want)
	}))
}

// rooted insists that the conversations exist from which something is remembered that was not before.
func rooted(ctx context.Context, t tx, tenant string, have, want []memory.Item) error {
	var known, needed []string
	for i := range have {
		known = append(known, form.Sources(&have[i])...)
	}
	for i := range want {
		for _, id := range form.Sources(&want[i]) {
			if id != "" && !slices.Contains(known, id) && !slices.Contains(needed, id) {
				needed = append(needed, id)
			}
		}
	}
	if needed == nil {
		return nil
	}
	slices.Sort(needed)
	// Locked, so that nobody removes one before what is remembered of it can be seen.
	rows, err := one(t.do(ctx, stmt{`SELECT id FROM conversations WHERE tenant = $1 AND id = ANY ($2) ORDER BY id FOR KEY SHARE`, []any{tenant, needed}}))
	if err != nil {
		return err
	}
	var there []string
	for i := range rows {
		there = append(there, rows[i].text())
	}
	for _, id := range needed {
		if !slices.Contains(there, id) {
			return noConversation(id)
		}
	}
	return nil
}

// replaceMemories writes what differs between the items that there are and those that there are to be.
func replaceMemories(ctx context.Context, t tx, tenant string, have, want []memory.Item) error {
	same := func(it *memory.Item, among []memory.Item) bool {
		return slices.ContainsFunc(among, func(o memory.Item) bool { return o.ID == it.ID && reflect.DeepEqual(o, *it) })
	}
	var gone []string
	for i := range have {
		if !same(&have[i], want) {
			gone = append(gone, have[i].ID)
		}
	}
	stmts := []stmt{{"DELETE FROM memories WHERE tenant = $1 AND id = ANY ($2)", []any{tenant, gone}}}
	var added []string
	for i := range want {
		it := &want[i]
		if same(it, have) {
			continue
		}
		data, err := form.Marshal(spelled(*it, legible))
		if err != nil {
			return fmt.Errorf("encode memory %s: %w", it.ID, err)
		}
		added = append(added, it.ID)
		stmts = append(stmts, stmt{"INSERT INTO memories VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING 1",
			[]any{tenant, it.ID, form.ScopeHash(it.Scope), it.Source.Conversation, it.Created, it.Confirmed,
				!it.Archived.After(it.Restored), form.Sources(it), data}})
	}
	results, err := t.do(ctx, stmts...)
	for i := 0; i < len(added) && err == nil; i++ {
		if len(results[i+1]) == 0 {
			err = fmt.Errorf("memory %s: %w", added[i], store.ErrConflict)
		}
	}
	return err
}

// spelled returns an item with its texts written in another way, as JSON does not hold every byte.
func spelled(it memory.Item, as func(string) string) memory.Item {
	it.Scope.Name, it.Text, it.Extra = as(it.Scope.Name), as(it.Text), as(it.Extra)
	it.Confirmations = slices.Clone(it.Confirmations)
	for i := range it.Confirmations {
		it.Confirmations[i].Evidence = as(it.Confirmations[i].Evidence)
	}
	return it
}
