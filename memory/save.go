package memory

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
)

// Bounds of what is remembered.
const (
	MaxActive   = 500 // items of one scope that are not archived
	MaxArchived = 500 // archived items of one scope; of more, those that were archived first are removed
)

// Save returns what makes room for items in their scope and adds them, for store.Memories.Revise. An item whose text is
// there already, or differs only in case, punctuation and words that say nothing, confirms the one that has it. An item
// whose From names another one of the scope corrects it: that one is archived.
func Save(items ...Item) func([]Item) ([]Item, error) {
	return func(have []Item) ([]Item, error) {
		have = slices.Clone(have)
		at := make(map[string]int, len(have)) // by what an item says
		for i := range slices.Backward(have) {
			at[said(&have[i])] = i
		}
		var newest time.Time
		for i := range items {
			it := &items[i]
			newest = later(newest, it.Created)
			k, ok := at[said(it)]
			if ok {
				have[k] = Confirm(have[k], Confirmation{Source: it.Source, Evidence: it.Text, Time: it.Created})
			} else {
				k = len(have)
				at[said(it)] = k
				have = append(have, *it)
			}
			correct(have, it.From, k, it.Created)
		}
		return bounded(have, newest), nil
	}
}

// correct archives the item with an id, if it is one of have and in use, in favour of the k-th.
func correct(have []Item, id string, k int, at time.Time) {
	i := slices.IndexFunc(have, func(it Item) bool { return it.ID == id })
	if i < 0 || i == k || have[i].State() != Active {
		return
	}
	if it, err := Archive(have[i], at); err == nil {
		it.Became = have[k].ID
		have[i] = it
	}
}

// said returns what an item says, the same for items that say the same.
func said(it *Item) string { return string(it.Kind) + "\n" + strings.Join(significant(it.Text), " ") }

// bounded returns the items of a scope within its bounds. Of too many, those that were confirmed longest ago are
// archived, rules last. Of too many archived ones those that were archived first are removed.
func bounded(have []Item, now time.Time) []Item {
	var active, archived []int
	for i := range have {
		if have[i].State() == Archived {
			archived = append(archived, i)
		} else {
			active = append(active, i)
		}
	}
	slices.SortStableFunc(active, func(a, b int) int { return dearer(&have[a], &have[b]) })
	for _, i := range active[min(MaxActive, len(active)):] {
		if it, err := Archive(have[i], now); err == nil {
			have[i] = it
			archived = append(archived, i)
		}
	}
	slices.SortStableFunc(archived, func(a, b int) int { return have[b].Archived.Compare(have[a].Archived) })
	gone := archived[min(MaxArchived, len(archived)):]
	slices.Sort(gone)
	for _, i := range slices.Backward(gone) {
		have = slices.Delete(have, i, i+1)
	}
	return have
}

// dearer orders items by what is worth more: rules first, then what was confirmed more recently, and more often.
func dearer(a, b *Item) int {
	return cmp.Or(ruleFirst(a, b), b.Confirmed.Compare(a.Confirmed), cmp.Compare(b.Times, a.Times), cmp.Compare(a.ID, b.ID))
}

// ruleFirst orders rules before everything else.
func ruleFirst(a, b *Item) int {
	switch {
	case a.Kind == KindRule && b.Kind != KindRule:
		return -1
	case a.Kind != KindRule && b.Kind == KindRule:
		return 1
	}
	return 0
}

// Update returns what changes one item of a scope, for store.Memories.Revise. An item that is not there any longer is
// an error.
func Update(id string, change func(Item) (Item, error)) func([]Item) ([]Item, error) {
	return func(have []Item) ([]Item, error) {
		i := slices.IndexFunc(have, func(it Item) bool { return it.ID == id })
		if i < 0 {
			return nil, errors.New("memory " + id + " is not there any longer")
		}
		it, err := change(have[i])
		if err != nil {
			return nil, err
		}
		have = slices.Clone(have)
		have[i] = it
		return have, nil
	}
}
