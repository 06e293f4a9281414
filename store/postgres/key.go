package postgres

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var (
	_ store.Keyring = (*database)(nil)
	_ store.Auditor = (*database)(nil)
)

// lockActs lets one at a time number acts and keys.
var lockActs = stmt{"SELECT pg_advisory_xact_lock($1)", []any{key("acts")}}

// AddKey implements store.Keyring.
func (db *database) AddKey(ctx context.Context, k store.TenantKey, by store.Act) error {
	limits, err := json.Marshal(&k.Limits)
	if err != nil {
		return wrap("add key", err)
	}
	rows, err := one(db.do(ctx, lockActs, stmt{`WITH k AS (INSERT INTO tenant_keys
			SELECT (SELECT coalesce(max(seq), 0) + 1 FROM tenant_keys), $1, $2, $3, $4, $5, 0, $6 ON CONFLICT (id) DO NOTHING RETURNING tenant, id)
		INSERT INTO acts SELECT (SELECT coalesce(max(seq), 0) + 1 FROM acts), $7, $8, $9, k.tenant, k.id, $10 FROM k RETURNING 1`,
		[]any{k.ID, k.Tenant, k.Hash[:], k.Note, k.Created, limits, by.Time, by.Actor, by.Action, by.Detail}}))
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("key %s: %w", k.ID, store.ErrConflict)
	}
	return wrap("add key", err)
}

// RevokeKey implements store.Keyring.
func (db *database) RevokeKey(ctx context.Context, id string, by store.Act) error {
	results, err := db.do(ctx, lockActs, stmt{`WITH k AS (UPDATE tenant_keys SET revoked = $2 WHERE id = $1 AND revoked = 0 RETURNING tenant, id)
		INSERT INTO acts SELECT (SELECT coalesce(max(seq), 0) + 1 FROM acts), $3, $4, $5, k.tenant, k.id, $6 FROM k`,
		[]any{id, max(1, form.Micros(by.Time)), by.Time, by.Actor, by.Action, by.Detail}},
		stmt{"SELECT 1 FROM tenant_keys WHERE id = $1", []any{id}})
	if err == nil && len(results[2]) == 0 {
		err = fmt.Errorf("key %s: %w", id, store.ErrNotFound)
	}
	return wrap("revoke key", err)
}

// TenantKeys implements store.Keyring.
func (db *database) TenantKeys(ctx context.Context) (out []store.TenantKey, err error) {
	rows, err := db.rows(ctx, "SELECT id, tenant, hash, note, created, revoked, limits FROM tenant_keys ORDER BY seq")
	for i := 0; i < len(rows) && err == nil; i++ {
		r := &rows[i]
		k := store.TenantKey{ID: r.text(), Tenant: r.text()}
		copy(k.Hash[:], r.bytes())
		k.Note, k.Created, k.Revoked = r.text(), r.moment(), r.moment()
		// A limit that this program does not know must not be passed over in silence.
		if err = json.Unmarshal(r.bytes(), &k.Limits, json.RejectUnknownMembers(true)); err != nil {
			err = fmt.Errorf("limits of key %s: %w", k.ID, err)
		}
		out = append(out, k)
	}
	return out, wrap("read keys", err)
}

// Audit implements store.Auditor.
func (db *database) Audit(ctx context.Context, a store.Act) error {
	_, err := db.do(ctx, lockActs, stmt{"INSERT INTO acts SELECT coalesce(max(seq), 0) + 1, $1, $2, $3, $4, $5, $6 FROM acts",
		[]any{a.Time, a.Actor, a.Action, a.Tenant, a.Target, a.Detail}})
	return wrap("write audit log", err)
}

// Acts implements store.Auditor.
func (db *database) Acts(ctx context.Context, q store.ActQuery) (out []store.Act, err error) {
	where, args := "time >= $1", []any{q.Since}
	if q.Tenant != nil {
		where, args = where+" AND tenant = $2", append(args, *q.Tenant)
	}
	limit := ""
	if q.Limit > 0 {
		limit = fmt.Sprint(" LIMIT ", q.Limit)
	}
	rows, err := db.rows(ctx, "SELECT * FROM (SELECT seq, time, actor, action, tenant, target, detail FROM acts WHERE "+where+
		" ORDER BY seq DESC"+limit+") a ORDER BY seq", args...)
	for i := range rows {
		r := &rows[i]
		out = append(out, store.Act{Number: r.int64(), Time: r.moment(), Actor: r.text(), Action: r.text(),
			Tenant: r.text(), Target: r.text(), Detail: r.text()})
	}
	return out, wrap("read audit log", err)
}
