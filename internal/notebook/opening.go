package notebook

import (
	"cmp"
	"context"
	"slices"

	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/memory"
)

const openingHead = "[Decant notebook: rules that the user has confirmed in this repository, and tasks that are open. What the user says now counts more.]\n"

// Opening returns what a session is told when it begins: rules, those that are worth most first, and open tasks, in at most
// so many tokens. It is empty if there is nothing to tell, or the notebook is off.
func (b *Book) Opening(ctx context.Context, tokens int) (string, error) {
	l, err := b.read(ctx)
	if err != nil || !l.set.Enabled || l.state().Off {
		return "", err
	}
	out, left, told := openingHead, tokens-b.count(openingHead), l.set.RuleTokens
	for _, r := range l.loaded() {
		line := ruleLine(r)
		if n := b.count(line); n <= min(left, told) {
			out, left, told = out+line, left-n, told-n
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
		return "", nil
	}
	return out, nil
}

// A Query selects records. The zero value selects all that are in use.
type Query struct {
	Kinds    []memory.Kind // nil: all
	Text     string        // words; empty: all
	Archived bool          // archived and escalated ones, too
	Limit    int           // 0: all
}

// Items returns records as items, those that fit the words best, or are worth more, first. What Detail is, record.Of says.
func (b *Book) Items(ctx context.Context, q Query) ([]memory.Item, error) {
	l, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	var all []memory.Item
	for _, r := range l.records {
		if r.Own != nil || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, r.Kind) || !q.Archived && (r.Item.State() != memory.Active || !r.Removed.IsZero()) {
			continue
		}
		all = append(all, r.Item)
	}
	all = memory.Rank(all, q.Text)
	return all[:min(len(all), cmp.Or(q.Limit, len(all)))], nil
}

// Find returns the record that a person means by an id, the beginning of one, a rule's number (#3) or a task's name.
func (b *Book) Find(ctx context.Context, name string) (*record.Record, error) {
	l, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	return l.named(name)
}

// Begun reports whether a person has begun this notebook in any worktree: without that, nothing is learned from sessions.
func (b *Book) Begun(ctx context.Context) (bool, error) {
	l, err := b.read(ctx)
	return err == nil && l.own != nil && len(l.own.Roots) > 0, err
}

// State returns what the notebook knows of itself.
func (b *Book) State(ctx context.Context) (record.State, error) {
	l, err := b.read(ctx)
	if err != nil {
		return record.State{}, err
	}
	return *l.state(), nil
}
