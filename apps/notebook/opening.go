package notebook

import (
	"context"
	"slices"
	"strings"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

const (
	openingHead = "[Decant notebook: rules that the user has confirmed in this repository, and tasks that are open. " +
		"What the user says now counts more.]\n"
	besidesHead = "Rules and tasks that the user has had remembered besides; what the user says now counts more."
	tasksHead   = "Open tasks:"
)

// Opening returns what a session is told when it begins, in at most so many tokens: rules, the most confirmed
// ones first, open tasks, and then the rules and tasks remembered in other scopes. It is empty if there is
// nothing to tell. While the notebook is off, only the other scopes count.
func (b *Book) Opening(ctx context.Context, tokens int, besides ...memory.Scope) (string, error) {
	l, err := b.read(ctx)
	if err != nil {
		return "", err
	}
	text := ""
	if l.set.Enabled && !l.state().Off {
		text = b.opening(l, tokens)
	}
	if len(besides) == 0 {
		return text, nil
	}
	items, err := b.o.Memories.Memories(ctx, store.MemoryQuery{Tenant: b.o.Tenant, Scopes: besides})
	return text + b.remembered(items, tokens-b.count(text)), err
}

// opening returns the notebook's own rules and open tasks.
func (b *Book) opening(l *ledger, tokens int) string {
	out, left, rules := openingHead, tokens-b.count(openingHead), l.set.RuleTokens
	for _, r := range l.loaded() {
		line := ruleLine(r)
		if n := b.count(line); n <= min(left, rules) {
			out, left, rules = out+line, left-n, rules-n
		}
	}
	for _, r := range slices.Backward(l.records) {
		if r.Task == nil || !r.Task.Done.IsZero() || r.Item.State() != memory.Active {
			continue
		}
		line := "- Open " + r.Task.Ref + ": " + r.Text + "\n"
		if n := b.count(line); n <= left {
			out, left = out+line, left-n
		}
	}
	if out == openingHead {
		return ""
	}
	return out
}

// remembered returns the rules and then the open tasks among items, in their order.
func (b *Book) remembered(items []memory.Item, tokens int) string {
	var out strings.Builder
	left, tasks := tokens-b.count(besidesHead)-b.count(tasksHead), false
	for _, kind := range []memory.Kind{memory.KindRule, memory.KindTask} {
		for i := range items {
			if items[i].State() != memory.Active || items[i].Kind != kind {
				continue
			}
			line := "- " + items[i].Text
			if left -= b.count(line) + 1; left < 0 {
				return out.String()
			}
			if out.Len() == 0 {
				out.WriteString(besidesHead)
			}
			if kind == memory.KindTask && !tasks {
				out.WriteString("\n" + tasksHead)
				tasks = true
			}
			out.WriteString("\n" + line)
		}
	}
	return out.String()
}

// A Query selects records. The zero value selects all active ones.
type Query struct {
	Kinds    []memory.Kind // nil: all
	Text     string        // words; empty: all
	Archived bool          // archived and escalated ones, too
}

// Items returns records as items: the best matches first, without words the most confirmed ones. record.Of
// unpacks them.
func (b *Book) Items(ctx context.Context, q Query) ([]memory.Item, error) {
	l, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	var all []memory.Item
	for _, r := range l.records {
		active := r.Item.State() == memory.Active && r.Removed.IsZero()
		if r.Own == nil && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) && (active || q.Archived) {
			all = append(all, r.Item)
		}
	}
	return memory.Rank(all, q.Text), nil
}

// Find returns the record with an id, the beginning of one, a rule's number (#3) or a task's name.
func (b *Book) Find(ctx context.Context, name string) (*Record, error) {
	l, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	return l.named(name)
}

// Begun reports whether a person started this notebook in any worktree. Until then nothing is learned from sessions.
func (b *Book) Begun(ctx context.Context) (bool, error) {
	l, err := b.read(ctx)
	return err == nil && l.own != nil && len(l.own.Roots) > 0, err
}

// State returns the notebook's own state.
func (b *Book) State(ctx context.Context) (State, error) {
	l, err := b.read(ctx)
	if err != nil {
		return State{}, err
	}
	return *l.state(), nil
}
