package dialect

import (
	"sort"

	"github.com/decantdev/decant/internal/jsonspan"
)

// The members of an object are found before they are written, in another order; so an object inside it is passed
// over once more for each object around it. For what people and models write that is the fastest way. What is
// nested deeper is looked through once, and from there on it is known where everything ends.

// deepFrom is how many objects, one inside the other, are written without that.
const deepFrom = 16

// enter notes that the object that comes next is being written.
func (c *canon) enter(sc *jsonspan.Scanner) {
	if c.depth++; c.depth == deepFrom {
		c.inside = jsonspan.Containers(c.src, sc.Pos())
	}
}

// leave notes that it is written.
func (c *canon) leave() {
	if c.depth == deepFrom {
		c.inside = nil
	}
	c.depth--
}

// skip consumes the next value and returns its place.
func (c *canon) skip(sc *jsonspan.Scanner) jsonspan.Span {
	at, kind := sc.Pos(), sc.Kind()
	if c.inside == nil || kind != '{' && kind != '[' {
		return sc.Skip()
	}
	i := sort.Search(len(c.inside), func(i int) bool { return c.inside[i].Start >= at })
	if i == len(c.inside) || c.inside[i].Start != at {
		return sc.Skip()
	}
	sc.Jump(c.inside[i].End)
	return c.inside[i]
}
