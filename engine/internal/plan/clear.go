package plan

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// clearRoute is earlyRoute for bound thinking in an open round: the provider leaves out what is old.
func clearRoute(ctx context.Context, p *Pour, _ int) error {
	return p.clear(ctx, p.Draft.Preset.EarlyPours.Settled())
}

// clearDeepRoute is clearRoute for when the window demands a pour: first with as large a tail as other pours
// keep, then with less and less of what is old.
func clearDeepRoute(ctx context.Context, p *Pour, target int) error {
	was := *p.Draft
	err := errPoor
	for _, rule := range clearRules(p.Draft, target) {
		*p.Draft = was
		if err = p.clear(ctx, rule); err == nil && p.Draft.Estimator.Messages(p.Draft.View.Messages) <= target {
			return nil
		}
	}
	return err
}

// clear adds the decisions of a clearing by a rule.
func (p *Pour) clear(ctx context.Context, rule preset.EarlyPours) error {
	in := p.Draft.Input
	t, set := p.thinning(), *p.Draft.Preset
	set.EarlyPours = rule
	t.Preset, t.Signed, t.Native = &set, true, true
	t.Pinned = policy.AllPins(in.Conv, p.Draft.Preset, t.Pinned)
	ds := policy.Clear(ctx, live(p.Draft.View), t)
	if len(ds) == 0 {
		return errPoor
	}
	if err := p.Draft.Add(ds); err != nil {
		return err
	}
	if _, ok := p.Draft.Clearing(); !ok {
		return errNoRoute
	}
	return nil
}

// clearRules returns how much of what is old a necessary clearing keeps, most first.
func clearRules(dr *Draft, target int) []preset.EarlyPours {
	rule := dr.Preset.EarlyPours.Settled()
	if !rule.On() {
		rule = preset.EarlyPours{}.Settled()
	}
	long, less, least := rule, rule, rule
	long.Keep = max(rule.Keep, tailRounds(dr, target))
	less.Keep, less.Quote = 1, rule.Quote/2
	least.Keep, least.Quote, least.Names = 1, rule.Quote/10, rule.Names/4
	return []preset.EarlyPours{long, rule, less, least}
}

// tailRounds returns how many of the newest rounds fit the tail that a pour to a target keeps.
func tailRounds(dr *Draft, target int) (n int) {
	share := dr.Preset.Keep.Share
	if share == 0 {
		share = 0.2
	}
	room := int(share * float64(target))
	rounds := decant.Rounds(dr.View.Messages)
	for n < len(rounds) {
		r := rounds[len(rounds)-1-n]
		if room -= dr.Estimator.Messages(dr.View.Messages[r.Start:r.End]); room < 0 {
			break
		}
		n++
	}
	return n
}
