package form

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant/store"
)

// Keep adds a line that holds h(known) to m if no longer prefix is known, once.
func Keep(m *store.Match, known int, l store.Line) {
	if known < m.Known {
		return
	}
	if known > m.Known {
		m.Known, m.Lines = known, nil
	}
	// A fork holds the last hash that it shares, and holds it again where it goes on thinking.
	if i := slices.IndexFunc(m.Lines, func(o store.Line) bool { return o.ID == l.ID }); i >= 0 {
		m.Lines[i].Position = max(m.Lines[i].Position, l.Position)
		return
	}
	m.Lines = append(m.Lines, l)
}

// CompareLines orders the lines of a match: those that end there, then the last changed.
func CompareLines(a, b store.Line) int {
	ends := func(l store.Line) int { return min(1, l.Length-l.Position) }
	return cmp.Or(cmp.Compare(ends(a), ends(b)), b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
}
