package engine

// known returns the leading part of to that is known.
func known(to []int) []int {
	for i, k := range to {
		if k < 0 {
			return to[:i]
		}
	}
	return to
}

// repeats reports whether the request is one that was decided about before: it gets the same view.
func (p *place) repeats() bool {
	return p.rel == continues && (len(p.to) == 0 || p.to[len(p.to)-1] >= 0)
}
