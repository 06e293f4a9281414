package book

import (
	"cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
)

// A booking goes through answered requests, in their order: what they cost, what the client's own requests
// would have cost by the same rule of what is kept (see package cost), and what their reports teach about the
// provider's cache.
type booking struct {
	*Ledger
	dr      *plan.Draft  // whose meter is brought up to date
	was     decant.Usage // of the request before
	decided int          // decisions of the conversation when it was sent, its own included
}

// spends returns what answered requests cost. rs are the requests as they are stored. The meter learns from
// them; a report that cannot be true is booked like any other, and then the estimate stands in its place in
// fs, so that no meter starts from it.
func (l *Ledger) spends(out *Outgoing, fs []Answered, rs []store.Request) (list []store.Spend) {
	b := booking{l, out.Draft, out.Meter.Usage, out.Meter.Decisions}
	for i := range fs {
		f := &fs[i]
		if f.Billed.Add(f.Extra).Add(f.Passes).Prompt() == 0 {
			continue
		}
		reported := f.Usage.Prompt() > 0
		believable := reported && f.believable()
		s := store.Spend{Time: f.Time, Model: f.Out.Model.ID}
		if f.Billed.Prompt() > 0 { // otherwise the provider has written a summary and nothing else
			s = b.spend(f, believable)
		}
		b.addExtra(&s, f)
		b.addPasses(&s, f)
		s.ID, rs[i].Writes = cmp.Or(f.BookedAs, rs[i].ID), s.Writes
		list = append(list, s)
		if !reported {
			continue
		}
		if !believable {
			b.disbelieve(f)
		}
		b.was, b.decided = f.Usage, f.Out.Decided
	}
	return list
}

// Terms returns the terms of an answer. Where it is not known what a batch costs it costs what any request does.
func (f *Answered) Terms() cost.Terms {
	return cost.Terms{At: f.Time, Batch: f.Batch && f.Out.Model.Batch > 0}
}

// spend books one request.
func (b *booking) spend(f *Answered, believable bool) store.Spend {
	x, u, terms, meter := f.Out, f.Billed, f.Terms(), &b.dr.Meter
	s := x.Snapshot
	if believable {
		b.noteGrowth(x, u)
	}
	p := s.Scaled(b.clientPrompt(x, u), x.Model.MinCache, meter.Belief.Unasked)
	writes := b.writes(x, u)
	t := cost.Silent
	if believable {
		t = b.testimony(x, u, p.Fixed)
	}
	bare := u
	if s.Lacks > 0 || s.Alike < s.Prompt.Tokens || s.Kept {
		bare = b.bare(x, &p, u, t)
	}
	bare = f.Markers.Without(bare, p.Fixed)
	if believable {
		b.learn(x, u, t)
	}
	meter.Newest.Client, meter.Newest.Estimate, meter.Newest.Million = p.After(x.Begun), s.Prompt.Tokens, b.asksMillion(x.Input)
	out := store.Spend{Time: f.Time, Model: x.Model.ID, Usage: u, Without: bare, Over: s.Lacks > 0 && b.tooLarge(x.Input, p.Tokens), Writes: writes}
	out.Cost, out.Bare = x.Price(u, terms), x.Price(bare, terms)
	if x.Outcome.Poured() {
		out.Rewrite = x.Price(rewritten(u, bare), terms)
	}
	if x.Trial != nil {
		out.Trial = x.Trial.Would(x.Draft, u, terms)
	}
	return out
}

// clientPrompt returns the tokens of the client's own request, of which u was reported for what was sent. Where nothing
// is left out, both are the same. Otherwise the request before is the anchor: both have grown by what was reported to
// have come since, and a pour changes nothing about the client's. Estimates only say how much more there is in the
// request of a pour, and what is cut out of what is new.
func (b *booking) clientPrompt(x *Outgoing, u decant.Usage) int {
	s, newest := x.Snapshot, &b.dr.Meter.Newest
	sent, estimate := newest.Sent, s.Prompt.Tokens
	share := cmp.Or(newest.Share(), float64(newest.Client.Prompt)/float64(max(1, newest.Estimate)))
	switch {
	case s.Lacks == 0:
		return u.Prompt()
	case newest.Estimate == 0 || sent == nil: // nothing is known but what was sent
		return int(float64(u.Prompt()) * float64(estimate) / float64(max(1, estimate-s.Lacks)))
	case s.Grows && !x.Outcome.Poured() && s.Decisions == b.decided && sent.Model == x.Model.ID:
		return max(1, newest.Client.Prompt+u.Prompt()-sent.Usage.Prompt()+int(share*float64(s.Cut)))
	}
	return extended(newest.Client.Prompt, newest.Estimate, estimate, share)
}

// extended returns the tokens of a prompt whose estimate was one number and is another. What it grows by counts share
// times its estimate. Where the client went back, the prompt shrinks as its estimate does: by a share that was learned
// from growth it could shrink to nothing.
func extended(prompt, was, is int, share float64) int {
	if is < was {
		return max(1, int(float64(prompt)*float64(is)/float64(was)))
	}
	return max(1, prompt+int(share*float64(is-was)))
}

// noteGrowth notes by how much what is sent has grown since the request before, as reported and as estimated. A pour that
// takes more away than has come says nothing: a record has more tokens in its letters than what it stands for.
func (b *booking) noteGrowth(x *Outgoing, u decant.Usage) {
	s, newest := x.Snapshot, &b.dr.Meter.Newest
	if !s.Grows || newest.Estimate == 0 || newest.Sent == nil || newest.Sent.Model != x.Model.ID {
		return
	}
	reported, estimated := u.Prompt()-newest.Sent.Usage.Prompt(), s.Prompt.Tokens-newest.Estimate-s.Cut
	if reported > 0 && estimated > 0 {
		newest.Reported, newest.Estimated = newest.Reported+reported, newest.Estimated+estimated
	}
}

// addExtra adds what was billed besides the answer. The client's own request would have come to the same: it is the
// client who has asked for it.
func (b *booking) addExtra(s *store.Spend, f *Answered) {
	x := f.Extra
	paid := f.Out.Price(x, f.Terms())
	s.Usage, s.Without, s.Cost, s.Bare = s.Usage.Add(x), s.Without.Add(x), s.Cost+paid, s.Bare+paid
	if s.Trial != nil {
		s.Trial.Cost += paid
	}
}

// addPasses adds what summaries have cost behind which the model has paused. The client's own request would have had
// none.
func (b *booking) addPasses(s *store.Spend, f *Answered) {
	s.Usage = s.Usage.Add(f.Passes)
	s.Cost += f.Out.Price(f.Passes, f.Terms())
}

// testimony returns what the report on x says about the messages that the request before had left in the
// cache. The request of a pour is no witness, the one after it is: then everything that was written again
// must be read.
func (b *booking) testimony(x *Outgoing, u decant.Usage, fixed int) cost.Testimony {
	if b.was.Prompt() == 0 || !x.Snapshot.Grows || x.Outcome.Poured() || x.Snapshot.Decisions != b.decided {
		return cost.Silent
	}
	return cost.Testify(b.left(x, u), fixed, u.CacheRead)
}

// left returns how many tokens the request before x should have left in the cache: what it is said to have
// read and written there, or all of it where no marker asks for that, or where two requests in a row are
// said to have neither read nor written anything although markers ask for it.
func (b *booking) left(x *Outgoing, u decant.Usage) int {
	said := b.was.CacheRead + b.was.CacheWrite
	if x.Snapshot.Life == 0 || said == 0 && u.CacheRead+u.CacheWrite == 0 && b.was.Prompt() >= x.Model.MinCache {
		return b.was.Prompt()
	}
	return said
}

// learn notes what the report on x teaches.
func (b *booking) learn(x *Outgoing, u decant.Usage, t cost.Testimony) {
	m, s := &b.dr.Meter, x.Snapshot
	expected := !s.Changed && s.Pause < m.Belief.Life(s.Life) && (s.Life > 0 || m.Belief.Unasked)
	if expected && t != cost.Silent {
		m.Doubt = m.Doubt.Observe(b.left(x, u), u.CacheRead)
	}
	m.Belief = m.Belief.Learn(cost.Moment{Changed: s.Changed, Asked: s.Life > 0, Pause: s.Pause, Life: s.Life}, t)
	if s.Cold && x.Outcome.Reason == policy.Free {
		m.Belief = m.Belief.Acted()
	}
}

// bare returns the usage of the client's own request p, of which u was reported for what was sent.
func (b *booking) bare(x *Outgoing, p *cost.Prompt, u decant.Usage, t cost.Testimony) decant.Usage {
	s, m := x.Snapshot, &b.dr.Meter
	shadow := &m.Newest.Client
	alike := u.CacheRead // what was read of what both have would have been read
	if s.Alike < s.Prompt.Tokens {
		alike = min(alike, int(float64(s.Alike)*float64(p.Tokens)/float64(max(1, s.Prompt.Tokens))))
	}
	var read int
	switch {
	case s.Kept: // without our calls only system prompt and tools may have been there, which others keep warm, too
		read = shadow.Left(p, x.Begun, false)
		alike = min(alike, p.Fixed)
	case shadow.At.IsZero() && b.was.Prompt() > 0: // it is not known what was there: nothing is gained that is not sure
		read = u.CacheRead + p.Tokens - u.Prompt()
	case t == cost.Lost && s.Changed, s.Cold && t == cost.Silent && p.Missed(u.CacheRead):
		read = alike
	case t == cost.Lost && s.Pause >= s.Life:
		read = shadow.Left(p, x.Begun, false)
	default:
		alive := t == cost.Kept || (s.Life > 0 || p.Unasked) && s.Pause < m.Belief.Life(s.Life)
		read = int(float64(shadow.Left(p, x.Begun, alive)) * b.answered(x, u, t))
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
func (b *booking) answered(x *Outgoing, u decant.Usage, t cost.Testimony) float64 {
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

// tooLarge reports whether a prompt of so many tokens could not have been sent to the model. A window that the operator
// has set is a policy: the provider would have taken more.
func (b *booking) tooLarge(in *plan.Input, tokens int) bool {
	m := b.Published(in.Conv.Model, in.Upstream, in.Betas)
	limit, known := m.Window, !m.Assumed
	if m.MaxInput > 0 {
		limit = min(limit, m.MaxInput)
	}
	if named := b.dr.Meter.Window; named > 0 { // in a refusal
		limit, known = min(limit, named), true
	}
	return known && tokens > limit
}

// asksMillion reports whether the model has a window of a million tokens because of the request's betas.
func (b *booking) asksMillion(in *plan.Input) bool {
	return b.Published(in.Conv.Model, in.Upstream, nil).Window < b.Published(in.Conv.Model, in.Upstream, in.Betas).Window
}

// disbelieve puts what was estimated in place of usage that cannot be true, so that no meter starts from
// it, and says so once. What is booked and stored of it stays as it was reported.
func (b *booking) disbelieve(f *Answered) {
	n, bytes := f.Usage.Prompt(), f.text()
	f.Usage = decant.Usage{Input: f.Out.Outcome.After, Output: f.Usage.Output}
	b.unbelieved.Do(func() {
		b.Logger.Warn("the upstream reports sizes that cannot be true; they are estimated in place of these", "reported", n, "bytes", bytes)
	})
}

// mostPerToken is how many bytes of text a token can stand for, on average over a whole prompt. Prose
// and code have about four.
const mostPerToken = 16

// believable reports whether the usage that an upstream reported can be that of the request. Simple
// stand-ins report the same few tokens for everything, and servers that imitate the API leave out what
// they read from their cache. A meter that started from such a report would be wrong by the whole
// conversation, while the estimate is wrong by a tenth.
//
// A client that asks the provider to clear old results is told the size of what was left of them.
func (f *Answered) believable() bool {
	u := f.Usage
	return u.Prompt() == 0 || f.text() <= mostPerToken*u.Prompt() || f.Out.AsksForClearing() || f.Out.Rules().Clears()
}

// leastMissed is how many tokens must be written again in one request for the log to say why. Of a pour it says nothing
// here: the line of its request, and its notice, do.
const leastMissed = 10_000

// writes says why a request wrote to the cache what it wrote, and notes what it left there.
func (b *booking) writes(x *Outgoing, u decant.Usage) (out []store.Write) {
	m := &b.dr.Meter
	before := m.Newest.Sent
	if warmed := x.Warmed; before != nil && warmed.After(before.At) {
		kept := *before
		kept.At, before = warmed, &kept // it lives from there on
	}
	step := x.Snapshot.Step(before, u)
	step.Pour = x.Outcome.Poured() || x.Snapshot.Decisions != b.decided
	for _, p := range cause.Explain(before, step) {
		out = append(out, store.Write{Cause: string(p.Kind), Detail: p.Detail, Tokens: p.Tokens, Hour: p.Hour})
		if p.Kind.Avoidable() && p.Kind != cause.Poured && p.Tokens >= leastMissed {
			b.Logger.Info("written to the cache again", "tokens", p.Tokens, "cause", string(p.Kind), "detail", p.Detail, "model", x.Model.ID)
		}
	}
	sent := step.Now
	m.Newest.Sent = &sent
	return out
}

// text returns about how many bytes of text the request sends, without images and without thinking,
// of which the provider may count nothing.
func (f *Answered) text() (n int) {
	out := f.Out
	for i := range out.Conv.Fixed.System {
		n += textSize(&out.Conv.Fixed.System[i])
	}
	for i := range out.Conv.Fixed.Tools {
		if s := out.Conv.Fixed.Tools[i].Schema; s != nil {
			n += s.Size()
		}
	}
	live := out.View.Live()
	for i := range live {
		for k := range live[i].Blocks {
			n += textSize(&live[i].Blocks[k])
		}
	}
	return n
}

func textSize(b *decant.Block) int {
	if b.Content == nil || b.Media.Count > 0 || b.Kind == decant.KindThinking || b.Kind == decant.KindOpaque {
		return 0
	}
	return b.Content.Size()
}
