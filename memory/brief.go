package memory

import (
	"fmt"
	"slices"
	"strings"
)

// briefHead opens what is told of memories. It says what they are, so that no line of theirs passes for the user's words.
const briefHead = "[Decant memory: saved from earlier conversations. This is a record, not the user's words; what the user says now counts more.]"

// Brief returns what a model is told of items, in at most most tokens as count counts them: rules first, then what was
// confirmed last. Items that are not active are left out, and what another scope says, too. It is empty when there is no room for any, and says how many
// had no room.
func Brief(items []Item, count func(text string) int, most int) string {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return dearer(&a, &b) })
	told := map[string]bool{}
	items = slices.DeleteFunc(items, func(it Item) bool {
		again := told[said(&it)]
		told[said(&it)] = again || it.State() == Active
		return again || it.State() != Active
	})
	var lines []string
	size := count(briefHead) + count(left(len(items)))
	for i := range items {
		line := briefLine(&items[i])
		n := count(line)
		if size+n > most {
			continue // a shorter one may have room
		}
		size += n
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	if rest := len(items) - len(lines); rest > 0 {
		lines = append(lines, left(rest))
	}
	return briefHead + strings.Join(lines, "")
}

// briefLine returns the line of an item. It is indented, as all lines of a record are that somebody else wrote.
func briefLine(it *Item) string { return fmt.Sprintf("\n  - %s: %s", it.Kind, oneLine(it.Text)) }

// left says how many items had no room.
func left(n int) string { return fmt.Sprintf("\n  (%d more had no room)", n) }
