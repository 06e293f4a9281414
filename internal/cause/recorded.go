package cause

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
)

// A Request is an answered request of a recorded session and what it wrote.
type Request struct {
	Message *decant.Message // the answer
	Prompt  Prompt          // as far as it is known
	Parts   []Part          // none where it wrote nothing
	turn    bool            // the user had said something
}

// Recorded returns why each request of a recorded session wrote what it wrote, by the usage in it. Requests without
// usage are left out; several lines of one answer are one.
func Recorded(c *decant.Conversation) (out []Request) {
	r := recording{c: c}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Compaction {
			r.compacted = m.Name()
		}
		if m.Usage == nil || m.Usage.Prompt() == 0 || m.Role != decant.RoleAssistant || m.ID != "" && m.ID == r.id {
			continue
		}
		s := r.step(i)
		out = append(out, Request{m, s.Now, r.explain(s), spoke(c.Messages, i)})
		r.next(i, s)
	}
	restarted(out)
	return out
}

// restarted names the cause of requests that read nothing although everything should have been there, at what
// the user said. An agent that is started again, or that puts the time into its system prompt with each turn,
// has another beginning; a provider that loses entries loses them in the middle of a turn as well. So the
// beginning is taken to have changed where that hardly ever happens there.
func restarted(rs []Request) {
	turns, loops, lost, strays := 0, 0, 0, 0
	for i := range rs {
		missed := rs[i].missed() != nil
		if rs[i].turn {
			turns, lost = turns+1, lost+one(missed)
		} else {
			loops, strays = loops+1, strays+one(missed)
		}
	}
	if lost < leastRestarts || strays*turns*mostStray > lost*loops {
		return
	}
	for i := range rs {
		if p := rs[i].missed(); p != nil && rs[i].turn {
			p.Kind, p.Detail = Beginning, "at what the user said, nothing was read"
		}
	}
}

// It takes several such requests to tell, and the share of them among those that a user began must be so many
// times that among the others.
const (
	leastRestarts = 3
	mostStray     = 20
)

// missed returns the part of a request that read nothing and has no cause, nil when it is another.
func (r *Request) missed() *Part {
	if r.Prompt.Usage.CacheRead > 0 {
		return nil
	}
	for i := range r.Parts {
		if r.Parts[i].Kind == Unexplained {
			return &r.Parts[i]
		}
	}
	return nil
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// spoke reports whether the user said something behind the answer before the i-th message.
func spoke(ms []decant.Message, i int) bool {
	for k := i - 1; k >= 0 && ms[k].Role != decant.RoleAssistant; k-- {
		for j := range ms[k].Blocks {
			if ms[k].Blocks[j].Kind == decant.KindText && ms[k].Blocks[j].Author == decant.AuthorUser {
				return true
			}
		}
	}
	return false
}

// A recording goes through a recorded session.
type recording struct {
	c         *decant.Conversation
	first     int // tokens that the first request left in the cache
	before    *Prompt
	last      int    // index of the answer before
	id        string // of the answer before
	ends      []int  // tokens that earlier requests left in the cache, since the newest compaction
	names     []string
	compacted string // the client's summary since the answer before
}

// step returns how the request of the i-th message stands to the one before.
func (r *recording) step(i int) *Step {
	m := &r.c.Messages[i]
	s := &Step{Now: Prompt{At: asked(r.c.Messages, i), Model: m.Model, Usage: *m.Usage}}
	s.Now.Life = int(r.life(m.Usage) / time.Second)
	if r.before == nil {
		return s
	}
	if s.Now.Model == "" {
		s.Now.Model = r.before.Model
	}
	for k := r.last; k < i; k++ {
		s.Behind += len(r.c.Messages[k].Blocks)
	}
	s.Behind++ // the marker's own block counts
	if s.Head = r.renewed(m.Usage); s.Head == "" {
		s.Edit = r.edit(m.Usage)
	}
	return s
}

// explain returns the parts of a request. What a client writes behind its own compaction is all because of that.
func (r *recording) explain(s *Step) []Part {
	if r.compacted == "" || r.before == nil {
		return Explain(r.before, s)
	}
	if s.Now.Usage.CacheWrite == 0 {
		return nil
	}
	return hours([]Part{{Kind: Compacted, Detail: "at " + r.compacted, Tokens: s.Now.Usage.CacheWrite}}, s.Now.Usage)
}

// next notes what a request left.
func (r *recording) next(i int, s *Step) {
	if r.compacted != "" {
		r.ends, r.names, r.compacted = nil, nil, ""
	}
	now := s.Now
	if r.before == nil {
		r.first = now.cached()
	}
	r.before, r.last, r.id = &now, i, r.c.Messages[i].ID
	r.ends = append(r.ends, now.cached())
	r.names = append(r.names, r.c.Messages[i].Name())
}

// life returns how long what a request wrote lives: where it wrote for both, the messages live for five minutes.
func (r *recording) life(u *decant.Usage) time.Duration {
	switch {
	case u.CacheWrite == 0 && r.before != nil:
		return time.Duration(r.before.Life) * time.Second
	case u.CacheWrite == 0:
		return cost.LifeOf("5m")
	case u.Write1h == u.CacheWrite:
		return cost.LongLife
	}
	return cost.LifeOf("5m")
}

// edit returns the answer behind which the client changed its history: the prompt was read exactly as far as an
// earlier request had left it, or it shrank. It is empty where the usage shows neither.
func (r *recording) edit(u *decant.Usage) string {
	for k := len(r.ends) - 2; k >= 0; k-- {
		if u.CacheRead > 0 && u.CacheRead == r.ends[k] && r.ends[k] < r.before.cached() {
			return r.names[k]
		}
	}
	if u.CacheRead > 0 && u.Prompt() < r.before.Usage.Prompt() {
		return fmt.Sprintf("token %d", u.CacheRead)
	}
	return ""
}

// renewed says how the usage shows that system prompt, tools or settings changed: something was read, but
// less than the first request left behind its first words, while that should still have been there.
func (r *recording) renewed(u *decant.Usage) string {
	if u.CacheRead > 0 && u.CacheRead < r.first {
		return fmt.Sprintf("behind token %d", u.CacheRead)
	}
	return ""
}

// asked returns when the request of the i-th message was made: at the time of what it answers.
func asked(ms []decant.Message, i int) time.Time {
	for k := i - 1; k >= 0 && ms[k].Role != decant.RoleAssistant; k-- {
		if !ms[k].Time.IsZero() && !ms[k].Compaction {
			return ms[k].Time
		}
	}
	return ms[i].Time
}
