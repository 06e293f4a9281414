package plan

import (
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// Size returns the tokens that a view takes, system prompt and tools included: what the provider
// reported last, and an estimate of what came after. Once decisions have changed what it reported
// about, everything is estimated.
func (dr *Draft) Size(view *decant.Conversation) int {
	reported, estimated := dr.measure(view)
	return reported + estimated
}

// measure returns the two parts of a view's size: what the provider reported, and what is estimated.
func (dr *Draft) measure(view *decant.Conversation) (reported, estimated int) {
	in := dr.Input
	if !dr.Anchored() || len(dr.Made) > 0 && view != dr.Before && dr.pourMade() {
		return 0, in.Fixed + dr.Meter.Scale(dr.Estimate(view, decant.Ref{}))
	}
	m := &dr.Meter
	last := in.Match.State.Chain[m.Length-1].Ref
	drift := 0
	if m.Fixed > 0 {
		drift = in.Fixed - m.Fixed
	}
	return m.Usage.Context() + drift, dr.Meter.Scale(dr.Estimate(view, last))
}

// mostOff is how many times its estimate text may take, at the worst.
const mostOff = 4

// MayPass reports whether the request may have more than so many tokens, for all that is estimated of it.
func (dr *Draft) MayPass(tokens int) bool {
	reported, estimated := dr.measure(dr.View)
	return reported+mostOff*estimated > tokens
}

// pourMade reports whether this draft has decided about something that the anchor counts.
func (dr *Draft) pourMade() bool {
	last := dr.Match.State.Chain[dr.Meter.Length-1].Ref
	for i := range dr.Made {
		if d := &dr.Made[i]; d.Checkpoint != nil || d.Target.Message > 0 && !d.Target.Ref.After(last) {
			return true
		}
	}
	return false
}

// Anchored reports whether the meter's report is about a beginning of this request as it would be sent.
func (dr *Draft) Anchored() bool {
	in := dr.Input
	m := &dr.Meter
	return (in.Match.Relation == match.Continues || in.Match.Relation == match.Replaces) && len(dr.Suspended) == 0 && m.Length > 0 && m.Length <= in.Match.Kept && m.Length <= len(in.Match.State.Chain) &&
		in.Match.State.Chain[m.Length-1].Chain == m.Chain && in.holds(m.Length) && len(in.Match.State.Decisions) == m.Decisions &&
		!in.summarised(in.Match.State.Chain[m.Length-1].Ref.Message)
}

// summarised reports whether the provider has put a summary in the place of what a report is about that ends with a
// message. One that came with the very answer of the report is in it: the report is about the pass behind it.
func (in *Input) summarised(last int) bool {
	answers := 0
	for i := in.Conv.Index(last) + 1; i < len(in.Conv.Messages); i++ {
		m := &in.Conv.Messages[i]
		if m.Role == decant.RoleAssistant {
			answers++
		}
		if m.Compaction && answers != 1 {
			return true
		}
	}
	return false
}

// holds reports whether the request has the first n entries of the chain.
func (in *Input) holds(n int) bool {
	for i := len(in.Match.Entries) - 1; i >= 0; i-- {
		if in.Match.Entries[i] >= 0 {
			return in.Match.Entries[i]+1 >= n || match.ThinkingOnly(in.Match.State.Chain[in.Match.Entries[i]+1:n])
		}
	}
	return false
}

// Estimate returns the tokens of the blocks of a view behind a reference, without calibration. The
// answer that followed a reported request was reported with it. What stands before a summary that the provider has put
// into the conversation takes no room in the window.
func (dr *Draft) Estimate(view *decant.Conversation, behind decant.Ref) int {
	ms := view.Messages
	live := len(ms) - len(view.Live())
	n, answered := 0, behind.Message == 0 || dr.Meter.Usage.Output == 0
	for i := since(ms, behind.Message); i < len(ms); i++ {
		m := &ms[i]
		if !answered && m.Role == decant.RoleAssistant && m.Number > behind.Message {
			answered = true
			continue
		}
		if i >= live {
			n += dr.weigh(m, behind)
		}
	}
	return n
}

// since returns the index of the first message behind the last one whose number is below a number. What Decant wrote
// has none.
func since(ms []decant.Message, number int) int {
	i := len(ms)
	for i > 0 && (ms[i-1].Number == 0 || ms[i-1].Number >= number) {
		i--
	}
	return i
}

// weigh returns the tokens of the blocks of m behind a reference.
func (in *Input) weigh(m *decant.Message, behind decant.Ref) int {
	n := 0
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if behind.Message > 0 && !b.Ref.After(behind) { // also what Decant wrote, which was reported too
			continue
		}
		n += in.tokens(b)
	}
	if n > 0 {
		n += MessageFrame
	}
	return n
}

// MessageFrame is how many tokens a message takes besides its blocks.
const MessageFrame = 4

// tokens returns the estimated tokens of a block of the view. Those of the request are counted once.
func (in *Input) tokens(b *decant.Block) int {
	if i := in.atomOf(b); i >= 0 {
		return in.Prompt.Tokens(i, in.Estimator)
	}
	return in.Estimator.Block(b)
}

// atomOf returns the index of the block of the request that a block of the view is, -1 when it is none or was changed.
func (in *Input) atomOf(b *decant.Block) int {
	m := b.Ref.Message - 1
	if !in.Refs.Same || b.Changed != "" || m < 0 || m >= len(in.Prompt.Starts) {
		return -1
	}
	i := in.Prompt.Starts[m] + b.Ref.Block
	if i >= len(in.Prompt.Blocks) || in.Prompt.Blocks[i].Ref != b.Ref || in.Prompt.Blocks[i].Content != b.Content {
		return -1
	}
	return i
}

// Weighed returns the tokens of the messages of a view, all of them estimated: so every view is metered that
// is another one than was reported about.
func (dr *Draft) Weighed(view *decant.Conversation) int {
	return dr.Meter.Scale(dr.Estimate(view, decant.Ref{}))
}

// Behind returns the tokens of the view from the first block on that is different from before: what
// the provider's cache has to be written anew.
func (dr *Draft) Behind() int {
	n := min(len(dr.Before.Messages), len(dr.View.Messages))
	for i := range n {
		if !slices.EqualFunc(dr.Before.Messages[i].Blocks, dr.View.Messages[i].Blocks, alike) {
			return dr.Weighed(dr.View.With(dr.View.Messages[i:]))
		}
	}
	return dr.Weighed(dr.View.With(dr.View.Messages[n:]))
}

func alike(x, y decant.Block) bool {
	return x.Ref == y.Ref && x.Kind == y.Kind && x.Changed == y.Changed
}

// Estimators keeps estimators by model, and the sizes of fixed parts, which are large and the same on
// every request.
type Estimators struct {
	mu     sync.Mutex
	models map[string]*token.Estimator
	fixeds map[fixedKey]int
}

type fixedKey struct {
	model   string
	version decant.Hash
}

// The bounds of what is kept: a client can name as many models as it likes, and by names as long as it likes.
const (
	mostFixed   = 4096 // fixed parts whose sizes are kept
	mostModels  = 256
	longestName = 256 // bytes of a model's id
)

// For returns the estimator of a model, the same one each time as long as there is room.
func (s *Estimators) For(m token.Model) *token.Estimator {
	if len(m.ID) > longestName {
		return token.For(m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		s.models = map[string]*token.Estimator{}
	}
	if e := s.models[m.ID]; e != nil {
		return e
	}
	if len(s.models) >= mostModels {
		clear(s.models)
	}
	e := token.For(m)
	s.models[m.ID] = e
	return e
}

// Fixed returns the tokens of a system prompt with its tools, as e estimates them; 0 for one without a version.
func (s *Estimators) Fixed(e *token.Estimator, f *decant.Fixed) int {
	if f.Version.IsZero() {
		return 0
	}
	if len(e.Model().ID) > longestName {
		return e.Fixed(f)
	}
	k := fixedKey{e.Model().ID, f.Version}
	s.mu.Lock()
	n, ok := s.fixeds[k]
	s.mu.Unlock()
	if ok {
		return n
	}
	n = e.Fixed(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fixeds == nil || len(s.fixeds) >= mostFixed {
		s.fixeds = map[fixedKey]int{}
	}
	s.fixeds[k] = n
	return n
}

// Uncached is the usage of a request with a prompt of n tokens of which nothing is read from the cache, and with as
// long an answer as it asks for. All of the prompt is written to the cache, if the request asks for that.
func Uncached(c *decant.Conversation, n int) decant.Usage {
	u := decant.Usage{CacheWrite: n, Output: c.MaxOutput}
	switch life := cost.LongestLife(c); {
	case life == 0:
		u.Input, u.CacheWrite = n, 0
	case life > 5*time.Minute:
		u.Write1h = n
	}
	return u
}
