package engine

import (
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// A booking goes through answered requests, in their order: what they cost, what the client's own requests
// would have cost by the same rule of what is kept (see reach), and what their reports teach about the
// provider's cache.
type booking struct {
	e       *Engine
	dr      *draft.Draft // whose meter is brought up to date
	was     decant.Usage // of the request before
	decided int          // decisions of the conversation when it was sent, its own included
}

// spends returns what answered requests cost. rs are the requests as they are stored. The meter learns from
// them; a report that cannot be true is booked like any other, and then the estimate stands in its place in
// fs, so that no meter starts from it.
func spends(e *Engine, tk *ticket, fs []finished, rs []store.Request) (out []store.Spend) {
	b := booking{e, tk.dr, tk.dr.Meter.Usage, tk.dr.Meter.Decisions}
	for i := range fs {
		f := &fs[i]
		if f.billed.Prompt() == 0 {
			continue
		}
		reported := f.res.Usage.Prompt() > 0
		believable := reported && f.believable()
		s := b.spend(f, believable)
		s.ID = rs[i].ID
		out = append(out, s)
		if !reported {
			continue
		}
		if !believable {
			e.disbelieve(f)
		}
		b.was, b.decided = f.res.Usage, f.ticket.decided
	}
	return out
}

// spend books one request.
func (b *booking) spend(f *finished, believable bool) store.Spend {
	x, u, terms := f.ticket, f.billed, cost.Terms{At: f.time}
	s := x.sight
	p := s.scaled(u.Prompt()+b.dr.Scale(s.lacks), x.dr.Query.Model.MinCache, b.dr.Meter.Belief.Unasked)
	t := cost.Silent
	if believable {
		t = b.testimony(x, u, p.Fixed)
	}
	bare := u
	if s.lacks > 0 || s.alike < s.prompt.Tokens {
		bare = b.bare(x, &p, u, t)
	}
	if believable {
		b.learn(x, u, t)
	}
	b.dr.Meter.Client, b.dr.Meter.Million = p.After(x.dr.Query.Request.Begun), b.asksMillion(x.dr.Query)
	out := store.Spend{Time: f.time, Model: x.dr.Query.Model.ID, Usage: u, Without: bare, Over: tooLarge(x.dr.Query, p.Tokens)}
	out.Cost, out.Bare = x.dr.Price(u, terms), x.dr.Price(bare, terms)
	if x.dr.Outcome.Poured() {
		out.Rewrite = x.dr.Price(rewritten(u, bare), terms)
	}
	if x.trial != nil {
		out.Trial = x.trial.would(x.dr, u, terms)
	}
	return out
}

// scaled returns a prompt of the given size, of which estimates say how it is divided.
func (s *sight) scaled(tokens, least int, unasked bool) cost.Prompt {
	p := s.prompt
	scaled := func(n int) int {
		return min(tokens, int(math.Round(float64(n)*float64(tokens)/float64(max(1, s.prompt.Tokens)))))
	}
	p.Tokens, p.Fixed, p.Least, p.Unasked = tokens, scaled(p.Fixed), least, unasked && s.life == 0
	if p.Same < s.prompt.Tokens {
		p.Same = scaled(p.Same)
	}
	p.Marks = slices.Clone(p.Marks)
	for i := range p.Marks {
		p.Marks[i].End = scaled(p.Marks[i].End)
	}
	return p
}

// testimony returns what the report on x says about the messages that the request before had left in the
// cache. The request of a pour is no witness, the one after it is: then everything that was written again
// must be read.
func (b *booking) testimony(x *ticket, u decant.Usage, fixed int) cost.Testimony {
	if b.was.Prompt() == 0 || !x.sight.grows || x.dr.Outcome.Poured() || x.sight.decisions != b.decided {
		return cost.Silent
	}
	return cost.Testify(b.left(x, u), fixed, u.CacheRead)
}

// left returns how many tokens the request before x should have left in the cache: what it is said to have
// read and written there, or all of it where no marker asks for that, or where two requests in a row are
// said to have neither read nor written anything although markers ask for it.
func (b *booking) left(x *ticket, u decant.Usage) int {
	said := b.was.CacheRead + b.was.CacheWrite
	if x.sight.life == 0 || said == 0 && u.CacheRead+u.CacheWrite == 0 && b.was.Prompt() >= x.dr.Query.Model.MinCache {
		return b.was.Prompt()
	}
	return said
}

// learn notes what the report on x teaches.
func (b *booking) learn(x *ticket, u decant.Usage, t cost.Testimony) {
	m, s := &b.dr.Meter, x.sight
	expected := !s.changed && s.pause < m.Belief.Life(s.life) && (s.life > 0 || m.Belief.Unasked)
	if expected && t != cost.Silent {
		m.Doubt = m.Doubt.Observe(b.left(x, u), u.CacheRead)
	}
	m.Belief = m.Belief.Learn(cost.Moment{Changed: s.changed, Asked: s.life > 0, Pause: s.pause, Life: s.life}, t)
	if s.cold && x.dr.Outcome.Reason == policy.Free {
		m.Belief = m.Belief.Acted()
	}
}

// bare returns the usage of the client's own request p, of which u was reported for what was sent.
func (b *booking) bare(x *ticket, p *cost.Prompt, u decant.Usage, t cost.Testimony) decant.Usage {
	s, m := x.sight, &b.dr.Meter
	shadow := &m.Client
	alike := u.CacheRead // what was read of what both have would have been read
	if s.alike < s.prompt.Tokens {
		alike = min(alike, int(float64(s.alike)*float64(p.Tokens)/float64(max(1, s.prompt.Tokens))))
	}
	var read int
	switch {
	case shadow.At.IsZero() && b.was.Prompt() > 0: // it is not known what was there: nothing is gained that is not sure
		read = u.CacheRead + s.lacks
	case t == cost.Lost && s.changed, s.cold && t == cost.Silent && p.Missed(u.CacheRead):
		read = alike
	case t == cost.Lost && s.pause >= s.life:
		read = shadow.Left(p, x.dr.Query.Request.Begun, false)
	default:
		alive := t == cost.Kept || (s.life > 0 || p.Unasked) && s.pause < m.Belief.Life(s.life)
		read = int(float64(shadow.Left(p, x.dr.Query.Request.Begun, alive)) * b.answered(x, u, t))
	}
	out := p.Billed(max(read, alike))
	switch {
	case u.CacheRead+u.CacheWrite == 0 && u.Prompt() >= p.Least: // it keeps nothing, whatever the request asks for
		out = decant.Usage{Input: p.Tokens}
	case p.Unasked && u.CacheWrite > u.Input: // it charges for writing
		out.CacheWrite, out.Input = out.Input, 0
	}
	out.Output = u.Output
	return out
}

// answered returns the share of what should have been read that the cache has answered: as the report says,
// and where it is no witness, as far as the cache can be trusted.
func (b *booking) answered(x *ticket, u decant.Usage, t cost.Testimony) float64 {
	if t == cost.Silent {
		return 1 - float64(b.dr.Meter.Doubt)
	}
	return cost.Share(b.left(x, u), u.CacheRead)
}

// rewritten returns what a pour's request had to pay for again, given what the client's own would have.
func rewritten(u, bare decant.Usage) decant.Usage {
	again := max(0, u.CacheWrite-bare.CacheWrite)
	return decant.Usage{CacheWrite: again, Write1h: min(again, u.Write1h), Input: max(0, u.Input-bare.Input)}
}

// tooLarge reports whether a prompt of so many tokens could not have been sent to the model.
func tooLarge(q *draft.Query, tokens int) bool {
	limit := q.Model.Window
	if q.Model.MaxInput > 0 {
		limit = min(limit, q.Model.MaxInput)
	}
	return !q.Model.Assumed && tokens > limit
}

// asksMillion reports whether the model has a window of a million tokens because of the request's betas.
func (b *booking) asksMillion(q *draft.Query) bool {
	plain, _ := b.e.opts.Catalog.Lookup(q.Refs.Conv.Model)
	return plain.Window < plain.For(q.Request.Betas).Window
}
