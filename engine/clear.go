package engine

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// clears reports whether the provider can be asked to clear old results in this request.
func (p *pouring) clears() bool {
	return !p.dr.q.asks() && len(p.dr.suspended) == 0 && p.dr.q.editable()
}

// clearRoute is earlyRoute for bound thinking in an open round: the provider leaves out what is old.
func clearRoute(ctx context.Context, p *pouring, _ int) error {
	return p.clear(ctx, p.dr.q.preset.Thrift.Settled())
}

// clearDeepRoute is clearRoute for when the window demands a pour: first with as large a tail as other pours
// keep, then with less and less of what is old.
func clearDeepRoute(ctx context.Context, p *pouring, target int) error {
	was := *p.dr
	err := errPoor
	for _, rule := range p.clearRules(target) {
		*p.dr = was
		if err = p.clear(ctx, rule); err == nil && p.dr.q.est.Messages(p.dr.view.Messages) <= target {
			return nil
		}
	}
	return err
}

// clear adds the decisions of a clearing by a rule.
func (p *pouring) clear(ctx context.Context, rule preset.Thrift) error {
	t, set := p.thinning(), *p.dr.q.preset
	set.Thrift = rule
	t.Preset, t.Signed, t.Native = &set, true, true
	t.Pinned = policy.AllPins(p.dr.q.refs.Conv, p.dr.q.preset, t.Pinned)
	ds := policy.Clear(ctx, p.dr.view, t)
	if len(ds) == 0 {
		return errPoor
	}
	if err := p.dr.add(ds); err != nil {
		return err
	}
	if _, ok := p.dr.clearing(); !ok {
		return errNoRoute
	}
	return nil
}

// clearRules returns how much of what is old a necessary clearing keeps, most first.
func (p *pouring) clearRules(target int) []preset.Thrift {
	rule := p.dr.q.preset.Thrift.Settled()
	if !rule.On() {
		rule = preset.Thrift{}.Settled()
	}
	long, less, least := rule, rule, rule
	long.Keep = max(rule.Keep, p.tailRounds(target))
	less.Keep, less.Quote = 1, rule.Quote/2
	least.Keep, least.Quote, least.Names = 1, rule.Quote/10, rule.Names/4
	return []preset.Thrift{long, rule, less, least}
}

// tailRounds returns how many of the newest rounds fit the tail that a pour to a target keeps.
func (p *pouring) tailRounds(target int) (n int) {
	share := p.dr.q.preset.Keep.Share
	if share == 0 {
		share = 0.2
	}
	room := int(share * float64(target))
	rounds := decant.Rounds(p.dr.view.Messages)
	for n < len(rounds) {
		r := rounds[len(rounds)-1-n]
		if room -= p.dr.q.est.Messages(p.dr.view.Messages[r.Start:r.End]); room < 0 {
			break
		}
		n++
	}
	return n
}
