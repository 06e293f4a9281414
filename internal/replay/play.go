package replay

import (
	"fmt"

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
	KeepWarm bool   // say what keeping the cache warm over pauses would have come to
	Details  bool   // keep what each request and each decision was
	Step     func() // called when a conversation has been played through a policy; nil: nobody waits

	// Copied reports which answers were made for another recording (see Copies): they are history, and not requests.
	// Nil: none.
	Copied func(*decant.Message) bool
}

// stage is what all players of one conversation share.
type stage struct {
	seg    *segment
	window int // in place of the models', 0: none
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
	c = o.uncopied(c)
	find := o.models(c)
	out := o.session(name, c, find)
	seg := newSegment(c, &o, find)
	if len(seg.requests) < 2 && (o.Copied == nil || len(seg.requests) == 0) {
		return out, nil
	}
	own, err := out.play(seg, token.For(find("")), &o)
	if err != nil {
		return nil, fmt.Errorf("play %s: %w", name, err)
	}
	out.note(seg)
	out.Recorded = own.settle(c, find)
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
	return out
}

// play plays one conversation of a session through every policy, and returns what the model says of the
// client's own requests. The client is played in any case for that.
func (s *Session) play(seg *segment, e *token.Estimator, o *Options) (*check, error) {
	lay := newLayout(e, seg)
	lay.prompt(seg.conv.Messages)
	j := newJudge(seg)
	var own *check
	for _, p := range o.Policies {
		r := newRun(seg, lay.fork(), o)
		r.judge, r.details, r.out.Policy = j, o.Details, p.Name
		if err := r.play(p); err != nil {
			return nil, fmt.Errorf("through %s: %w", p.Name, err)
		}
		s.Results = append(s.Results, r.out)
		if s.Joined != nil {
			s.Joined.Grounded = append(s.Joined.Grounded, share(r.anywhere, r.out.Gold))
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
	return o.Model == "" && o.Fixed == 0
}

// note takes down what the recording says about cache and compactions.
func (s *Session) note(seg *segment) {
	s.Lifetime, s.LifetimeBy = seg.lifetimes()
	s.Compactions = len(seg.compactions)
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
