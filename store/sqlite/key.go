package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

var _ store.Keyring = (*database)(nil)

// AddKey implements store.Keyring.
func (db *database) AddKey(ctx context.Context, k store.TenantKey, by store.Act) error {
	limits, err := json.Marshal(&k.Limits)
	if err != nil {
		return fmt.Errorf("add key: %w", err)
	}
	return wrap("add key", db.write(ctx, func(t *tx) error {
		n, err := t.change("INSERT INTO tenant_keys (id, tenant, hash, note, created, limits) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
			k.ID, k.Tenant, k.Hash[:], t.text(k.Note, notePlace(k.Tenant, k.ID)), form.Micros(k.Created), string(limits))
		if err == nil && n == 0 {
			err = fmt.Errorf("key %s: %w", k.ID, store.ErrConflict)
		}
		if err != nil {
			return err
		}
		by.Tenant, by.Target = k.Tenant, k.ID
		return t.audit(by)
	}))
}

// RevokeKey implements store.Keyring.
func (db *database) RevokeKey(ctx context.Context, id string, by store.Act) error {
	return wrap("revoke key", db.write(ctx, func(t *tx) error {
		var tenant string
		var revoked int64
		err := t.row("SELECT tenant, revoked FROM tenant_keys WHERE id = ?", []any{id}, &tenant, &revoked)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("key %s: %w", id, store.ErrNotFound)
		case err != nil || revoked != 0:
			return err
		}
		if err := t.exec("UPDATE tenant_keys SET revoked = ? WHERE id = ?", max(1, form.Micros(by.Time)), id); err != nil {
			return err
		}
		by.Tenant, by.Target = tenant, id
		return t.audit(by)
	}))
}

// TenantKeys implements store.Keyring.
func (db *database) TenantKeys(ctx context.Context) ([]store.TenantKey, error) {
	var out []store.TenantKey
	err := db.rows(ctx, "SELECT id, tenant, hash, note, created, revoked, limits FROM tenant_keys ORDER BY seq", nil, func(rows *sql.Rows) error {
		k, err := db.how.scanKey(rows)
		out = append(out, k)
		return err
	})
	return out, wrap("read keys", err)
}

func (s sealing) scanKey(rows *sql.Rows) (k store.TenantKey, err error) {
	var hash, note, limits []byte
	var created, revoked int64
	if err := rows.Scan(&k.ID, &k.Tenant, &hash, &note, &created, &revoked, &limits); err != nil {
		return k, err
	}
	if err := s.opened(&k.Note, note, notePlace(k.Tenant, k.ID)); err != nil {
		return k, fmt.Errorf("note of key %s: %w", k.ID, err)
	}
	copy(k.Hash[:], hash)
	k.Created = form.Moment(created)
	if revoked != 0 {
		k.Revoked = form.Moment(revoked)
	}
	// A limit that this program does not know must not be passed over in silence.
	if err := json.Unmarshal(limits, &k.Limits, json.RejectUnknownMembers(true)); err != nil {
		return k, fmt.Errorf("limits of key %s: %w", k.ID, err)
	}
	return k, nil
}
