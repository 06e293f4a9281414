package store

import (
	"context"

	"github.com/decantdev/decant/memory"
)

// Memories keeps what outlives conversations. Collector.Forget removes it.
type Memories interface {
	// Memories returns the items that q selects, last confirmed first.
	Memories(ctx context.Context, q MemoryQuery) ([]memory.Item, error)

	// Revise lets do change what is remembered in one scope. do gets all items of the scope, the oldest first, and returns
	// those that the scope is to have: new ones are added, changed ones changed, missing ones removed. Nothing else happens
	// in the scope meanwhile. do must be quick and do nothing else; it may be called again. Its error is returned, and
	// nothing has changed then. An id that another scope of the tenant has is ErrConflict. An item from a
	// conversation that does not exist, and that the scope has no other item from, is ErrNotFound: the conversation
	// may have been forgotten in the meantime.
	Revise(ctx context.Context, tenant string, at memory.Scope, do func([]memory.Item) ([]memory.Item, error)) error
}

// A MemoryQuery selects items. The zero value selects all of the tenant "" that are not archived.
type MemoryQuery struct {
	Tenant       string
	Scopes       []memory.Scope // nil: all
	Name         string         // the beginning of an id, as people type it; empty: any
	Conversation string         // only those that come from this conversation or were confirmed there; empty: any
	Archived     bool           // archived ones, too
	Limit        int            // 0: 1000
}
