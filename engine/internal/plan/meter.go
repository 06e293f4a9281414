package plan

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

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
	Million bool          `json:"million,omitzero"` // it asked for a window of a million tokens by a beta
	Client  cost.Shadow   `json:"client,omitzero"`  // as the client sent it
	Sent    *cause.Prompt `json:"sent,omitzero"`    // as it was sent; nil: there was none
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
