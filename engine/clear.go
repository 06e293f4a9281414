package engine

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// clears reports whether the provider can be asked to clear old results in this request.
func (dr *draft) clears() bool { return !dr.q.asks() && len(dr.suspended) == 0 && dr.q.editable() }

// clearRoute is earlyRoute for bound thinking in an open round: the provider leaves out what is old.
func clearRoute(ctx context.Context, dr *draft, _ int) error {
	return dr.clear(ctx, dr.q.preset.Thrift.Settled())
}

// clearDeepRoute is clearRoute for when the window demands a pour: first with as large a tail as other pours
// keep, then with less and less of what is old.
func clearDeepRoute(ctx context.Context, dr *draft, target int) error {
	was := *dr
	err := errPoor
	for _, rule := range dr.clearRules(target) {
		*dr = was
		if err = dr.clear(ctx, rule); err == nil && dr.q.est.Messages(dr.view.Messages) <= target {
			return nil
		}
	}
	return err
}

// clear adds the decisions of a clearing by a rule.
func (dr *draft) clear(ctx context.Context, rule preset.Thrift) error {
	t, set := dr.thinning(), *dr.q.preset
	set.Thrift = rule
	t.Preset, t.Signed, t.Native = &set, true, true
	t.Pinned = policy.AllPins(dr.q.refs.Conv, dr.q.preset, t.Pinned)
	ds := policy.Clear(ctx, dr.view, t)
	if len(ds) == 0 {
		return errPoor
	}
	if err := dr.add(ds); err != nil {
		return err
	}
	if _, ok := dr.clearing(); !ok {
		return errNoRoute
	}
	return nil
}

// clearRules returns how much of what is old a necessary clearing keeps, most first.
func (dr *draft) clearRules(target int) []preset.Thrift {
	rule := dr.q.preset.Thrift.Settled()
	if !rule.On() {
		rule = preset.Thrift{}.Settled()
	}
	long, less, least := rule, rule, rule
	long.Keep = max(rule.Keep, dr.tailRounds(target))
	less.Keep, less.Quote = 1, rule.Quote/2
	least.Keep, least.Quote, least.Names = 1, rule.Quote/10, rule.Names/4
	return []preset.Thrift{long, rule, less, least}
}

// tailRounds returns how many of the newest rounds fit the tail that a pour to a target keeps.
func (dr *draft) tailRounds(target int) (n int) {
	share := dr.q.preset.Keep.Share
	if share == 0 {
		share = 0.2
	}
	room := int(share * float64(target))
	rounds := decant.Rounds(dr.view.Messages)
	for n < len(rounds) {
		r := rounds[len(rounds)-1-n]
		if room -= dr.q.est.Messages(dr.view.Messages[r.Start:r.End]); room < 0 {
			break
		}
		n++
	}
	return n
}

// repeatPins repeats what was pinned after it had been cleared, in requests that bring something new.
func (dr *draft) repeatPins() error {
	if dr.q.match.Repeats() {
		return nil
	}
	return dr.add(policy.RepeatPins(dr.view, policy.EarlyPour{Counter: dr.q.est, Transcript: dr.q.refs.Conv, Made: slices.Concat(dr.inForce, dr.made)}))
}
