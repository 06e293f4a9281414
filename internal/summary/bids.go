package summary

// A bid is what an entry adds per token, when it was looked at last.
type bid struct {
	gain  float32
	entry int32
}

// bids are a heap with the best bid first.
type bids []bid

func (h *bids) push(b bid) {
	*h = append(*h, b)
	s := *h
	for k := len(s) - 1; k > 0 && before(s[k], s[(k-1)/2]); k = (k - 1) / 2 {
		s[k], s[(k-1)/2] = s[(k-1)/2], s[k]
	}
}

// pop takes the best bid out.
func (h *bids) pop() {
	s := *h
	s[0] = s[len(s)-1]
	*h = s[:len(s)-1]
	h.down(0)
}

// down moves the bid at k behind those that are better.
func (h bids) down(k int) {
	for {
		m := 2*k + 1
		if m >= len(h) {
			return
		}
		if m+1 < len(h) && before(h[m+1], h[m]) {
			m++
		}
		if !before(h[m], h[k]) {
			return
		}
		h[m], h[k] = h[k], h[m]
		k = m
	}
}

func before(a, b bid) bool { return a.gain > b.gain || a.gain == b.gain && a.entry < b.entry }
