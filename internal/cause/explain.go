package cause

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
)

// A Prompt is what is known of a request that was answered, for the one that follows it.
type Prompt struct {
	At     time.Time    `json:"at,omitzero"` // when it was made
	Model  string       `json:"model,omitzero"`
	Fixed  decant.Hash  `json:"fixed,omitzero"` // identity of tools and system prompt together
	Tools  decant.Hash  `json:"tools,omitzero"`
	Life   int          `json:"life,omitzero"`   // seconds that its markers asked for; 0: none stood behind its messages
	Marked int          `json:"marked,omitzero"` // blocks of its messages up to the last marker
	Usage  decant.Usage `json:"usage,omitzero"`
}

// cached returns the tokens that the request left in the cache.
func (p *Prompt) cached() int { return p.Usage.CacheRead + p.Usage.CacheWrite }

// A Step is how a request stands to the one before it in its conversation.
type Step struct {
	Now    Prompt
	Edit   string // where the client changed what it had sent, "m12"; empty: it did not
	Pour   bool   // Decant changed what had been sent
	Behind int    // the least number of blocks from the last marker of the request before to one of this, as a lookup counts them; 0: not known
	Head   string // where the beginning changed, as far as the usage shows; empty: it does not
}

// slack is the share of what should have been read that may be missing without meaning anything: the last few
// tokens of a prompt belong to the framing of its last message.
const slack = 0.001

// leastLate is how many tokens behind the last marker are more than the framing of the last message.
const leastLate = 100

// Explain divides what a request wrote to the cache by what made it necessary. The parts add up to
// Usage.CacheWrite, those of an hour to Usage.Write1h. before is nil for the first request of a conversation.
func Explain(before *Prompt, s *Step) []Part {
	u := s.Now.Usage
	if u.CacheWrite <= 0 {
		return nil
	}
	if before == nil {
		return hours([]Part{{Kind: New, Detail: "first request", Tokens: u.CacheWrite}}, u)
	}
	var out []Part
	again := min(u.CacheWrite, max(0, before.cached()-u.CacheRead))
	if float64(again) > slack*float64(before.cached()) {
		p := why(before, s)
		p.Tokens = again
		out = append(out, p)
	} else {
		again = 0
	}
	// What the request before sent behind its last marker was paid in full then, and is written only now.
	from := max(u.CacheRead, before.cached())
	if late := min(u.CacheWrite-again, max(0, before.Usage.Prompt()-from)); late >= leastLate && again == 0 {
		out = append(out, Part{Kind: Unmarked, Detail: "sent before behind the last marker", Tokens: late})
		again += late
	}
	if n := u.CacheWrite - again; n > 0 {
		out = append(out, Part{Kind: New, Tokens: n})
	}
	return hours(out, u)
}

// why returns the reason why something was written again.
func why(before *Prompt, s *Step) Part {
	now := &s.Now
	idle, life := now.At.Sub(before.At), time.Duration(before.Life)*time.Second
	switch {
	case before.Model != now.Model:
		return Part{Kind: Model, Detail: before.Model + " to " + now.Model}
	case before.Fixed != now.Fixed && before.Tools != now.Tools:
		return Part{Kind: Tools}
	case before.Fixed != now.Fixed:
		return Part{Kind: System}
	case life > 0 && idle >= life:
		return Part{Kind: Expired, Detail: fmt.Sprintf("idle for %s, kept for %s", short(idle), short(life))}
	case s.Pour:
		return Part{Kind: Poured}
	case s.Edit != "":
		return Part{Kind: Edited, Detail: "at " + s.Edit}
	case s.Head != "":
		return Part{Kind: Beginning, Detail: s.Head}
	case s.Behind > cost.LookBack:
		return Part{Kind: LookBack, Detail: fmt.Sprintf("%d blocks", s.Behind)}
	case before.Life == 0:
		return Part{Kind: Unmarked, Detail: "none behind the messages"}
	}
	return Part{Kind: Unexplained, Detail: fmt.Sprintf("idle for %s", short(idle))}
}

// short writes a duration in its largest units: 45s, 6m, 2h10m.
func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	}
	if m := int(d/time.Minute) % 60; m > 0 {
		return fmt.Sprintf("%dh%dm", int(d/time.Hour), m)
	}
	return fmt.Sprintf("%dh", int(d/time.Hour))
}

// hours divides the tokens that live for an hour among the parts, from the first on: such entries come before those of
// five minutes.
func hours(parts []Part, u decant.Usage) []Part {
	left := u.Write1h
	for i := range parts {
		parts[i].Hour = min(left, parts[i].Tokens)
		left -= parts[i].Hour
	}
	return parts
}
