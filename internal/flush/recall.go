package flush

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// mostRecalled is the maximum number of tokens recalled from earlier conversations.
const mostRecalled = 1_000

// Recall returns notes from earlier conversations about a project, for engine.Models.Recall.
func (f *Flusher) Recall(ctx context.Context, tenant, project string, c decant.Counter) (string, error) {
	items, err := f.opts.Store.Memories(ctx, store.MemoryQuery{
		Tenant: tenant, Scopes: []memory.Scope{{Level: memory.Project, Name: project}},
	})
	if err != nil {
		return "", err
	}
	return memory.Brief(items, c.Count, mostRecalled), nil
}
