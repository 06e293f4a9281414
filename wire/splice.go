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

// A piece is an element of a list as it shall become: one of the source, or new text.
type piece struct {
	elem int    // index of the element in the source, if text is nil
	text []byte // a new element
}

// reseam returns the edits that turn the elements of a list, an array or the members of an object,
// into the given pieces. The elements of the source that stay must stay in order; their bytes are not
// touched, and neither are the separators between elements that stay neighbours. New separators are
// written like those of the source.
func reseam(src []byte, list jsonspan.Span, elems []jsonspan.Span, pieces []piece) []edit {
	style := styleOf(src, list, elems)
	var out []edit
	var fresh [][]byte // new elements since the last one of the source
	last := -1
	bridge := func(next int) { // closes the gap between the last element of the source and the next
		if len(fresh) > 0 || next != last+1 {
			at := jsonspan.Span{Start: list.Start + 1, End: list.End - 1}
			if last >= 0 {
				at.Start = elems[last].End
			}
			if next < len(elems) {
				at.End = elems[next].Start
			}
			out = append(out, edit{at, style.seam(fresh, last >= 0, next < len(elems))})
		}
		last, fresh = next, nil
	}
	for _, p := range pieces {
		if p.text != nil {
			fresh = append(fresh, p.text)
			continue
		}
		bridge(p.elem)
	}
	bridge(len(elems))
	return out
}

// A style is how a list spaces its elements.
type style struct{ lead, sep, trail string }

func styleOf(src []byte, list jsonspan.Span, elems []jsonspan.Span) style {
	s := style{sep: ","}
	if len(elems) == 0 {
		return s
	}
	s.lead = string(src[list.Start+1 : elems[0].Start])
	s.trail = string(src[elems[len(elems)-1].End : list.End-1])
	if len(elems) > 1 {
		s.sep = string(src[elems[0].End:elems[1].Start])
	} else {
		s.sep += s.lead
	}
	return s
}

// seam returns what stands between two elements of the source that become neighbours of the fresh
// ones, or of each other; left and right say whether there is such an element on that side.
func (s style) seam(fresh [][]byte, left, right bool) []byte {
	var out []byte
	for i, text := range fresh {
		if i > 0 || left {
			out = append(out, s.sep...)
		} else {
			out = append(out, s.lead...)
		}
		out = append(out, text...)
	}
	switch full := left || len(fresh) > 0; {
	case full && right:
		return append(out, s.sep...)
	case full:
		return append(out, s.trail...)
	case right:
		return append(out, s.lead...)
	}
	return out
}

// elements returns the spans of the elements of the array at list, or of the members of the object
// there, names included.
func elements(src []byte, list jsonspan.Span) []jsonspan.Span {
	var out []jsonspan.Span
	sc := jsonspan.Scan(src, list.Start)
	object := sc.Kind() == '{'
	for sc.Open(); sc.Next(); {
		start := sc.Pos()
		if object {
			sc.Name()
		}
		out = append(out, jsonspan.Span{Start: start, End: sc.Skip().End})
	}
	return out
}

// memberNames returns the names of the members of the object at s, in order.
func memberNames(src []byte, s jsonspan.Span) []string {
	var out []string
	sc := jsonspan.Scan(src, s.Start)
	for sc.Open(); sc.Next(); {
		out = append(out, string(sc.Name()))
		sc.Skip()
	}
	return out
}

// without returns the edits that remove the members with the given names from the object at s.
func without(src []byte, s jsonspan.Span, names ...string) []edit {
	var keep []piece
	for i, n := range memberNames(src, s) {
		if !slices.Contains(names, n) {
			keep = append(keep, piece{elem: i})
		}
	}
	return reseam(src, s, elements(src, s), keep)
}
