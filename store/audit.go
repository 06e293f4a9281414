package store

import (
	"context"
	"time"
)

// An Auditor records which commands people have used to change the database. Records are never changed and never
// removed.
type Auditor interface {
	// Audit adds a record.
	Audit(ctx context.Context, a Act) error

	// Acts returns the records that q selects, oldest first.
	Acts(ctx context.Context, q ActQuery) ([]Act, error)
}

// An Act is one thing that somebody did. It holds no content and no key.
type Act struct {
	Number int64 // given by the store, without gaps: a missing number was removed by force
	Time   time.Time
	Actor  string // the user, as the operating system knows them
	Action string // "key add", "undo", ...
	Tenant string // whose data it was about; also empty if it was about all tenants
	Target string // id of what it was about: a key, a conversation
	Detail string // further details, in a few words
}

// An ActQuery selects acts. The zero value selects all.
type ActQuery struct {
	Tenant *string   // nil: of all tenants
	Since  time.Time // inclusive; zero: any
	Limit  int       // at most this many, the newest; 0: all
}
