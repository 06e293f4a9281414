package replay

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/ruler"
)

// A sight is a view of the first n messages as the judge looks at it.
type sight struct {
	*judge
	n      int
	at     [][]int // where each block of the history stands in the view if it stands there as it was; -1: not
	others []stands
}

// stands is a text that is not in the history, and where it stands in the view.
type stands struct {
	*other
	at int
}

func (j *judge) sight(view []decant.Message, n int) *sight {
	s := &sight{judge: j, n: n, at: make([][]int, n)}
	index := make(map[int]int, n)
	for i := range n {
		m := &j.seg.conv.Messages[i]
		index[m.Number] = i
		s.at[i] = make([]int, len(m.Blocks))
		for k := range s.at[i] {
			s.at[i][k] = -1
		}
	}
	at := 0
	for i := range view {
		for k := range view[i].Blocks {
			at++
			b := &view[i].Blocks[k]
			message, ok := index[b.Ref.Message]
			if ok && b.Changed == "" {
				s.at[message][blockAt(&j.seg.conv.Messages[message], b.Ref)] = at
			} else if text := said(b); text != "" {
				s.others = append(s.others, stands{j.other(text), at})
			}
		}
	}
	return s
}

// blockAt returns the index of the block of a message that has a ref; recordings may lack some.
func blockAt(m *decant.Message, ref decant.Ref) int {
	if ref.Block < len(m.Blocks) && m.Blocks[ref.Block].Ref == ref {
		return ref.Block
	}
	return max(0, slices.IndexFunc(m.Blocks, func(b decant.Block) bool { return b.Ref == ref }))
}

// holds reports whether an atom is in view.
func (s *sight) holds(id int) bool {
	a := &s.atoms[id]
	for _, p := range a.held {
		if p.message < s.n && s.at[p.message][p.block] >= 0 {
			return true
		}
	}
	for _, o := range s.others {
		if o.holds(id, a) {
			return true
		}
	}
	if !ruler.InParts(a.text, a.kind) {
		return false
	}
	for _, p := range s.spots(id) {
		if p.message < s.n && s.at[p.message][p.block] >= 0 {
			return true
		}
	}
	return false
}

// grounds reports whether an atom that is in view stands there on a line that says something of what
// stood beside it before, and whether it does if not only the first places count, or stands there where it stood last.
func (s *sight) grounds(id int) (first, anywhere bool) {
	var before []ruler.Context
	var now []seen
	whole, last := true, false
	for _, p := range s.spots(id) {
		if p.message >= s.n {
			break
		}
		before = append(before, p.beside...)
		at := s.at[p.message][p.block]
		if last = at >= 0; last {
			now = append(now, seen{at, p.beside})
		} else {
			whole = false
		}
	}
	if whole { // every line on which it stood is there
		return true, true
	}
	for _, o := range s.others {
		if c := o.contexts(id, &s.atoms[id]); c != nil {
			now = append(now, seen{o.at, c})
		}
	}
	slices.SortStableFunc(now, func(a, b seen) int { return a.at - b.at })
	var contexts []ruler.Context
	for _, n := range now {
		contexts = append(contexts, n.beside...)
	}
	first = ruler.Grounded(before, contexts)
	return first, first || last || ruler.GroundedAnywhere(before, contexts)
}

// seen is where an atom stands in a view, and what stands beside it.
type seen struct {
	at     int
	beside []ruler.Context
}
