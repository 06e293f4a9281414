package replay

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/legal"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Options say how sessions are played.
type Options struct {
	Policies []Policy
	Catalog  *token.Catalog
	Model    string // whose window and prices count; empty: the one that was recorded
	Window   int    // in place of the model's; 0: the model's
	Fixed    int    // tokens of system prompt and tools; 0: as far as the recording tells
	Warm     bool   // the cache never goes cold, whatever the recorded times say
	Split    bool   // each stretch between two compactions of the client is a conversation of its own
	Details  bool   // keep what each request and each decision was
}

// stage is what all players of one conversation share.
type stage struct {
	seg    *segment
	model  token.Model
	window int
	warm   bool
	lay    *layout
}

// limited returns the model with the window that counts.
func (s *stage) limited() token.Model {
	m := s.model
	m.Window = s.window
	return m
}

// rates returns what a token costs to write to the cache and to read from it.
func (s *stage) rates(at time.Time, prompt int) (write, read float64) {
	p, _, ok := s.model.PriceAt(at)
	if !ok {
		return 1.25, 0.1
	}
	r := p.At(prompt)
	if !r.CacheRead.Known {
		return r.Input.USD, r.Input.USD
	}
	if write = r.Write5m.USD; write == 0 {
		write = r.Input.USD
	}
	return write, r.CacheRead.USD
}

// Play plays one recorded session through every policy. The results come in the order of the
// policies, one each.
func Play(name string, c *decant.Conversation, o Options) (*Session, error) {
	model := o.model(c)
	est := token.For(model)
	out := &Session{Name: name, Model: model.ID, Window: model.Window}
	if o.Window > 0 {
		out.Window = o.Window
	}
	out.Begun = len(c.Messages) > 0 && c.Messages[0].Compaction
	out.Results = make([]Result, len(o.Policies))
	for i, p := range o.Policies {
		out.Results[i].Policy = p.Name
	}
	for k, seg := range segments(c, est, o.Split) {
		if o.Fixed > 0 {
			seg.fixed = o.Fixed
		}
		lay := newLayout(est, seg.fixed)
		lay.prompt(seg.conv.Messages)
		j := newJudge(seg)
		for i, p := range o.Policies {
			s := &stage{seg: seg, model: model, window: out.Window, warm: o.Warm, lay: lay.fork()}
			run := run{stage: s, judge: j, player: p.start(s), cache: cost.NewCache(model), details: o.Details, segment: k}
			r, err := run.play()
			if err != nil {
				return nil, fmt.Errorf("play %s through %s: %w", name, p.Name, err)
			}
			out.Results[i].add(r)
		}
		out.Conversations++
		out.Compactions += len(seg.compactions)
		for i := range seg.compactions {
			out.CompactedAt = max(out.CompactedAt, seg.reported(seg.compactions[i].at))
		}
	}
	return out, nil
}

// model returns the model to play for.
func (o *Options) model(c *decant.Conversation) token.Model {
	id := o.Model
	for i := len(c.Messages) - 1; i >= 0 && id == ""; i-- {
		id = c.Messages[i].Model
	}
	if id == "" {
		id = c.Model
	}
	m, _ := o.Catalog.Lookup(id)
	return m
}

// run is one conversation under one policy.
type run struct {
	*stage
	judge   *judge
	player  player
	cache   *cost.Cache
	details bool
	segment int

	out    Result
	before []cost.Block
	last   time.Time // when the cache was last asked
}

func (r *run) play() (*Result, error) {
	var last []decant.Message
	for q, n := range r.seg.requests {
		at := r.seg.at[q]
		s, err := r.player.view(n, at)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", q+1, err)
		}
		r.send(q, at, s)
		last = s.messages
	}
	r.prove(last)
	return &r.out, nil
}

// send prices and judges one request.
func (r *run) send(q int, at time.Time, s step) {
	spent := r.out.USD
	when := at
	if r.warm {
		when = r.seg.at[0].Add(time.Duration(q) * time.Second)
	}
	for i := range s.calls {
		r.call(&s.calls[i], when)
	}
	blocks, size := r.lay.prompt(s.messages, s.attached...)
	lost := r.changedPrefix(blocks, s.mark == nil)
	if s.mark != nil {
		front := 1 + len(s.attached)
		if at := s.mark.at(len(blocks) - front); at >= 0 {
			blocks[front+at].Cache = "5m"
		}
	}
	u := r.bill(when, blocks, 0)
	o := &r.out
	o.Requests++
	o.Peak = max(o.Peak, size)
	if size > r.window {
		o.Burst++
		if o.FirstBurst == 0 {
			o.FirstBurst = o.Requests
		}
	}
	if lost > 0 {
		o.Busts++
		o.Rewritten += lost
	}
	v := r.judge.judge(q, s.messages)
	o.Gold, o.Kept, o.Grounded = o.Gold+v.gold, o.Kept+v.kept, o.Grounded+v.grounded
	r.decided(s, at)
	if len(s.made) > 0 || q == len(r.seg.requests)-1 {
		o.Illegal += r.illegal(s.messages, r.seg.requests[q])
	}
	if r.details {
		o.Series = append(o.Series, Point{Segment: r.segment, At: at, Prompt: size, Read: u.CacheRead, USD: o.USD - spent, Pour: s.reason})
	}
	r.before = blocks
}

// call prices a request for a summary: the history as it stood, read from the cache as far as it is
// there, and the answer. It comes before the request that is sent at a time.
func (r *run) call(c *call, by time.Time) {
	when := c.at
	if r.warm || when.After(by) || when.Before(r.last) {
		when = by
	}
	blocks, _ := r.lay.prompt(c.messages, c.attached...)
	r.bill(when, blocks, c.written)
}

// bill asks the cache for a prompt and adds up what it and the answer cost.
func (r *run) bill(when time.Time, blocks []cost.Block, written int) decant.Usage {
	r.last = when
	u := r.cache.Send(cost.Request{At: when, Blocks: blocks})
	u.Output = written
	usd, known := cost.Of(r.model, u, cost.Terms{At: when}).Total()
	o := &r.out
	o.Usage = o.Usage.Add(u)
	o.USD += usd
	o.Unpriced = o.Unpriced || !known
	o.Units += 0.1*float64(u.CacheRead) + 1.25*float64(u.CacheWrite) + float64(u.Input) + 5*float64(u.Output)
	return u
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
		blocks[k-1].Cache = "5m"
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
func (r *run) decided(s step, at time.Time) {
	switch s.reason {
	case engine.Necessary:
		r.out.Necessary++
	case engine.Free:
		r.out.Free++
	case engine.Paid:
		r.out.Paid++
	case Compacted:
		r.out.Client += len(s.made)
	}
	r.out.Decisions += len(s.made)
	for i := range s.made {
		d := &s.made[i]
		r.out.Freed += d.Before - d.After
		if r.details {
			r.out.Log = append(r.out.Log, Entry{
				Segment: r.segment, Request: r.out.Requests, At: at, Pour: s.reason, Kind: d.Kind, Reduction: d.Reduction,
				Reason: d.Reason, Message: d.Target.Message, Before: d.Before, After: d.After,
			})
		}
	}
}

// illegal returns how many rules a view breaks that the recording does not.
func (r *run) illegal(view []decant.Message, n int) int {
	rules := legal.RulesFor(legal.Messages, r.model, r.seg.conv.Thinking)
	rules.Record = true
	was := map[legal.Rule]int{}
	whole := r.seg.conv.With(r.seg.conv.Messages[:n])
	for _, v := range legal.Check(whole, rules) {
		was[v.Rule]++
	}
	bad := 0
	for _, v := range legal.Check(r.seg.conv.With(view), rules) {
		if was[v.Rule]--; was[v.Rule] < 0 {
			bad++
		}
	}
	return bad
}

// prove says which must-keep facts of the conversation the last view still has.
func (r *run) prove(view []decant.Message) {
	if len(view) == 0 {
		return
	}
	n := r.seg.requests[len(r.seg.requests)-1]
	if r.judge.facts == nil {
		r.judge.facts = fact.Extract(r.seg.conv.Messages[:n])
	}
	res := fact.Check(r.judge.facts, wire.Text(r.seg.conv.With(view)))
	r.out.Facts += len(r.judge.facts)
	r.out.AtRisk += len(res.Missing)
}
