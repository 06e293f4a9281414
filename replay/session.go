package replay

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A segment is one conversation as it is played: a whole session, or the part of one between two
// compactions of its client.
type segment struct {
	conv        *decant.Conversation
	compactions []compaction // of the client; conv is the history without them
	requests    []int        // how many messages each request holds
	at          []time.Time  // when each was made
	recorded    int          // tokens of system prompt and tools, as far as the recording tells
	fixed       int          // tokens of them that are played
}

// segments returns the conversations of a recorded session.
func segments(c *decant.Conversation, e *token.Estimator, split bool) []*segment {
	if split {
		return stretches(c, e)
	}
	whole, compactions := uncompacted(c.Messages, e)
	s := newSegment(c, whole, e)
	s.compactions = compactions
	if len(s.requests) < 2 {
		return nil
	}
	return []*segment{s}
}

// stretches divides a recorded session at the summaries that its client put in. Each begins with one.
func stretches(c *decant.Conversation, e *token.Estimator) []*segment {
	var out []*segment
	start := 0
	for i := 1; i <= len(c.Messages); i++ {
		if i < len(c.Messages) && !c.Messages[i].Compaction {
			continue
		}
		if s := newSegment(c, c.Messages[start:i], e); len(s.requests) > 1 {
			out = append(out, s)
		}
		start = i
	}
	return out
}

func newSegment(c *decant.Conversation, ms []decant.Message, e *token.Estimator) *segment {
	s := &segment{conv: c.With(ms)}
	var last time.Time
	for i := range ms {
		if i == 0 || ms[i].Role != decant.RoleAssistant || ms[i-1].Role == decant.RoleAssistant {
			continue
		}
		if t := ms[i].Time; t.After(last) {
			last = t
		} else {
			last = last.Add(time.Second) // recordings without times are played at a steady pace
		}
		s.requests = append(s.requests, i)
		s.at = append(s.at, last)
	}
	s.recorded = s.fixedPart(e)
	s.fixed = s.recorded
	return s
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
// reported request had beyond its messages.
func (s *segment) fixedPart(e *token.Estimator) int {
	if n := e.Fixed(&s.conv.Fixed); n > 0 || len(s.requests) == 0 {
		return n
	}
	first := s.requests[0]
	u := s.conv.Messages[first].Usage
	if u == nil {
		return 0
	}
	return max(0, u.Prompt()-e.Messages(s.conv.Messages[:first]))
}
