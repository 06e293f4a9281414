package policy

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// Limits are the sizes, in tokens, between which a conversation is kept.
type Limits struct {
	Window  int // what the model takes, prompt and answer together
	Reserve int // kept free for the answer
	Trigger int // a pour is due when the context is strictly larger
	Target  int // what the messages may have after a pour; the fixed part comes on top
}

const (
	leastReserve = 20_000 // tokens

	// MostReserve is the most tokens that a preset which names none keeps free for the answer.
	MostReserve = 32_000
)

// Must returns the size from which the window demands a pour, whatever the preset wishes.
func (l Limits) Must() int { return l.Window - l.Reserve }

// Answered returns the limits of a request whose view has so many answers of the model, and messages of so
// many tokens beside the fixed part: if they exceed the preset's limit, a pour is due regardless of the
// window.
func (l Limits) Answered(p *preset.Preset, answers, fixed, messages int) Limits {
	if most := p.Trigger.Answers; most > 0 && answers >= most {
		// The current size must exceed the trigger, and the target must be below it; otherwise the plan would be
		// empty.
		l.Trigger, l.Target = min(l.Trigger, fixed+messages-1), min(l.Target, messages*19/20)
	}
	return l
}

// LimitsFor returns the limits of a conversation whose fixed part has the given size (docs/ECONOMICS.md,
// "The rule"): the reserve is the output asked for, between 20,000 and 32,000 tokens, but at most a
// quarter of the window; the target is half of the room between the fixed part and the trigger.
// It returns an error that wraps decant.ErrFixed when the fixed part alone exceeds the trigger.
func LimitsFor(m token.Model, p *preset.Preset, fixed, maxOutput int) (Limits, error) {
	l := Limits{Window: m.Window}
	room := m.Window
	if w := p.Trigger.Window; w > 0 {
		room = min(room, w) // a policy cannot make a model take more
	}
	l.Reserve = p.Trigger.Reserve
	if l.Reserve == 0 {
		l.Reserve = max(leastReserve, min(maxOutput, MostReserve))
	}
	l.Reserve = min(l.Reserve, room/4)
	l.Trigger = room - l.Reserve
	stage := p.Native.Compaction.Tokens
	if p.Native.Route == preset.RouteNative {
		stage = 0 // it is the provider's alone
	}
	for _, t := range [...]int{p.Trigger.Tokens, stage} {
		if t > 0 {
			l.Trigger = min(l.Trigger, t)
		}
	}
	if p.Compaction == preset.CompactionNever {
		l.Trigger = l.Hard()
	}
	if fixed >= l.Trigger {
		return l, fmt.Errorf("system prompt, tools and pins have %d tokens, a pour is due at %d: %w", fixed, l.Trigger,
			decant.ErrFixed)
	}
	share := p.Trigger.Target
	if share == 0 {
		share = 0.5
	}
	l.Target = int(share * float64(l.Trigger-fixed))
	return l, nil
}
