package plan

import (
	"context"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/go-json-experiment/json"
)

// A Cached is what is kept in memory of a conversation beside what is stored: what is known of its size and of its
// provider's cache, what was planned for requests that were only observed, and what was prepared for its next pour. It
// is safe for concurrent use.
type Cached struct {
	mu      sync.Mutex
	meter   Meter
	planned bool // plan was read
	plan    []decant.Decision

	*prepared
}

// prepared is what waits for the next pour of a conversation. It says itself what it was made for, so it outlives the
// rest when the conversation is read again.
type prepared struct {
	written   slot[written]
	candidate slot[*Candidate]
}

// NewCached returns what is kept of a conversation with a meter.
func NewCached(m Meter) *Cached { return &Cached{meter: m, prepared: new(prepared)} }

// Again returns what is kept of a conversation that was read again. What was prepared, or is under way, stays.
func (c *Cached) Again(m Meter) *Cached { return &Cached{meter: m, prepared: c.prepared} }

// CachedOf returns what is kept of a conversation in memory.
func CachedOf(l *match.Stored) *Cached { return l.Notes.(*Cached) }

// cached returns what is kept of the conversation that the request belongs to, nil when it is not stored yet.
func (in *Input) cached() *Cached {
	if in.Match == nil || in.Match.Stored == nil {
		return nil
	}
	return CachedOf(in.Match.Stored)
}

// Meter returns the meter.
func (c *Cached) Meter() Meter {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.meter
}

// ChangeMeter changes the meter, so that requests know it that come before this one is archived.
func (c *Cached) ChangeMeter(change func(*Meter)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.meter)
}

// Planned returns the decisions that were planned for the observed requests of the conversation, and false when they
// were not read yet.
func (c *Cached) Planned() ([]decant.Decision, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan, c.planned
}

// SetPlanned sets what was planned, if it was not read before, and returns what it is.
func (c *Cached) SetPlanned(ds []decant.Decision) []decant.Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.planned {
		c.plan, c.planned = ds, true
	}
	return c.plan
}

// ExtendPlanned adds decisions to what was planned, if that is still as long as it was, and reports whether it did.
func (c *Cached) ExtendPlanned(was int, ds []decant.Decision) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plan) != was {
		return false
	}
	c.plan = append(c.plan[:len(c.plan):len(c.plan)], ds...)
	return true
}

// A Meter is what is known about the size of a conversation: the provider's newest report, what it
// was about, and what was learned from earlier ones.
type Meter struct {
	Usage     decant.Usage // of the newest request that was answered
	Length    int          // entries of the chain that it held
	Chain     decant.Hash  // of the last of them
	Decisions int          // that were in force, counted in the order of the state
	Fixed     int          // tokens of its fixed part, as estimated
	Learned
}

// Learned is what a meter keeps over restarts.
type Learned struct {
	token.Calibration
	Window  int            `json:"window,omitzero"` // that the provider named in a refusal
	Newest  Newest         `json:",inline"`
	Belief  cost.Belief    `json:"belief,omitzero"`
	Doubt   cost.Doubt     `json:"doubt,omitzero"`
	Futile  policy.Backoff `json:"futile,omitzero"`
	Poor    int            `json:"poor,omitzero"`    // tokens of the request at the last pour that was not worth it
	Account *Account       `json:"account,omitzero"` // that answered last
	Missed  int            `json:"missed,omitzero"`  // answers in a row that did not find an edited prompt in the cache
	Drops   bool           `json:"drops,omitzero"`   // the provider has been asked to drop thinking that does not fit, and has answered
}

// Newest is what the newest request was, as the client sent it and as it was sent.
type Newest struct {
	Million  bool          `json:"million,omitzero"`  // it asked for a window of a million tokens by a beta
	Client   cost.Shadow   `json:"client,omitzero"`   // as the client sent it
	Estimate int           `json:"estimate,omitzero"` // tokens of that, without calibration
	Sent     *cause.Prompt `json:"sent,omitzero"`     // as it was sent; nil: there was none

	// By how many tokens requests have grown, as far as the provider's reports say: by these, and by the estimate.
	Reported  int `json:"reported,omitzero"`
	Estimated int `json:"estimated,omitzero"`
}

// leastGrowth is how many estimated tokens requests must have grown by to say how the provider counts.
const leastGrowth = 100

// Share returns how many tokens the provider counts for an estimated one of what requests grow by, 0 where that is not
// known.
func (n *Newest) Share() float64 {
	if n.Estimated < leastGrowth {
		return 0
	}
	return min(max(float64(n.Reported)/float64(n.Estimated), 1./mostOff), mostOff)
}

// Encode returns what was learned as the store keeps it, nil when nothing was.
func (l Learned) Encode() []byte {
	out, err := json.Marshal(l)
	if err != nil || string(out) == "{}" {
		return nil // a struct of numbers; without it the next report teaches again
	}
	return out
}

// LoadMeter restores the meter of a conversation that was read from the store.
func LoadMeter(ctx context.Context, from store.Loader, s *store.State) Meter {
	var m Meter
	if len(s.Anchor.Calibration) > 0 && json.Unmarshal(s.Anchor.Calibration, &m.Learned) != nil {
		m.Learned = Learned{}
	}
	a := &s.Anchor
	if a.Length == 0 {
		return m
	}
	then := s
	if a.Version != s.Version {
		var err error
		if then, err = from.Load(ctx, s.Key, a.Version); err != nil {
			return m // without an anchor everything is estimated
		}
	}
	if a.Length <= len(then.Chain) {
		m.Usage, m.Length, m.Chain = a.Usage, a.Length, then.Chain[a.Length-1].Chain
		m.Decisions = len(then.Decisions)
	}
	return m
}

// Scale applies what was learned about the conversation to an estimate.
func (m *Meter) Scale(n int) int {
	if f := m.Factor; f > 0 {
		return int(float64(n) * f)
	}
	return n
}
