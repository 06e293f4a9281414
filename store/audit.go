package store

import (
	"context"
	"time"
)

// An Auditor keeps what people have done to the database by commands. What is kept is never changed and never
// removed.
type Auditor interface {
	// Audit adds a record.
	Audit(ctx context.Context, a Act) error

	// Acts returns the records that q selects, oldest first.
	Acts(ctx context.Context, q ActQuery) ([]Act, error)
}

// An Act is something that somebody has done. It holds no content and no key.
type Act struct {
	Number int64 // given by the store, without gaps: one that is missing was removed by force
	Time   time.Time
	Actor  string // who, as the operating system knows them
	Action string // "key add", "undo", ...
	Tenant string // whose data it was about; empty also when it was about all
	Target string // id of what it was about: a key, a conversation
	Detail string // what else is to be known, in a few words
}

// An ActQuery selects acts. The zero value selects all.
type ActQuery struct {
	Tenant *string   // nil: of all tenants
	Since  time.Time // inclusive; zero: any
	Limit  int       // the newest so many; 0: all
}
