package cost

import (
	"slices"
	"time"

	"github.com/decantdev/decant"
)

// A Reach is how much of a view's messages the provider keeps, and for how long. The rule is one for the
// planner, the ledger and the price of a plan: everything before the last cache marker is kept, each part as
// long as its own marker asks for; everything behind it is paid in full each time. Reports overrule it (see
// Belief).
type Reach struct {
	Life    time.Duration // of the part that is kept; 0: nothing is
	Hour    bool          // it is written at the price of an hour
	Unasked bool          // no marker asks for it
	Beyond  int           // blocks at the end of the view that are not kept, or no longer
}

// A MessageMark is a cache marker among the messages of a view.
type MessageMark struct {
	Life   string
	Behind int // blocks behind the one that carries it
}

// MessageMarks returns the markers behind messages, the last first.
func MessageMarks(view *decant.Conversation) (out []MessageMark) {
	if view.Cache != "" {
		out = append(out, MessageMark{view.Cache, 0})
	}
	behind := 0
	for i := range slices.Backward(view.Messages) {
		bs := view.Messages[i].Blocks
		for k := range slices.Backward(bs) {
			if life := bs[k].Marker(); life != "" {
				out = append(out, MessageMark{life, behind})
			}
			behind++
		}
	}
	return out
}

// FreeMarkers returns how many markers a request leaves, and whether it asks for a cache that reaches into the
// messages.
func FreeMarkers(request *decant.Conversation) (free int, ends bool) {
	bare := *request
	bare.Messages, bare.Cache = nil, ""
	used := markers(request)
	return MostMarkers - used, used > markers(&bare)
}

// markers returns how many cache markers a request has, those within results and the one for the request as
// a whole included.
func markers(c *decant.Conversation) (n int) {
	eachMarker(c, func(string) { n++ })
	return n
}

// eachMarker calls see with every cache marker, in the order of the prompt.
func eachMarker(c *decant.Conversation, see func(life string)) {
	for i := range c.Fixed.Tools {
		if life := c.Fixed.Tools[i].Cache; life != "" {
			see(life)
		}
	}
	eachOf(c.Fixed.System, see)
	for i := range c.Messages {
		eachOf(c.Messages[i].Blocks, see)
	}
	if c.Cache != "" {
		see(c.Cache)
	}
}

func eachOf(bs []decant.Block, see func(life string)) {
	for i := range bs {
		for _, life := range bs[i].Inside {
			see(life)
		}
		if life := bs[i].Cache; life != "" {
			see(life)
		}
	}
}

// ReachOf returns how much of a view its own markers keep, after a time without a request, as far as is believed of
// the provider. Where all of it is cold, it is what was kept until then.
func ReachOf(view *decant.Conversation, idle time.Duration, belief Belief) Reach {
	marks := MessageMarks(view)
	if len(marks) == 0 {
		return Reach{Life: belief.Life(0), Unasked: belief.Unasked}
	}
	kept := func(m MessageMark) Reach {
		asked := LifeOf(m.Life)
		return Reach{Life: belief.Life(asked), Hour: asked > shortLife, Beyond: m.Behind}
	}
	for _, m := range marks {
		if r := kept(m); idle <= r.Life {
			return r
		}
	}
	cold := kept(marks[0])
	cold.Beyond = 0
	return cold
}

// LongestLife returns the longest life that a marker of a request asks for, or 0.
func LongestLife(c *decant.Conversation) (out time.Duration) {
	eachMarker(c, func(life string) { out = max(out, LifeOf(life)) })
	return out
}
