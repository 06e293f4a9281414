package replay

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// A segment is one conversation as it is played.
type segment struct {
	conv        *decant.Conversation
	compactions []compaction // of the client; conv is the history without them
	requests    []request
	front       *front // of the recording; nil where several are joined
	ends        int    // messages at the end of a request that the client marks for the cache
	sizes       *sizes
}

// A front is what stands before the messages of the requests of one recording: system prompt and tools.
type front struct {
	name   string // its identity in the cache
	fixed  int    // tokens that are played
	shared int    // of them, from the beginning, that other sessions of the agent have as well
	system int    // recorded and shared, in tokens of the model that was recorded
	common int
	scale  float64 // tokens of the model that is played for one of the model that was recorded
}

// A request is one that the recorded client made.
type request struct {
	messages int             // of the history that it held
	at       time.Time       // when it was made
	front    *front          // that it has
	answer   *decant.Message // to it
	model    token.Model     // that it is played for
	output   int             // tokens of the answer
	lives    lives           // of the cache entries that it wrote
	found    found           // what of the cache it found

	comparable bool // its usage is recorded, and it is played as it was
}

// usage returns what was recorded for the request, nil when nothing was.
func (r *request) usage() *decant.Usage { return r.answer.Usage }

// models finds the model that answered, or that stands in for all of them.
type models func(id string) token.Model

// newSegment returns a recorded session as one history, with the compactions of its client apart.
func newSegment(c *decant.Conversation, o *Options, m models) *segment {
	ms, cs := uncompacted(c.Messages, token.For(m("")))
	s := &segment{conv: c.With(ms), compactions: cs, ends: markedEnds(c.Agent)}
	named := namesModels(ms)
	var last time.Time
	for i := range ms {
		if i == 0 || !answers(ms, i, named) || o.Copied != nil && o.Copied(&ms[i]) {
			continue
		}
		if t := ms[i].Time; t.After(last) {
			last = t
		} else {
			last = last.Add(time.Second) // recordings without times are played at a steady pace
		}
		model := m(ms[i].Model)
		s.requests = append(s.requests, request{
			messages: i, at: last, answer: &ms[i], model: model, output: cost.Answered(&ms[i], token.For(model)),
			comparable: ms[i].Usage != nil && o.asRecorded(),
		})
	}
	s.learn(o, m)
	return s
}

// answers reports whether the i-th message is an answer that was asked for: the first of several of the
// assistant in a row, and none that the client wrote in the model's place, as on a resume or an error.
func answers(ms []decant.Message, i int, named bool) bool {
	m := &ms[i]
	if m.Role != decant.RoleAssistant || named && m.Model == "" && m.Usage == nil {
		return false
	}
	return ms[i-1].Role != decant.RoleAssistant || m.Usage != nil
}

// namesModels reports whether answers name the model that made them.
func namesModels(ms []decant.Message) bool {
	for i := range ms {
		if ms[i].Role == decant.RoleAssistant && ms[i].Model != "" {
			return true
		}
	}
	return false
}

// learn takes from the recording what it says about sizes and the cache.
func (s *segment) learn(o *Options, m models) {
	as := token.For(m(""))          // that is played
	was := token.For(s.answered(o)) // that was recorded
	if len(s.requests) == 0 {
		return
	}
	f := &front{name: "system and tools", scale: ratio(as.Messages(s.conv.Messages), was.Messages(s.conv.Messages))}
	s.front = f
	f.fixed, f.system = s.fixedPart(as, was), s.fixedPart(was, was)
	if o.Fixed > 0 {
		f.fixed = o.Fixed
	}
	s.setLives()
	f.common = s.commonPart()
	f.shared = int(float64(f.fixed) * float64(f.common) / float64(max(1, f.system)))
	for q := range s.requests {
		s.requests[q].front = f
	}
	s.sizes = s.measure(was)
	s.find()
}

// answered returns the model that gave the newest answer, whatever model is played.
func (s *segment) answered(o *Options) token.Model {
	id := s.conv.Model
	for i := range s.requests {
		if name := s.requests[i].answer.Model; name != "" {
			id = name
		}
	}
	model, _ := o.Catalog.Lookup(id)
	return model
}

// reported returns the tokens of the newest prompt that was reported for an answer among the first n
// messages, 0 when none was.
func (s *segment) reported(n int) int {
	for i := n - 1; i >= 0; i-- {
		if u := s.conv.Messages[i].Usage; u != nil {
			return u.Prompt()
		}
	}
	return 0
}

// fixedPart returns the tokens of system prompt and tools: those in the recording, or what the first
// reported request had beyond its messages, in tokens of the model that is played.
func (s *segment) fixedPart(as, was *token.Estimator) int {
	if n := as.Fixed(&s.conv.Fixed); n > 0 || len(s.requests) == 0 {
		return n
	}
	first := &s.requests[0]
	if first.usage() == nil {
		return 0
	}
	part := max(0, first.usage().Prompt()-was.Messages(s.conv.Messages[:first.messages]))
	if as == was {
		return part
	}
	return int(float64(part) * s.front.scale)
}

// ratio returns a / b, 1 when there is nothing to compare.
func ratio(a, b int) float64 {
	if a <= 0 || b <= 0 {
		return 1
	}
	return float64(a) / float64(b)
}
