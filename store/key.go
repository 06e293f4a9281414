package store

import (
	"context"
	"crypto/sha256"
	"time"
)

// A Keyring keeps the keys by which tenants are admitted to a gateway. Only hashes of them are kept.
type Keyring interface {
	// AddKey stores a key, together with the record that it was added. A key whose ID exists is ErrConflict.
	AddKey(ctx context.Context, k TenantKey, by Act) error

	// RevokeKey ends a key for good, together with the record of it. An unknown one is ErrNotFound; one that is
	// revoked already stays as it is, without a record.
	RevokeKey(ctx context.Context, id string, by Act) error

	// TenantKeys returns all keys, revoked ones too, in the order in which they were added.
	TenantKeys(ctx context.Context) ([]TenantKey, error)
}

// A TenantKey admits requests to a gateway as those of one tenant. It is never changed but to be revoked.
type TenantKey struct {
	ID      string // the part of the key that may be shown
	Tenant  string
	Hash    [sha256.Size]byte // of the whole key
	Note    string            // what it is for
	Created time.Time
	Revoked time.Time // zero: it is in force
	Limits  Limits
}

// Limits are what may be done with a key. The zero value limits nothing.
type Limits struct {
	Requests int         `json:"requests_per_minute,omitzero"`
	Tokens   int         `json:"tokens_per_minute,omitzero"`
	Budgets  []Allowance `json:"budgets,omitzero"`
}

// An Allowance is what a tenant may have spent when a key of its is used. Where it sets tokens and dollars,
// both hold.
type Allowance struct {
	Per    string  `json:"per"` // "conversation", "tenant" (all time), "month" or "day" (UTC)
	Tokens int     `json:"tokens,omitzero"`
	USD    float64 `json:"usd,omitzero"`
}
