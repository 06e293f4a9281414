package source

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An Edit replaces a span of the source by other bytes.
type Edit struct {
	At   jsonspan.Span
	Text []byte
}

// Splice returns src with the edits made, and src itself when there are none. Edits must not overlap;
// those at one offset take effect in the order given.
func Splice(src []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return src
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.At.Start, b.At.Start) })
	size := len(src)
	for _, e := range edits {
		size += len(e.Text) - e.At.Len()
	}
	out := make([]byte, 0, size)
	pos := 0
	for _, e := range edits {
		out = append(append(out, src[pos:e.At.Start]...), e.Text...)
		pos = e.At.End
	}
	return append(out, src[pos:]...)
}

// SpliceWithin returns the bytes of s in src with those edits made that lie in it.
func SpliceWithin(src []byte, s jsonspan.Span, edits []Edit) []byte {
	var inside []Edit
	for _, e := range edits {
		if e.At.Start >= s.Start && e.At.End <= s.End {
			e.At.Start -= s.Start
			e.At.End -= s.Start
			inside = append(inside, e)
		}
	}
	return Splice(s.Of(src), inside)
}
