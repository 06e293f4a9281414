package engine

import (
	"slices"
	"time"

	"github.com/decantdev/decant"
)

// A reach is how much of a view's messages the provider keeps, and for how long. The rule is one for the
// planner, the ledger and the price of a plan: what stands before the last cache marker is kept, each part
// as long as its own marker asks for; what stands behind it is paid in full each time. Reports overrule it
// (see cost.Belief).
type reach struct {
	life    time.Duration // of the part that is kept; 0: nothing is
	hour    bool          // it is written at the price of an hour
	unasked bool          // no marker asks for it
	beyond  int           // blocks at the end of the view that are not kept, or no longer
}

// reach returns how much of the view the request's own markers keep, after a time without a request. Where
// all of it is cold, it is what was kept until then.
func (a *attempt) reach(idle time.Duration) reach {
	marks := messageMarks(a.view)
	if len(marks) == 0 {
		return reach{life: a.meter.Belief.Life(0), unasked: a.meter.Belief.Unasked}
	}
	kept := func(m mark) reach {
		asked := lasts(m.life)
		return reach{life: a.meter.Belief.Life(asked), hour: asked > 5*time.Minute, beyond: m.behind}
	}
	for _, m := range marks {
		if r := kept(m); idle <= r.life {
			return r
		}
	}
	cold := kept(marks[0])
	cold.beyond = 0
	return cold
}

// A mark is a cache marker among the messages of a view.
type mark struct {
	life   string
	behind int // blocks behind the one that carries it
}

// messageMarks returns the markers behind messages, the last first.
func messageMarks(view *decant.Conversation) (out []mark) {
	if view.Cache != "" {
		out = append(out, mark{view.Cache, 0})
	}
	behind := 0
	for i := range slices.Backward(view.Messages) {
		bs := view.Messages[i].Blocks
		for k := range slices.Backward(bs) {
			if life := bs[k].Marker(); life != "" {
				out = append(out, mark{life, behind})
			}
			behind++
		}
	}
	return out
}

// lasts returns how long an entry lives whose marker asks for so much.
func lasts(life string) time.Duration {
	switch life {
	case "":
		return 0
	case "1h":
		return time.Hour
	}
	return 5 * time.Minute
}

// lifetime returns the longest life that a marker of the request asks for, 0 when there is none.
func (a *attempt) lifetime() (out time.Duration) {
	eachMarker(a.conv, func(life string) { out = max(out, lasts(life)) })
	return out
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
