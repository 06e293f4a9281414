package engine

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A ballast is what a conversation carries that a pour of cheap reductions would free, as it was found
// when it was last looked for, and what carrying it has cost since.
type ballast struct {
	Freed  int     `json:"freed,omitzero"`  // S: tokens
	Behind int     `json:"behind,omitzero"` // L: tokens after the first change that would remain
	Spent  float64 `json:"spent,omitzero"`  // US dollars per million tokens, times tokens
	At     int     `json:"at,omitzero"`     // tokens of the request when it was looked for
}

// lookAgain is by which share of the window a conversation grows before its ballast is looked for anew.
const lookAgain = 0.02

// economy returns what the schedule has to know of money. It costs nothing on most requests: the
// ballast is looked for when the cache is cold, or when the conversation has grown.
func (a *attempt) economy() Economy {
	if !a.e.opts.Schedule || a.state == nil || a.rel != continues || a.bound() && openRound(a.conv) {
		return Economy{}
	}
	e := Economy{Early: true, Lifetime: lifetime(a.conv), Switched: a.switched()}
	if t := a.state.Anchor.Time; !t.IsZero() {
		e.Idle = a.e.opts.Now().Sub(t)
	}
	e.Write, e.Read = a.rates(e.Lifetime)
	b := &a.meter.Ballast
	b.Spent += float64(b.Freed) * e.Read
	cold := e.Switched || e.Lifetime > 0 && e.Idle > e.Lifetime
	if cold || a.report.Before > b.At+int(lookAgain*float64(a.model.Window)) {
		b.Freed, b.Behind = a.weighBallast()
		b.At = a.report.Before
	}
	e.Freed, e.Behind, e.Spent = b.Freed, b.Behind, b.Spent
	return e
}

// switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used.
func (a *attempt) switched() bool {
	h := &a.state.Head
	return h.Model != "" && (h.Model != a.conv.Model || h.Fixed != a.conv.Fixed.Version)
}

// lifetime returns how long the cache entries live that the request asks for, 0 when it asks for none.
func lifetime(c *decant.Conversation) (out time.Duration) {
	see := func(marker string) {
		switch marker {
		case "1h":
			out = max(out, time.Hour)
		case "5m":
			out = max(out, 5*time.Minute)
		}
	}
	for i := range c.Fixed.Tools {
		see(c.Fixed.Tools[i].Cache)
	}
	for i := range c.Fixed.System {
		see(c.Fixed.System[i].Cache)
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Blocks {
			see(c.Messages[i].Blocks[k].Cache)
		}
	}
	return out
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

// weighBallast returns how many tokens cheap reductions would free now, and how many would remain
// behind the first change.
func (a *attempt) weighBallast() (freed, behind int) {
	ds, err := a.cheap()
	if err != nil {
		return 0, 0
	}
	first := decant.Ref{}
	for i := range ds {
		freed += ds[i].Before - ds[i].After
		if r := ds[i].Target.Ref; first.Message == 0 || after(first, r) {
			first = r
		}
	}
	if first.Message == 0 {
		return 0, 0
	}
	return freed, max(0, a.tokensFrom(first)-freed)
}

// tokensFrom returns the tokens of the view's messages from the one that holds a block on.
func (a *attempt) tokensFrom(from decant.Ref) int {
	n := 0
	for i := range a.view.Messages {
		if m := &a.view.Messages[i]; m.Number >= from.Message {
			n += a.est.Message(m)
		}
	}
	return n
}

// cheap returns the reductions that a pour makes before it needs a checkpoint: all that the preset
// allows, outside of the kept tail.
func (a *attempt) cheap() ([]decant.Decision, error) {
	o := a.planOptions(a.limits.Target)
	p, err := newPlanner(a.conv, o)
	if err != nil {
		return nil, err
	}
	p.Target = 1 // all of them; the tail was chosen for the real target
	if err := p.reduce(); err != nil {
		return nil, err
	}
	return a.settle(p.decisions), nil
}

// earlyRoute makes the cheap reductions and no checkpoint.
func (a *attempt) earlyRoute(int) error {
	ds, err := a.cheap()
	if err != nil {
		return err
	}
	if len(ds) == 0 {
		return errPoor
	}
	bound := a.bound()
	if err := a.add(ds); err != nil || !bound {
		return err
	}
	return a.add(a.allThinking())
}
