package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

const aboutRules = "List the rules of this project, its open tasks, and what is remembered or observed about it, with their ids. Rules were confirmed by the user: follow them unless the user says otherwise now. Observations are not rules."

// Limits of items.
const (
	fewItems  = 50
	mostItems = 200
)

type rulesInput struct {
	Kind   string `json:"kind,omitempty" jsonschema:"rule, task, observation, memory or error; without it rules and open tasks"`
	Words  string `json:"words,omitempty" jsonschema:"only items with one of these words, best first"`
	Offset int    `json:"offset,omitempty" jsonschema:"how many to skip, to get the next ones"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many at most, up to 200; 50 without it"`
}

// rules is the tool of that name.
func (t *tools) rules(ctx context.Context, in rulesInput) ([]string, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	items, err := t.items(ctx, s)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(it memory.Item) bool {
		if in.Kind == "" {
			return it.Kind != memory.KindRule && it.Kind != memory.KindTask
		}
		return string(it.Kind) != in.Kind
	})
	if items = memory.Rank(items, in.Words); len(items) == 0 {
		return []string{"There are none."}, nil
	}
	offset := min(max(in.Offset, 0), len(items))
	end := min(len(items), offset+min(cmp.Or(max(in.Limit, 0), fewItems), mostItems))
	var out strings.Builder
	for _, it := range items[offset:end] {
		fmt.Fprintf(&out, "%s  %s  (confirmed %d times, last %s): %s\n", it.ID, it.Kind, it.Times, it.Confirmed.UTC().Format("2006-01-02"), it.Text)
	}
	if end < len(items) {
		fmt.Fprintf(&out, "%d more: rules again with offset %d.\n", len(items)-end, end)
	}
	return []string{out.String()}, nil
}

// items returns the active items.
func (t *tools) items(ctx context.Context, s *served) ([]memory.Item, error) {
	items, err := s.Memories(ctx, store.MemoryQuery{Tenant: s.tenant, Scopes: t.Read})
	return slices.DeleteFunc(items, func(it memory.Item) bool { return it.State() != memory.Active || !told(it) }), err
}

// told reports whether an agent is told of an item. It leaves out suspended rules, completed tasks and a
// notebook's own records.
func told(it memory.Item) bool {
	r, err := notebook.RecordOf(it)
	if err != nil { // not a record of a notebook
		return true
	}
	return r.Own == nil && r.Context == nil && r.Suspended.IsZero() && (r.Task == nil || r.Task.Done.IsZero())
}
