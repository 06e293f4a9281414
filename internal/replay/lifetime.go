package replay

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// lives are the lifetimes of the cache entries that a request writes: "5m", "1h", or "" for none.
type lives struct {
	fixed    string // system prompt and tools
	messages string
}

// The lifetimes that a request may ask for (docs/reference/anthropic.md, "The prompt cache").
const (
	short = "5m"
	long  = "1h"
)

// How a session's lifetimes are known.
const (
	Recorded = "recorded" // the usage in the recording says what was written for how long
	Marked   = "marked"   // the markers in the recorded request say it
	Habit    = "habit"    // nothing says it: five minutes, what the API does and agents do unless told otherwise
)

// setLives finds out how long what each request wrote to the cache was to live. Of a request that wrote
// nothing, or whose usage is not recorded, that is what the request before it asked for, or else the next
// that says it.
func (s *segment) setLives() {
	known := -1
	for q := range s.requests {
		r := &s.requests[q]
		switch {
		case r.usage() != nil && r.usage().CacheWrite > 0:
			before := lives{}
			if known >= 0 {
				before = s.requests[known].lives
			}
			r.lives = livesOf(r.usage(), before)
			if known < 0 {
				s.all(r.lives, 0, q)
			}
			known = q
		case known >= 0:
			r.lives = s.requests[known].lives
		}
	}
	if known < 0 {
		s.all(s.unrecorded(), 0, len(s.requests))
	}
}

func (s *segment) all(l lives, from, to int) {
	for q := from; q < to; q++ {
		s.requests[q].lives = l
	}
}

// livesOf returns the lifetimes that a request asked for that wrote to the cache. What lives for an hour stands
// first in the prompt, so where both were written it is system and tools.
func livesOf(u *decant.Usage, before lives) lives {
	switch u.Write1h {
	case 0:
		if before.fixed == long { // which was read and not written again
			return lives{long, short}
		}
		return lives{short, short}
	case u.CacheWrite:
		return lives{long, long}
	}
	return lives{long, short}
}

// unrecorded returns the lifetimes of a session whose usage does not say them: those of the markers in the
// recorded request, none where usage was reported and nothing was ever cached, else the usual ones.
func (s *segment) unrecorded() lives {
	if l, ok := s.marked(); ok {
		return l
	}
	for q := range s.requests {
		if u := s.requests[q].usage(); u != nil && u.CacheRead > 0 {
			return lives{short, short}
		}
	}
	if s.requests[0].usage() != nil {
		return lives{}
	}
	return lives{short, short}
}

// marked returns the lifetimes that markers in the recording ask for, false when there are no markers.
func (s *segment) marked() (l lives, ok bool) {
	for i := range s.conv.Fixed.Tools {
		l.fixed = longer(l.fixed, s.conv.Fixed.Tools[i].Cache)
	}
	for i := range s.conv.Fixed.System {
		l.fixed = longer(l.fixed, s.conv.Fixed.System[i].Cache)
	}
	for i := range s.conv.Messages {
		for k := range s.conv.Messages[i].Blocks {
			l.messages = longer(l.messages, s.conv.Messages[i].Blocks[k].Cache)
		}
	}
	return l, l != lives{}
}

// longer returns the longer of two lifetimes.
func longer(a, b string) string {
	if a == long || b == "" {
		return a
	}
	return b
}

// lifetimes sums up what the requests asked for: "5m", "1h", "mixed" or "none", and how that is known.
// Where the provider caches unasked it is "automatic", and nobody says more.
func (s *segment) lifetimes() (life, by string) {
	seen := map[string]bool{}
	for q := range s.requests {
		l := s.requests[q].lives
		seen[l.messages] = true
		seen[l.fixed] = true
	}
	delete(seen, "")
	switch {
	case s.requests[0].model.Provider != token.Anthropic:
		return "automatic", ""
	case s.tellsLives():
		by = Recorded
	default:
		by = Habit
		if _, ok := s.marked(); ok {
			by = Marked
		}
	}
	switch {
	case len(seen) > 1:
		return "mixed", by
	case seen[long]:
		return long, by
	case seen[short]:
		return short, by
	}
	return "none", by
}

// tellsLives reports whether the usage in the recording says for how long something was cached.
func (s *segment) tellsLives() bool {
	used := false
	for q := range s.requests {
		u := s.requests[q].usage()
		if u != nil && u.CacheWrite > 0 {
			return true
		}
		used = used || u != nil && u.CacheRead == 0
	}
	return used && s.requests[0].lives == lives{}
}

// markedEnds returns how many messages at the end of a request a client marks for the cache, besides its
// system prompt. Claude Code marks one (seen in versions 2.1.197 and 2.1.330), opencode two (1.18); one is
// what the API's own examples do.
func markedEnds(agent string) int {
	if agent == "opencode" {
		return 2
	}
	return 1
}
