package reduce

import "github.com/decantdev/decant"

// cleared replaces a cleared result unless the preset sets another text.
const cleared = "[Tool result cleared]"

// Clearing says which results are cleared: those that are older than both numbers say.
type Clearing struct {
	After int    // results with at least so many assistant messages behind them
	Keep  int    // all but the newest so many
	Least int    // none at all if they would free fewer tokens together
	Text  string // replacement; empty: Decant's default text
}

// Clear proposes to replace every old result by the same short text. It is what many agents do to old results; Stub
// says more for a little more.
func Clear(s *Subject, c Clearing) []decant.Decision {
	if c.Text == "" {
		c.Text = cleared
	}
	behind := s.assistants()
	var out []decant.Decision
	left, freed := len(s.results)-c.Keep, 0
	for r := range s.each() {
		if left--; left < 0 {
			break
		}
		if !r.closed || behind[r.at] < c.After {
			continue
		}
		if d, ok := s.replace(r, decant.Stub, c.Text, decant.ReductionClear, "old result of "+toolName(r)); ok {
			out = append(out, d)
			freed += d.Before - d.After
		}
	}
	if freed < c.Least {
		return nil
	}
	return out
}
