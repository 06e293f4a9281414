package memory

import (
	"fmt"
	"slices"
	"time"
)

// State is where an item is in its life.
type State string

// The states.
const (
	Active    State = "active"
	Escalated State = "escalated" // an observation that has become a rule
	Archived  State = "archived"  // kept, and not used
)

// MaxEvidence is how many confirmations of one item are kept, the newest ones.
const MaxEvidence = 20

// State returns the state of the item.
func (it *Item) State() State {
	switch {
	case it.Archived.After(it.Restored):
		return Archived
	case !it.Escalated.IsZero():
		return Escalated
	}
	return Active
}

// Confirm returns the item with one more confirmation. An archived item is restored by it. An occasion that is known
// already, from the same messages and with the same words, changes nothing.
func Confirm(it Item, c Confirmation) Item {
	evidence, err := clean(c.Evidence)
	if err != nil {
		evidence = it.Text
	}
	c.Evidence = evidence
	if known(&it, &c) {
		return it
	}
	if it.State() == Archived {
		it.Restored = later(c.Time, it.Archived) // clocks of several machines differ
	}
	all := append(slices.Clone(it.Confirmations), c)
	it.Confirmations = all[max(0, len(all)-MaxEvidence):]
	it.Times++
	if c.Time.After(it.Confirmed) {
		it.Confirmed = c.Time
	}
	return it
}

// known reports whether an item has an occasion already: saving the same twice confirms nothing.
func known(it *Item, c *Confirmation) bool {
	if c.Conversation == "" {
		return false
	}
	same := func(s Source, words string) bool { return s == c.Source && words == c.Evidence }
	return same(it.Source, it.Text) || slices.ContainsFunc(it.Confirmations, func(k Confirmation) bool { return same(k.Source, k.Evidence) })
}

// Archive returns the item as one that is kept and not used.
func Archive(it Item, at time.Time) (Item, error) {
	if it.State() == Archived {
		return it, fmt.Errorf("%s is archived already", it.ID)
	}
	if it.Archived = at; !at.After(it.Restored) {
		it.Archived = it.Restored.Add(time.Microsecond) // as fine as stores keep times
	}
	return it, nil
}

// Restore returns an archived item as one that is in use again.
func Restore(it Item, at time.Time) (Item, error) {
	if it.State() != Archived {
		return it, fmt.Errorf("%s is %s: only what is archived can be restored", it.ID, it.State())
	}
	it.Restored = later(at, it.Archived)
	return it, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Without returns the item without what a conversation has contributed: its confirmations there, and its text, if that
// comes from there. The text is then what the oldest confirmation from elsewhere says. It reports false if nothing is
// left.
func Without(it Item, conversation string) (Item, bool) {
	if it.Scope == (Scope{Conversation, conversation}) {
		return Item{}, false
	}
	rest := slices.DeleteFunc(slices.Clone(it.Confirmations), func(c Confirmation) bool { return c.Conversation == conversation })
	it.Times -= len(it.Confirmations) - len(rest)
	if it.Source.Conversation == conversation {
		if len(rest) == 0 {
			return Item{}, false
		}
		first := rest[0]
		it.Text, it.Source, it.Created, it.Extra = first.Evidence, first.Source, first.Time, ""
		it.Times--
		rest = rest[1:]
	}
	it.Confirmations, it.Confirmed = rest, it.Created
	for _, c := range rest {
		it.Confirmed = later(it.Confirmed, c.Time)
	}
	return it, true
}
