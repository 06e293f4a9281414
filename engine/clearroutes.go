package engine

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// clears reports whether the provider can be asked to clear old results in this request.
func (a *attempt) clears() bool { return !a.asks() && len(a.suspended) == 0 && a.editable() }

// clearRoute is earlyRoute for bound thinking in an open round: the provider leaves out what is old.
func (a *attempt) clearRoute(ctx context.Context, _ int) error {
	return a.clear(ctx, a.preset.Thrift.Settled())
}

// clearDeepRoute is clearRoute for when the window demands a pour: first with as large a tail as other pours
// keep, then with less and less of what is old.
func (a *attempt) clearDeepRoute(ctx context.Context, target int) error {
	was := a.draft()
	err := errPoor
	for _, rule := range a.clearRules(target) {
		a.restore(was)
		if err = a.clear(ctx, rule); err == nil && a.est.Messages(a.view.Messages) <= target {
			return nil
		}
	}
	return err
}

// clear adds the decisions of a clearing by a rule.
func (a *attempt) clear(ctx context.Context, rule preset.Thrift) error {
	t, set := a.thinning(), *a.preset
	set.Thrift = rule
	t.Preset, t.Signed, t.Native = &set, true, true
	t.Pinned = policy.AllPins(a.Conv, a.preset, t.Pinned)
	ds := policy.Clear(ctx, a.view, t)
	if len(ds) == 0 {
		return errPoor
	}
	if err := a.add(ds); err != nil {
		return err
	}
	if _, ok := a.clearing(); !ok {
		return errNoRoute
	}
	return nil
}

// clearRules returns how much of what is old a necessary clearing keeps, most first.
func (a *attempt) clearRules(target int) []preset.Thrift {
	rule := a.preset.Thrift.Settled()
	if !rule.On() {
		rule = preset.Thrift{}.Settled()
	}
	long, less, least := rule, rule, rule
	long.Keep = max(rule.Keep, a.tailRounds(target))
	less.Keep, less.Quote = 1, rule.Quote/2
	least.Keep, least.Quote, least.Names = 1, rule.Quote/10, rule.Names/4
	return []preset.Thrift{long, rule, less, least}
}

// tailRounds returns how many of the newest rounds fit the tail that a pour to a target keeps.
func (a *attempt) tailRounds(target int) (n int) {
	share := a.preset.Keep.Share
	if share == 0 {
		share = 0.2
	}
	room := int(share * float64(target))
	rounds := decant.Rounds(a.view.Messages)
	for n < len(rounds) {
		r := rounds[len(rounds)-1-n]
		if room -= a.est.Messages(a.view.Messages[r.Start:r.End]); room < 0 {
			break
		}
		n++
	}
	return n
}

// repeatPins repeats what was pinned after it had been cleared, in requests that bring something new.
func (a *attempt) repeatPins() error {
	if a.Repeats() {
		return nil
	}
	return a.add(policy.RepeatPins(a.view, policy.Thinning{Counter: a.est, Transcript: a.Conv, Made: slices.Concat(a.inForce, a.made)}))
}
