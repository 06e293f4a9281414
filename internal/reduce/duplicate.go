package reduce

import (
	"slices"

	"github.com/decantdev/decant"
)

// minDuplicate is the size in bytes under which two equal results are no news.
const minDuplicate = 200

// Duplicate proposes stubs for results whose very text comes again later: the newest copy stays.
func Duplicate(s *Subject) []decant.Decision {
	newest := map[decant.Hash]*result{}
	var out []decant.Decision
	for r := range s.newestFirst() {
		if r.block.Content == nil || !r.verbatim() && r.shrunk == nil || r.size() < minDuplicate {
			continue
		}
		h := decant.HashText(r.read())
		later := newest[h]
		if later == nil {
			if r.verbatim() {
				newest[h] = r
			}
			continue
		}
		if !r.closed {
			continue
		}
		line := r.heading() + ": the same result comes again later, see there]"
		if d, ok := s.replace(r, decant.Stub, line, decant.ReductionDuplicate,
			"the same text is in "+s.ms[later.at].Name()); ok {
			out = append(out, d)
		}
	}
	slices.Reverse(out)
	return out
}
