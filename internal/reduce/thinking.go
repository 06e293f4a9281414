package reduce

import "github.com/decantdev/decant"

// Thoughts says which thinking may be dropped. What is allowed depends on API and model; package
// legal knows.
type Thoughts struct {
	KeepTurns int // newest turns that keep their thinking; negative: none, not even the open round
	Keep      int // newest messages with thinking that keep it, whatever turn they are of
	Through   int // only from the start through the message with this Number; 0: no limit
}

// Thinking proposes to drop old thinking blocks, each as a whole: a thought is never shortened, and
// without its signature it would be worth nothing.
func Thinking(s *Subject, t Thoughts) []decant.Decision {
	end := len(s.ms)
	if t.KeepTurns >= 0 {
		turns := decant.Turns(s.ms)
		end = 0
		if n := len(turns) - max(t.KeepTurns, 0); n > 0 {
			end = turns[n-1].End
		}
		if n := len(s.rounds); n > 0 && s.rounds[n-1].Open {
			end = min(end, s.rounds[n-1].Start)
		}
	}
	end = min(end, withThoughts(s.ms, t.Keep))
	var out []decant.Decision
	for i := range s.ms[:end] {
		if t.Through > 0 && s.ms[i].Number > t.Through ||
			s.opts.Before > 0 && s.ms[i].Number >= s.opts.Before && t.KeepTurns >= 0 {
			break
		}
		out = append(out, s.thoughts(&s.ms[i])...)
	}
	return out
}

// withThoughts returns the number of messages before the newest n with thinking.
func withThoughts(ms []decant.Message, newest int) int {
	for i := len(ms) - 1; i >= 0 && newest > 0; i-- {
		if ms[i].Has(decant.KindThinking) {
			if newest--; newest == 0 {
				return i
			}
		}
	}
	if newest > 0 {
		return 0
	}
	return len(ms)
}

// thoughts drops the thinking of one message.
func (s *Subject) thoughts(m *decant.Message) []decant.Decision {
	var out []decant.Decision
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if b.Kind != decant.KindThinking {
			continue
		}
		text := b.Text()
		h := decant.HashText(text)
		out = append(out, decant.Decision{
			Kind: decant.DropThinking, Reduction: decant.ReductionThinking, Reason: "thinking of " + m.Name(),
			Target: decant.Target{Ref: b.Ref, CallID: b.CallID, Hash: h}, Handle: decant.HandleOf(h),
			Before: s.opts.Counter.Count(text),
		})
	}
	return out
}
