package notebook

import (
	"context"
	"slices"
	"sync"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// An overlay keeps changes of one scope in memory, for a dry run.
type overlay struct {
	under store.Memories
	mu    sync.Mutex
	begun bool
	items []memory.Item
}

// Memories implements store.Memories.
func (o *overlay) Memories(ctx context.Context, q store.MemoryQuery) ([]memory.Item, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun {
		return o.under.Memories(ctx, q)
	}
	return slices.Clone(o.items), nil
}

// Revise implements store.Memories.
func (o *overlay) Revise(ctx context.Context, tenant string, at memory.Scope, do func([]memory.Item) ([]memory.Item, error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun {
		items, err := o.under.Memories(ctx, everything(tenant, at))
		if err != nil {
			return err
		}
		o.items, o.begun = items, true
	}
	items, err := do(slices.Clone(o.items))
	if err == nil {
		o.items = items
	}
	return err
}
