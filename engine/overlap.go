package engine

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// overlap returns how many entries of a conversation there are up to the last one that the request has,
// and which block of its spine that is; 0 and -1 when it has none. Results and calls are known by their
// ids, wherever they stand; from there on blocks count as long as they follow each other in both.
func (r *reading) overlap(s *store.State) (entries, block int) {
	at := map[call]int{}
	for i := range s.Chain {
		if e := &s.Chain[i]; e.CallID != "" {
			at[call{e.Kind, e.CallID, e.Text}] = i
		}
	}
	for i := len(r.spine) - 1; i >= 0; i-- {
		a := r.at(i)
		if a.CallID == "" {
			continue
		}
		if k, ok := at[call{a.Kind, a.CallID, textHash(a.Block)}]; ok {
			return r.follow(s, k, i)
		}
	}
	return 0, -1
}

// A call is what tells results and calls apart, whatever conversation they stand in.
type call struct {
	kind decant.Kind
	id   string
	text decant.Hash
}

// follow returns how far the conversation behind its k-th entry and the request behind its i-th block,
// which are the same, go on alike.
func (r *reading) follow(s *store.State, k, i int) (entries, block int) {
	entries, block = k+1, i
	for k++; k < len(s.Chain) && block+1 < len(r.spine); k++ {
		if s.Chain[k].Kind == decant.KindThinking {
			continue
		}
		if !r.at(block + 1).sameAs()(&s.Chain[k]) {
			break
		}
		entries, block = k+1, block+1
	}
	return entries, block
}
