package source

import (
	"slices"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A Piece is an element of a list as it shall become: one of the source, or new text.
type Piece struct {
	Elem int    // index of the element in the source, if text is nil
	Text []byte // a new element
}

// Rejoin returns the edits that turn the elements of a list, an array or the members of an object,
// into the given pieces. The elements of the source that stay must stay in order; their bytes are not
// touched, and neither are the separators between elements that stay neighbours. New separators are
// written like those of the source.
func Rejoin(src []byte, list jsonspan.Span, elems []jsonspan.Span, pieces []Piece) []Edit {
	style := styleOf(src, list, elems)
	var out []Edit
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
			out = append(out, Edit{at, style.join(fresh, last >= 0, next < len(elems))})
		}
		last, fresh = next, nil
	}
	for _, p := range pieces {
		if p.Text != nil {
			fresh = append(fresh, p.Text)
			continue
		}
		bridge(p.Elem)
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

// join returns what stands between two elements of the source that become neighbours of the fresh
// ones, or of each other; left and right say whether there is such an element on that side.
func (s style) join(fresh [][]byte, left, right bool) []byte {
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

// Without returns the edits that remove the members with the given names from the object at s.
func Without(src []byte, s jsonspan.Span, names ...string) []Edit {
	var keep []Piece
	for i, n := range memberNames(src, s) {
		if !slices.Contains(names, n) {
			keep = append(keep, Piece{Elem: i})
		}
	}
	return Rejoin(src, s, Elements(src, s), keep)
}
