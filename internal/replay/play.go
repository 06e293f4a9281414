package replay

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// Options say how sessions are played.
type Options struct {
	Policies []Policy
	Catalog  *token.Catalog
	Model    string // whose window and prices count; empty: those that were recorded, answer by answer
	Window   int    // in place of the model's; 0: the model's
	Fixed    int    // tokens of system prompt and tools; 0: as far as the recording tells
	Lifetime string // of cache entries, "5m" or "1h"; empty: as recorded, else five minutes
	Clock    bool   // the clock alone says when the cache was cold, not what was recorded as read
	Warm     bool   // the cache never goes cold, whatever the recording says
	Split    bool   // each stretch between two compactions of the client is a conversation of its own
	Shadow   bool   // hold each checkpoint of a preset against the one that nobody has watched the agent for
	KeepWarm bool   // say what keeping the cache warm over pauses would have come to
	Ends     bool   // say how much dearer than sending everything a policy is for sessions that end early
	Details  bool   // keep what each request and each decision was
	Step     func() // called when a conversation has been played through a policy; nil: nobody waits
}

// stage is what all players of one conversation share.
type stage struct {
	seg    *segment
	window int // in place of the models', 0: none
	warm   bool
	watch  bool // candidates of checkpoints are wanted
	lay    *layout
}

// limited returns the model of a request with the window that counts.
func (s *stage) limited(q int) token.Model {
	m := s.seg.requests[q].model
	if s.window > 0 {
		m.Window = s.window
	}
	return m
}

// fixed returns the tokens of system prompt and tools of request q.
func (s *stage) fixed(q int) int { return s.seg.requests[q].front.fixed }

// rates returns what a token of the messages costs to write to the cache and to read from it.
func (s *stage) rates(q, prompt int) (write, read float64) {
	r := &s.seg.requests[q]
	hour := r.lives.messages == long
	p, _, ok := r.model.PriceAt(cost.Day(r.at))
	if !ok {
		if hour {
			return 2, 0.1
		}
		return 1.25, 0.1
	}
	at := p.At(prompt)
	if !at.CacheRead.Known || r.lives.messages == "" {
		return at.Input.USD, at.Input.USD
	}
	write = at.Write5m.USD
	if hour {
		write = at.Write1h.USD
	}
	if write == 0 {
		write = at.Input.USD
	}
	return write, at.CacheRead.USD
}

// Play plays one recorded session through every policy. The results come in the order of the
// policies, one each.
func Play(name string, c *decant.Conversation, o Options) (*Session, error) {
	find := o.models(c)
	out := o.session(name, c, find)
	var all check
	for k, seg := range segments(c, &o, find) {
		one, err := out.play(k, seg, token.For(find("")), &o)
		if err != nil {
			return nil, fmt.Errorf("play %s: %w", name, err)
		}
		all.join(one)
		out.note(seg, o.Lifetime)
	}
	out.Recorded = all.settle(c, find)
	if o.KeepWarm {
		out.Warm = keepWarm(c, find)
	}
	return out, nil
}

// session returns the session of a recording that no policy has been played on.
func (o *Options) session(name string, c *decant.Conversation, find models) *Session {
	main := find("")
	out := &Session{Name: name, Model: main.ID, Window: main.Window}
	if o.Window > 0 {
		out.Window = o.Window
	}
	out.Begun = len(c.Messages) > 0 && c.Messages[0].Compaction
	out.Results = make([]Result, len(o.Policies))
	if o.Shadow {
		out.Shadows = make([]Shadow, len(o.Policies))
	}
	for i, p := range o.Policies {
		out.Results[i].Policy = p.Name
	}
	return out
}

// play plays one conversation of a session through every policy, and returns what the model says of the
// client's own requests. The client is played in any case for that.
func (s *Session) play(k int, seg *segment, e *token.Estimator, o *Options) (*check, error) {
	lay := newLayout(e, seg)
	lay.prompt(seg.conv.Messages)
	j := newJudge(seg)
	var own *check
	var everything []float64
	if o.Ends {
		var err error
		if everything, err = sendAll(seg, lay.fork(), o); err != nil {
			return nil, fmt.Errorf("sent whole: %w", err)
		}
	}
	for i, p := range o.Policies {
		r := newRun(seg, lay.fork(), o)
		r.judge, r.segment, r.details = j, k, o.Details
		if err := r.play(p); err != nil {
			return nil, fmt.Errorf("through %s: %w", p.Name, err)
		}
		if o.Ends {
			r.out.Worst = r.worst(s.Name, everything)
		}
		s.Results[i].add(&r.out)
		if s.Joined != nil {
			s.Joined.Grounded = append(s.Joined.Grounded, share(r.anywhere, r.out.Gold))
		}
		if o.Shadow {
			s.Shadows[i] = s.Shadows[i].sum(r.shadow)
		}
		if o.Step != nil {
			o.Step()
		}
		if p.own {
			own = &r.check
		}
	}
	if own != nil || s.Joined != nil {
		return own, nil
	}
	r := newRun(seg, lay.fork(), o)
	if err := r.play(Policy{start: startClient, own: true}); err != nil {
		return nil, fmt.Errorf("as recorded: %w", err)
	}
	return &r.check, nil
}

// asRecorded reports whether the session is played for what was recorded: the usage in it says what that
// cost.
func (o *Options) asRecorded() bool {
	return o.Model == "" && o.Fixed == 0 && o.Lifetime == "" && !o.Warm
}

// note notes what a conversation of the session was.
func (s *Session) note(seg *segment, asked string) {
	life, by := seg.lifetimes(asked)
	if s.Conversations > 0 && life != s.Lifetime {
		life = "mixed"
	}
	s.Lifetime, s.LifetimeBy = life, by
	s.Conversations++
	s.Compactions += len(seg.compactions)
	for i := range seg.compactions {
		s.CompactedAt = max(s.CompactedAt, seg.reported(seg.compactions[i].at))
	}
}

// models returns the models that a session is played for: that of each answer, or one for all. Asked for
// no id, it gives the one that answered last.
func (o *Options) models(c *decant.Conversation) models {
	last := o.Model
	for i := len(c.Messages) - 1; i >= 0 && last == ""; i-- {
		last = c.Messages[i].Model
	}
	if last == "" {
		last = c.Model
	}
	return func(id string) token.Model {
		if id == "" || o.Model != "" {
			id = last
		}
		m, _ := o.Catalog.Lookup(id)
		return m
	}
}

// perhaps returns the time of a request in a cache that may never go cold.
func (s *stage) perhaps(q int, at time.Time) time.Time {
	if s.warm {
		return s.seg.requests[0].at.Add(time.Duration(q) * time.Second)
	}
	return at
}
