package reduce

import "github.com/decantdev/decant"

// cleared is what stands in the place of a cleared result unless the preset says otherwise.
const cleared = "[Tool result cleared]"

// Clear proposes to replace every result that has at least after assistant messages behind it by
// the same short text; cleared when text is empty. It is what many agents do to old results; Stub
// says more for a little more.
func Clear(s *Subject, after int, text string) []decant.Decision {
	if text == "" {
		text = cleared
	}
	behind := s.assistants()
	var out []decant.Decision
	for r := range s.each() {
		if !r.closed || behind[r.at] < after {
			continue
		}
		if d, ok := s.replace(r, decant.Stub, text, decant.ReductionClear, "old result of "+toolName(r)); ok {
			out = append(out, d)
		}
	}
	return out
}
