package replay

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
)

// run is one conversation under one policy.
type run struct {
	*stage
	judge   *judge // nil: what was missed is not asked for
	player  player
	caches  map[string]*cost.Cache // by model: none reads what another wrote
	own     bool                   // the policy is the client's: what it did to its prompt, it did
	details bool

	out      Result
	anywhere int   // gold strings that are grounded if all places count
	check    check // of the client's own policy
	before   []cost.Block
	last     time.Time // of the request before, or of a call after it
	virtual  time.Time // the same in the life of the cache
	model    string    // of the request before
}

func newRun(seg *segment, lay *layout, o *Options) *run {
	return &run{stage: &stage{seg: seg, window: o.Window, lay: lay}, caches: map[string]*cost.Cache{}}
}

func (r *run) play(p Policy) error {
	r.player, r.own = p.start(r.stage), p.own
	var last []decant.Message
	for q := range r.seg.requests {
		r.arrive(q)
		s, err := r.player.view(q)
		if err != nil {
			return fmt.Errorf("request %d: %w", q+1, err)
		}
		r.send(q, s)
		last = s.messages
	}
	if r.judge != nil {
		r.prove(last)
	}
	return nil
}

// arrive sets the stage for a request: which lifetimes it asks for, and what has been lost of the history by
// then, whatever the policy.
func (r *run) arrive(q int) {
	r.lay.lives = r.seg.requests[q].lives
	r.lay.begin(r.seg.requests[q].front)
	if c := r.seg.sizes.cutAt(q); c != nil && c.all {
		r.lay.cut(c)
	}
}

// ownMarkers are those that the gateway may set: the recorded agents are taken to set three of the four.
const ownMarkers = cost.MostMarkers - 3

// send prices and judges one request.
func (r *run) send(q int, s step) {
	req := &r.seg.requests[q]
	spent := r.out.USD
	for i := range s.calls {
		r.call(max(0, q-1), req.at, &s.calls[i])
	}
	if s.renewed {
		r.lay.renew(q)
	}
	blocks, size := r.lay.prompt(s.messages, s.attached...)
	lost := r.changedPrefix(blocks, s.mark == nil)
	if s.mark != nil {
		front := r.lay.before() + len(s.attached)
		for _, at := range s.mark.Marks(len(blocks)-front, ownMarkers) {
			blocks[front+at].Cache = r.lay.lives.messages
		}
	}
	r.age(q)
	u := req.found.less(r.cache(q).Send(cost.Request{At: r.virtual, Blocks: blocks}), req.front.fixed)
	u.Output = req.output
	r.charge(q, u)
	r.count(q, size, lost)
	if r.judge != nil {
		r.weigh(q, s)
	}
	r.decided(q, s)
	if r.details {
		r.out.Series = append(r.out.Series, Point{
			Message: req.answer.Number, At: req.at, Prompt: size, Read: u.CacheRead, USD: r.out.USD - spent, Pour: s.reason,
		})
	}
	r.before, r.model = blocks, req.model.ID
}

// cache returns the cache of the model that is asked.
func (r *run) cache(q int) *cost.Cache {
	m := r.seg.requests[q].model
	c := r.caches[m.ID]
	if c == nil {
		c = cost.NewCache(m)
		r.caches[m.ID] = c
	}
	return c
}

// age moves the life of the cache on to request q: by the clock, unless the recording says what was found.
func (r *run) age(q int) {
	req := &r.seg.requests[q]
	if q == 0 {
		r.last, r.virtual = req.at, req.at
		r.seed(q)
		return
	}
	gap := max(0, req.at.Sub(r.last))
	switch req.found.messages {
	case warm:
		gap = min(gap, cost.LifeOf(r.seg.requests[q-1].lives.messages)-time.Second)
	case cold:
		gap = max(gap, cost.LongLife+time.Second)
	}
	r.last, r.virtual = req.at, r.virtual.Add(gap)
	if req.found.messages != warm {
		r.seed(q)
	}
}

// seed puts that part of system prompt and tools into the cache that the recorded request read from it.
func (r *run) seed(q int) {
	f, front := &r.seg.requests[q].found, r.seg.requests[q].front
	if !f.known {
		return
	}
	read := float64(f.read) * float64(front.fixed) / float64(max(1, front.system))
	blocks, sum := r.lay.system(), 0
	for i := range blocks {
		if sum += blocks[i].Tokens; read < nearly*float64(sum) {
			blocks = blocks[:i]
			break
		}
	}
	r.cache(q).Seed(cost.Request{At: r.virtual, Blocks: blocks})
}

// call prices a request for a summary: the history as it stood, read from the cache as far as it is
// there, and the answer. It comes after the request q and before one that is made at a time.
func (r *run) call(q int, before time.Time, c *call) {
	when := c.at
	if when.After(before) || when.Before(r.last) {
		when = before
	}
	r.virtual = r.virtual.Add(when.Sub(r.last))
	r.last = when
	blocks, _ := r.lay.prompt(c.messages, c.attached...)
	u := r.cache(q).Send(cost.Request{At: r.virtual, Blocks: blocks})
	u.Output = c.written
	usd := r.bill(q, u)
	r.out.Modelled += usd
	r.out.USD += usd
	r.out.CallsUSD += usd
}

// charge adds what request q costs: of the client's own policy what was recorded, where it was.
func (r *run) charge(q int, u decant.Usage) {
	req := &r.seg.requests[q]
	usd, answer := r.bill(q, u), r.price(q, decant.Usage{Output: req.output})
	r.out.Modelled += usd
	if !r.own || !req.comparable {
		r.out.USD += usd
		return
	}
	was := *req.usage()
	was.Output = req.output
	paid := r.price(q, was)
	r.out.USD += paid
	r.check.add(usd-answer, paid-answer)
}

// bill adds up a usage and returns what it costs.
func (r *run) bill(q int, u decant.Usage) float64 {
	req := &r.seg.requests[q]
	usd, known := cost.Of(req.model, u, cost.Terms{At: cost.Day(req.at)}).Total()
	o := &r.out
	o.Usage = o.Usage.Add(u)
	o.Unpriced = o.Unpriced || !known
	o.Units += 0.1*float64(u.CacheRead) + 1.25*float64(u.CacheWrite-u.Write1h) + 2*float64(u.Write1h) + float64(u.Input) + 5*float64(u.Output)
	return usd
}

// price returns what a usage costs.
func (r *run) price(q int, u decant.Usage) float64 {
	usd, _ := cost.Of(r.seg.requests[q].model, u, cost.Terms{At: cost.Day(r.seg.requests[q].at)}).Total()
	return usd
}

// count adds up what a prompt is besides its price.
func (r *run) count(q, size, lost int) {
	o := &r.out
	o.Requests++
	o.Peak = max(o.Peak, size)
	if size > r.limited(q).Window {
		o.Burst++
		if o.FirstBurst == 0 {
			o.FirstBurst, o.FirstBurstAt = o.Requests, r.seg.requests[q].answer.Number
		}
	}
	if lost > 0 {
		o.Busts++
		o.Rewritten += lost
	}
}

// changedPrefix returns how many tokens of the prompt stood in the one before and have to be written
// again because something before them is different. With mark it puts a cache marker before the change:
// who changes a prompt is taken to know where.
func (r *run) changedPrefix(blocks []cost.Block, mark bool) int {
	k := 0
	for k < len(blocks) && k < len(r.before) && blocks[k].ID == r.before[k].ID {
		k++
	}
	if k == len(r.before) {
		return 0
	}
	if k > 0 && mark {
		blocks[k-1].Cache = r.lay.lives.messages
	}
	had := map[decant.Hash]bool{}
	for _, b := range r.before[k:] {
		had[b.ID] = true
	}
	n := 1 // that the prefix changed counts even where nothing behind it was cached
	for _, b := range blocks[k:] {
		if had[b.ID] {
			n += b.Tokens
		}
	}
	return n
}

// decided counts the decisions of a step.
func (r *run) decided(q int, s step) {
	switch s.reason {
	case policy.Necessary, policy.Routine: // because of the window, or because the preset says so
		r.out.Necessary++
	case policy.Free:
		r.out.Free++
	case policy.Paid:
		r.out.Paid++
	case Compacted:
		r.out.Client += len(s.made)
	}
	r.out.Decisions += len(s.made)
	for i := range s.made {
		d := &s.made[i]
		r.out.Freed += d.Before - d.After
		if r.details {
			r.out.Log = append(r.out.Log, r.entry(q, s.reason, d))
		}
	}
}
