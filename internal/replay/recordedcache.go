package replay

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// What a request finds in the provider's cache is not for the clock alone to say: an agent that is started
// again has another system prompt, another session keeps the tools warm, an entry goes before its time. Where
// the recording has usage, it says what was found. That holds for every policy, because none of it is a
// policy's doing; what the client lost because it changed its own prompt is told apart, and is its own.

// found is what the recorded usage says about the cache at a request.
type found struct {
	known    bool
	read     int // tokens that were read, of the model that was recorded
	messages warmth
	anew     bool    // system prompt or tools are taken to have changed with the request
	share    float64 // of the messages, that was read where they were warm: providers miss some now and then
}

// warmth is whether the messages of the request before were still in the cache.
type warmth uint8

const (
	untold warmth = iota // by the recording: the clock decides
	warm
	cold
)

// nearly is how much of something must have been read to count as all of it: sizes are estimates.
const nearly = 0.9

// find notes for each request what it found.
func (s *segment) find() {
	for q := range s.requests {
		r := &s.requests[q]
		if u := r.usage(); u != nil {
			r.found = found{known: true, read: u.CacheRead, messages: s.messagesAt(q), share: 1}
			if r.found.messages == warm {
				r.found.share = min(1, float64(u.CacheRead-s.front.system)/float64(s.cached(q-1)-s.front.system))
			}
			r.found.anew = s.anew(q)
		}
	}
}

// messagesAt returns whether request q found the messages of the request before it.
func (s *segment) messagesAt(q int) warmth {
	switch {
	case q == 0:
		return untold
	case s.requests[q].usage().CacheRead == 0 && s.caches():
		return cold // not even the tools were there, which come first
	case !s.followed(q):
		return untold
	}
	if c := s.sizes.cutAt(q); c != nil && c.own {
		return untold
	}
	had := s.cached(q - 1)
	switch read := s.requests[q].usage().CacheRead; {
	case had <= s.front.system:
		return untold
	case read >= s.front.system+(had-s.front.system)/2:
		return warm
	}
	return cold
}

// caches reports whether anything was ever read from the cache.
func (s *segment) caches() bool {
	for q := range s.requests {
		if u := s.requests[q].usage(); u != nil && u.CacheRead > 0 {
			return true
		}
	}
	return false
}

// cached returns the tokens that were in the cache after request q.
func (s *segment) cached(q int) int {
	r := &s.requests[q]
	u := r.usage()
	if r.model.Provider != token.Anthropic { // which need not report what it writes
		return u.Prompt()
	}
	return u.CacheRead + u.CacheWrite
}

// less returns a usage with a share of what was read of the messages; the rest is paid like what was not
// found. system is what was read of system prompt and tools.
func (f *found) less(u decant.Usage, system int) decant.Usage {
	lost := int(float64(u.CacheRead-system) * (1 - f.share))
	if f.messages != warm || lost <= 0 {
		return u
	}
	u.CacheRead -= lost
	switch {
	case u.CacheWrite == 0:
		u.Input += lost
	case u.Write1h == u.CacheWrite:
		u.Write1h += lost
		fallthrough
	default:
		u.CacheWrite += lost
	}
	return u
}

// commonPart returns the tokens at the beginning of the prompt that are the least that was ever read where
// nothing else of the session could be: the part that other sessions have as well. It is 0 when that is
// never seen, or when it is all of system prompt and tools.
func (s *segment) commonPart() int {
	least := 0
	for q := range s.requests {
		u := s.requests[q].usage()
		if u == nil || u.CacheRead == 0 || q > 0 && (!s.knows(q) || u.CacheRead >= s.front.system) {
			continue
		}
		if least == 0 || u.CacheRead < least {
			least = u.CacheRead
		}
	}
	if float64(least) > nearly*float64(s.front.system) {
		return 0
	}
	return least
}

// knows reports whether there is usage for request q and the one before it.
func (s *segment) knows(q int) bool {
	return s.requests[q-1].usage() != nil && s.requests[q].usage() != nil
}

// readSystem reports whether request q read system prompt and tools from the cache, or the part of them
// that is common where that is known.
func (s *segment) readSystem(q int) bool {
	return float64(s.requests[q].usage().CacheRead) >= nearly*float64(s.front.system)
}

// alive reports whether by the clock the messages of request q-1 were still in the cache at q.
func (s *segment) alive(q int) bool {
	return s.gap(q) < cost.LifeOf(s.requests[q-1].lives.messages)
}

// gap returns the time between the requests q-1 and q.
func (s *segment) gap(q int) time.Duration { return s.requests[q].at.Sub(s.requests[q-1].at) }

// anew reports whether system prompt or tools are taken to have changed with request q: they should have
// been in the cache and were not read. So it is where an agent is started again.
func (s *segment) anew(q int) bool {
	r := &s.requests[q]
	return q > 0 && r.found.messages == cold && s.gap(q) < cost.LifeOf(s.requests[q-1].lives.fixed) && !s.readSystem(q)
}
