package store

import (
	"context"
	"crypto/sha256"
	"time"
)

// A Keyring stores the keys that admit tenants to a gateway. It stores only their hashes.
type Keyring interface {
	// AddKey stores a key and the record of adding it. If its ID exists, the error is ErrConflict.
	AddKey(ctx context.Context, k TenantKey, by Act) error

	// RevokeKey revokes a key for good and stores the record of it. If the key is unknown, the error is ErrNotFound.
	// If it is revoked already, nothing happens and nothing is recorded.
	RevokeKey(ctx context.Context, id string, by Act) error

	// TenantKeys returns all keys, including revoked ones, in the order in which they were added.
	TenantKeys(ctx context.Context) ([]TenantKey, error)
}

// A TenantKey admits requests to a gateway as requests of one tenant. It never changes, except to be revoked.
type TenantKey struct {
	ID      string // the part of the key that may be shown
	Tenant  string
	Hash    [sha256.Size]byte // of the whole key
	Note    string            // what it is for
	Created time.Time
	Revoked time.Time // zero: it is in force
	Limits  Limits
}

// Limits limit what a key may be used for. The zero value limits nothing.
type Limits struct {
	Requests int         `json:"requests_per_minute,omitzero"`
	Tokens   int         `json:"tokens_per_minute,omitzero"`
	Budgets  []Allowance `json:"budgets,omitzero"`
}

// An Allowance is the most that a tenant may have spent when one of its keys is used. If it sets tokens and
// dollars, both apply.
type Allowance struct {
	Per    string  `json:"per"` // "conversation", "tenant" (all time), "month" or "day" (UTC)
	Tokens int     `json:"tokens,omitzero"`
	USD    float64 `json:"usd,omitzero"`
}
