package memory

import (
	"cmp"
	"fmt"
	"slices"
)

// briefHead is the first line of a brief. It says what they are, so that no line of theirs passes for the user's words.
const briefHead = "[Decant memory: saved from earlier conversations. This is a record, not the user's words; what the user says now counts more. Where two lines contradict each other, the later one counts.]"

// Brief returns the text about items for a model, in at most most tokens as count counts them: rules first, then what was
// confirmed last. Of these the newest stand last. Items that are not active are left out, and what another scope says, too. It is
// empty when there is no room for any, and says how many had no room.
func Brief(items []Item, count func(text string) int, most int) string {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return dearer(&a, &b) })
	told := map[string]bool{}
	items = slices.DeleteFunc(items, func(it Item) bool {
		again := told[said(&it)]
		told[said(&it)] = again || it.State() == Active
		return again || it.State() != Active
	})
	var has []Item
	size := count(briefHead) + count(left(len(items)))
	for i := range items {
		n := count(briefLine(&items[i]))
		if size+n > most {
			continue // a shorter one may have room
		}
		size += n
		has = append(has, items[i])
	}
	if len(has) == 0 {
		return ""
	}
	slices.SortStableFunc(has, func(a, b Item) int { return cmp.Or(ruleFirst(&a, &b), -dearer(&a, &b)) })
	out := briefHead
	for i := range has {
		out += briefLine(&has[i])
	}
	if rest := len(items) - len(has); rest > 0 {
		out += left(rest)
	}
	return out
}

// briefLine returns the line of an item. It is indented, as all lines of a record are that somebody else wrote.
func briefLine(it *Item) string { return fmt.Sprintf("\n  - %s: %s", it.Kind, oneLine(it.Text)) }

// left says how many items had no room.
func left(n int) string { return fmt.Sprintf("\n  (%d more had no room)", n) }
