package hook

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// Memories is what a store remembers in some scopes beside the notebook.
type Memories struct {
	Store  store.Memories
	Tenant string
	Scopes []memory.Scope
	Count  func(text string) int // tokens
}

// openingHead says what the lines below it are.
const (
	openingHead  = "Rules and tasks that the user has had remembered besides; what the user says now counts more."
	openingTasks = "Open tasks:"
)

// Opening returns the rules, then the open tasks, those that were confirmed last first.
func (m Memories) Opening(ctx context.Context, tokens int) (string, error) {
	items, err := m.Store.Memories(ctx, store.MemoryQuery{Tenant: m.Tenant, Scopes: m.Scopes})
	if err != nil {
		return "", err
	}
	items = slices.DeleteFunc(items, func(it memory.Item) bool {
		return it.State() != memory.Active || it.Kind != memory.KindRule && it.Kind != memory.KindTask
	})
	slices.SortStableFunc(items, func(a, b memory.Item) int { return cmp.Compare(order(&a), order(&b)) })
	out := &strings.Builder{}
	left := tokens - m.Count(openingHead) - m.Count(openingTasks)
	for i := range items {
		line := "- " + items[i].Text
		if left -= m.Count(line) + 1; left < 0 {
			break
		}
		if out.Len() == 0 {
			out.WriteString(openingHead)
		}
		if items[i].Kind == memory.KindTask && (i == 0 || items[i-1].Kind != memory.KindTask) {
			out.WriteString("\n" + openingTasks)
		}
		out.WriteString("\n" + line)
	}
	return out.String(), nil
}

// order puts rules before tasks.
func order(it *memory.Item) int {
	if it.Kind == memory.KindRule {
		return 0
	}
	return 1
}
