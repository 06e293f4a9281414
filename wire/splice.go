package wire

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An edit replaces a span of the source by other bytes.
type edit struct {
	at   jsonspan.Span
	text []byte
}

// splice returns src with the edits made, and src itself when there are none. Edits must not overlap;
// those at one offset take effect in the order given.
func splice(src []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return src
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at.Start, b.at.Start) })
	size := len(src)
	for _, e := range edits {
		size += len(e.text) - e.at.Len()
	}
	out := make([]byte, 0, size)
	pos := 0
	for _, e := range edits {
		out = append(append(out, src[pos:e.at.Start]...), e.text...)
		pos = e.at.End
	}
	return append(out, src[pos:]...)
}

// spliceWithin returns the bytes of s in src with those edits made that lie in it.
func spliceWithin(src []byte, s jsonspan.Span, edits []edit) []byte {
	var inside []edit
	for _, e := range edits {
		if e.at.Start >= s.Start && e.at.End <= s.End {
			e.at.Start -= s.Start
			e.at.End -= s.Start
			inside = append(inside, e)
		}
	}
	return splice(s.Of(src), inside)
}
