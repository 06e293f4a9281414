package engine

import (
	"bytes"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// economy returns what the schedule has to know of money. What a request does not ask to cache is paid in
// full each time, so where its messages are not cached removing ballast costs nothing.
func (a *attempt) economy() Economy {
	if !a.e.opts.Schedule && !a.pressed() || !a.preset.Thrift.On() || a.state == nil || a.rel != continues || a.bound() && openRound(a.conv) || a.futile() {
		return Economy{}
	}
	free, ends := a.freeMarkers()
	e := Economy{Early: true, Switched: a.switched()}
	if ends {
		e.Lifetime = a.lifetime()
	}
	if t := a.state.Anchor.Time; !t.IsZero() {
		e.Idle = a.e.opts.Now().Sub(t)
	}
	e.Write, e.Read = a.rates(e.Lifetime)
	e.Read = a.meter.Doubt.Read(e.Read, e.Write)
	a.cold = e.Cold()
	b := Spare(a.view, a.thinning())
	e.Freed, e.Behind, e.Whole, e.Spent = b.Freed, b.Behind, a.fixed+b.Whole, float64(b.Carried)*e.Read
	if free <= 0 { // for a marker of ours: the provider finds nothing of the messages before the change
		e.Behind = b.Whole - b.Freed
	}
	e.Patience = a.preset.Thrift.Settled().Patience
	return e
}

// switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used.
func (a *attempt) switched() bool {
	h := &a.state.Head
	return h.Model != "" && (h.Model != a.conv.Model || h.Fixed != a.conv.Fixed.Version)
}

// lifetime returns how long the cache entries live that the request asks for, by a marker on a block
// or for the whole request; 0 when it asks for none.
func (a *attempt) lifetime() time.Duration {
	life := lifetime(a.conv)
	if life > 0 {
		return life
	}
	switch a.automatic() {
	case "":
		return 0
	case "1h":
		return time.Hour
	}
	return 5 * time.Minute
}

// automatic returns the lifetime of the marker for the whole request, "" when there is none.
func (a *attempt) automatic() string {
	at := a.r.doc.Member("cache_control")
	switch {
	case at.IsZero() || a.req.Body[at.Start] != '{':
		return ""
	case bytes.Contains(at.Of(a.req.Body), []byte(`"1h"`)):
		return "1h"
	}
	return "5m"
}

// lifetime returns the longest life that a marker on a block asks for.
func lifetime(c *decant.Conversation) (out time.Duration) {
	eachMarker(c, func(life string) {
		switch life {
		case "1h":
			out = max(out, time.Hour)
		case "5m":
			out = max(out, 5*time.Minute)
		}
	})
	return out
}

// markers returns how many blocks carry a cache marker.
func markers(c *decant.Conversation) (n int) {
	eachMarker(c, func(string) { n++ })
	return n
}

// eachMarker calls see with every cache marker on a tool or a block.
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
}

func eachOf(bs []decant.Block, see func(life string)) {
	for i := range bs {
		if life := bs[i].Cache; life != "" {
			see(life)
		}
	}
}

// rates returns the prices of writing and of reading the cache, in dollars per million tokens. Without
// a cache both are the price of input; where prices are not known, the usual proportions count.
func (a *attempt) rates(life time.Duration) (write, read float64) {
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if p, _, ok := a.model.PriceAt(a.e.opts.Now()); ok {
		r = p.At(a.report.Before)
	}
	switch {
	case life == 0:
		return r.Input.USD, r.Input.USD
	case life > 5*time.Minute:
		return r.Write1h.USD, r.CacheRead.USD
	}
	return r.Write5m.USD, r.CacheRead.USD
}

// thinning returns what a pour for money works on.
func (a *attempt) thinning() Thinning {
	t := Thinning{Preset: a.preset, Counter: a.est, Transcript: a.conv, Pinned: pinsOf(a.inForce), Cold: a.cold}
	t.Made = append(append(t.Made, a.inForce...), a.made...)
	return t
}

// earlyRoute makes the cheap reductions and no checkpoint.
func (a *attempt) earlyRoute(int) error {
	ds := Thin(a.view, a.thinning())
	if len(ds) == 0 {
		return errPoor
	}
	bound := a.bound()
	if err := a.add(ds); err != nil || !bound {
		return err
	}
	return a.add(a.allThinking())
}
