package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Recording is one of several that are played as one conversation.
type Recording struct {
	Name         string
	Format       string // of its source
	Conversation *decant.Conversation
}

// PlayJoined plays recordings one after the other, in the order of their time, as one conversation: each request has
// all recordings before it in front of its own. Each brings its own system prompt and tools, and keeps its own pauses; one
// that began before the one in front of it had ended follows at once. What messages took and for how long they were cached is
// learned from each recording by itself; what was paid for a prompt says nothing any more, because another is sent.
func PlayJoined(name string, rs []Recording, o Options) (*Session, error) {
	if len(rs) == 0 {
		return nil, errors.New("nothing to join")
	}
	if slices.ContainsFunc(o.Policies, func(p Policy) bool { return p.own }) {
		return nil, errors.New("joined sessions have no policy \"client\": what it sent was sent in several sessions")
	}
	rs = inOrder(rs)
	if err := joinable(rs); err != nil {
		return nil, err
	}
	segs, rs, unanswered := o.parts(rs)
	if len(segs) == 0 {
		return nil, errors.New("nothing to join: there is no answered request in any of the recordings")
	}
	newest := rs[len(rs)-1].Conversation
	find := o.models(newest)
	out := o.session(name, newest, find)
	out.Begun = slices.ContainsFunc(rs, func(r Recording) bool { return r.begun() })
	var err error
	if out.Joined, err = apart(rs, segs, token.For(find("")), &o); err != nil {
		return nil, err
	}
	out.Joined.LeftOut = unanswered
	seg := joined(newest, segs)
	if len(seg.requests) < 2 {
		return out, nil
	}
	if _, err := out.play(seg, token.For(find("")), &o); err != nil {
		return nil, fmt.Errorf("play %s: %w", name, err)
	}
	out.note(seg)
	return out, nil
}

// begun reports whether a recording begins with a summary of its client's.
func (r *Recording) begun() bool {
	ms := r.Conversation.Messages
	return len(ms) > 0 && ms[0].Compaction
}

// inOrder returns recordings in the order in which they began, or as they are where that is not known of all.
func inOrder(rs []Recording) []Recording {
	if slices.ContainsFunc(rs, func(r Recording) bool { return r.first().IsZero() }) {
		return rs
	}
	rs = slices.Clone(rs)
	slices.SortStableFunc(rs, func(a, b Recording) int { return a.first().Compare(b.first()) })
	return rs
}

// first returns the time of the first message that has one.
func (r *Recording) first() (t time.Time) {
	for i := range r.Conversation.Messages {
		if t = r.Conversation.Messages[i].Time; !t.IsZero() {
			break
		}
	}
	return t
}

// joinable returns an error that names the recording that cannot follow those before it.
func joinable(rs []Recording) error {
	for i := range rs {
		a, b := &rs[0], &rs[i]
		if a.Format != b.Format {
			return fmt.Errorf("%s is in the format %s and %s in %s: join sessions of one format, or convert one of them first", a.Name, a.Format, b.Name, b.Format)
		}
		for k := range rs[:i] {
			if n := repeated(&rs[k], b); n > 0 {
				return fmt.Errorf("%s repeats the first %d messages of %s, as a session does that was resumed: leave one of them out", b.Name, n, rs[k].Name)
			}
		}
	}
	return nil
}

// repeated returns how many messages two recordings have in common at their beginnings, 0 when no answer is among them.
func repeated(a, b *Recording) (n int) {
	as, bs := a.Conversation.Messages, b.Conversation.Messages
	answered := false
	for n < min(len(as), len(bs)) && same(&as[n], &bs[n]) {
		answered = answered || as[n].Role == decant.RoleAssistant
		n++
	}
	if !answered {
		return 0
	}
	return n
}

// same reports whether two messages say the same.
func same(a, b *decant.Message) bool {
	return a.Role == b.Role && slices.EqualFunc(a.Blocks, b.Blocks, func(x, y decant.Block) bool { return x.Kind == y.Kind && x.Hash() == y.Hash() })
}

// parts returns what each recording is by itself, as its messages are numbered and timed in the joined conversation, and
// the names of those in which nothing was answered, which are left out.
func (o *Options) parts(rs []Recording) (out []*segment, played []Recording, unanswered []string) {
	var end time.Time
	number := 0
	for i := range rs {
		c := moved(rs[i].Conversation, number, end)
		s := newSegment(c, o, o.models(rs[i].Conversation))
		if len(s.requests) == 0 {
			unanswered = append(unanswered, rs[i].Name)
			continue
		}
		s.front.name = fmt.Sprintf("system and tools of recording %d", i+1)
		continues(s, end)
		last := &c.Messages[len(c.Messages)-1]
		number, end = last.Number, s.requests[len(s.requests)-1].at
		if last.Time.After(end) {
			end = last.Time
		}
		out, played = append(out, s), append(played, rs[i])
	}
	return out, played, unanswered
}

// moved returns a copy of a recorded conversation whose messages come behind number others, and not before a time.
func moved(c *decant.Conversation, number int, after time.Time) *decant.Conversation {
	r := Recording{Conversation: c}
	first, later := r.first(), time.Duration(0)
	if !first.IsZero() {
		later = max(0, after.Sub(first))
	}
	ms := slices.Clone(c.Messages)
	for i := range ms {
		m := &ms[i]
		m.Number += number
		if !m.Time.IsZero() {
			m.Time = m.Time.Add(later)
		}
		m.Blocks = slices.Clone(m.Blocks)
		for k := range m.Blocks {
			m.Blocks[k].Ref.Message += number
		}
	}
	return c.With(ms)
}

// continues moves the requests of a recording without times behind a time, at their pace.
func continues(s *segment, after time.Time) {
	later := after.Add(time.Second).Sub(s.requests[0].at)
	if later <= 0 || after.IsZero() {
		return
	}
	for q := range s.requests {
		s.requests[q].at = s.requests[q].at.Add(later)
	}
}

// apart says of which recordings a session is made, and what they cost each by itself.
func apart(rs []Recording, segs []*segment, e *token.Estimator, o *Options) (*Joined, error) {
	out := &Joined{}
	for i, s := range segs {
		out.Recordings = append(out.Recordings, rs[i].Name)
		r := newRun(s, newLayout(e, s), o)
		if err := r.play(Policy{start: startNone}); err != nil {
			return nil, fmt.Errorf("play %s by itself: %w", rs[i].Name, err)
		}
		out.ApartUSD += r.out.USD
		out.ApartOver += r.out.Burst
		out.Unpriced = out.Unpriced || r.out.Unpriced
	}
	return out, nil
}

// joined returns the one conversation that recordings make. c is the newest of them.
func joined(c *decant.Conversation, parts []*segment) *segment {
	out := &segment{ends: markedEnds(c.Agent), sizes: &sizes{}}
	var ms []decant.Message
	for _, p := range parts {
		out.sizes.join(p.sizes, len(out.requests))
		for q := range p.requests {
			r := p.requests[q]
			r.messages += len(ms)
			r.comparable = false
			r.found.anew = r.found.anew || q == 0 && len(ms) > 0
			out.requests = append(out.requests, r)
		}
		ms = append(ms, p.conv.Messages...)
	}
	for q := range out.requests {
		r := &out.requests[q]
		r.answer = &ms[r.messages]
	}
	out.conv = c.With(ms)
	return out
}

// join adds what is known of the sizes in another recording, whose messages are numbered behind those here and whose first
// request is the one of a number.
func (z *sizes) join(o *sizes, request int) {
	n := len(z.factor)
	z.factor = append(z.factor, o.factor[min(n, len(o.factor)):]...)
	z.unseen = append(z.unseen, o.unseen[min(n, len(o.unseen)):]...)
	z.left = append(z.left, o.left[min(n, len(o.left)):]...)
	for _, c := range o.cuts {
		c.request += request
		z.cuts = append(z.cuts, c)
	}
}
