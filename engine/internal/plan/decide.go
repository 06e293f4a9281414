package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A Decider makes the decisions of requests, by what a store and other requests have come to.
type Decider struct {
	Store     Reader
	Cache     *match.Cache
	Wait      func(context.Context, match.Start) bool // for archives of a conversation that are under way; reports whether there were any
	Deadlines *Deadlines
	Purse     *purse.Purse
}

// A Reader is what it takes of a store to decide.
type Reader interface {
	store.Matcher
	store.Loader
	store.Log
}

// Decide makes the decisions of a draft: first what its request brings for the first time, then, if it is due, the
// pour. It reports whether the conversation must be looked at anew first. The error says what was due and could not be
// done; the view stays legal.
func (d *Decider) Decide(ctx context.Context, dr *Draft) (behind bool, fault error) {
	return (&attempt{d, dr}).decide(ctx)
}

// An attempt is the decisions of one draft in the making.
type attempt struct {
	by *Decider
	dr *Draft
}

func (a *attempt) decide(ctx context.Context) (behind bool, fault error) {
	dr := a.dr
	if err := a.arrive(ctx); err != nil {
		return false, err
	}
	dr.Outcome.Before = dr.Size(dr.View)
	dr.Outcome.After = dr.Outcome.Before
	l, err := a.limitsBy(dr.Preset)
	dr.Limits = l.Answered(dr.Preset, answersIn(dr.View), dr.Fixed, dr.Outcome.Before-dr.Fixed)
	if err != nil {
		return false, err
	}
	a.tighten(ctx)
	if dr.Demand.Reason == "" && dr.MayPass(dr.Limits.Trigger) && a.awaited(ctx) { // what the provider has reported since
		return true, nil
	}
	if done, err := a.yield(ctx); done || err != nil {
		return false, err
	}
	p := NewPour(dr, dr.Summarizer)
	reason := dr.Demand.Reason
	if reason == "" && (!dr.Match.Repeats() || dr.Demand.Unedit) {
		reason = policy.Ask(p)
		dr.Economy = p.money
	}
	switch {
	case reason == "":
		return false, nil
	case dr.Demand.Reason == "" && a.overtook(ctx):
		return true, nil
	}
	if err := p.Make(ctx, reason); err != nil {
		return false, err
	}
	return false, recaller{a}.again(ctx, dr.Limits.Trigger-dr.Outcome.After)
}

// answersIn returns how many answers of the model a view has.
func answersIn(view *decant.Conversation) (n int) {
	for i := range view.Messages {
		if view.Messages[i].Role == decant.RoleAssistant {
			n++
		}
	}
	return n
}

// arrive makes the decisions that do not depend on the size of the request.
func (a *attempt) arrive(ctx context.Context) error {
	if err := a.inherit(ctx); err != nil {
		return err
	}
	if err := a.giveUpEditing(ctx); err != nil {
		return err
	}
	if err := a.firstSight(ctx); err != nil {
		return fmt.Errorf("first sight: %w", err)
	}
	if err := a.recall(ctx); err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	if err := a.repeatPins(); err != nil {
		return fmt.Errorf("repeat pins: %w", err)
	}
	return nil
}

// awaited waits for archives of the conversation that are under way, and reports whether there were any.
func (a *attempt) awaited(ctx context.Context) bool {
	ctx, cancel := a.by.Deadlines.ForStore(ctx)
	defer cancel()
	return a.by.Wait(ctx, a.dr.Start)
}

// overtook waits for archives of the conversation that are under way, and reports whether there were
// any, or one has ended since the conversation was looked at. A pour must know all of it, and that this
// request is not the same again.
func (a *attempt) overtook(ctx context.Context) bool {
	dr := a.dr
	in, m := dr.Input, dr.Match
	if a.awaited(ctx) {
		return true
	}
	ctx, cancel := a.by.Deadlines.Optional(ctx)
	defer cancel()
	l := match.Best(a.by.Cache.From(in.Start), in.Prompt)
	switch {
	case m.Stored == nil:
		return l != nil
	case l != nil && l.SharedWhole(in.Prompt) > m.Known():
		return true
	case m.Relation == match.Forks: // wherever its parent has gone since
		return false
	case m.Stored.State() != cmp.Or(m.Actual, m.State):
		return true
	}
	v, err := a.by.Store.Version(ctx, m.Stored.Key) // its archive may have known the conversation by another reading
	return err == nil && v != m.State.Version
}

// firstSight shrinks results that arrive for the first time: those after the last message of the
// assistant, which nothing was written on top of. What was seen before stays as it was, and so does what there
// is no time for.
func (a *attempt) firstSight(ctx context.Context) error {
	dr := a.dr
	ctx, cancel := context.WithTimeout(ctx, dr.OptionalTimeout)
	defer cancel()
	last := len(dr.View.Messages) - 1
	for last >= 0 && dr.View.Messages[last].Role != decant.RoleAssistant {
		last--
	}
	if last < 0 || last == len(dr.View.Messages)-1 {
		return nil
	}
	var ds []decant.Decision
	isNew := a.news()
	for _, d := range policy.FirstSight(ctx, dr.View.With(dr.View.Messages[last:]), dr.Preset, dr.Estimator) {
		if isNew(d.Target.Ref) {
			ds = append(ds, d)
		}
	}
	return dr.Add(ds)
}

// news returns what reports whether the block with a reference is not in the store yet.
func (a *attempt) news() func(decant.Ref) bool {
	dr := a.dr
	in, m := dr.Input, dr.Match
	if m.Stored == nil {
		return func(decant.Ref) bool { return true }
	}
	fresh := map[decant.Ref]bool{}
	for i := len(m.Entries) - 1; i >= 0 && m.Entries[i] < 0; i-- {
		fresh[in.RefOf(i)] = true
	}
	return func(ref decant.Ref) bool { return fresh[ref] }
}

// repeatPins repeats what was pinned after it had been cleared, in requests that bring something new.
func (a *attempt) repeatPins() error {
	dr := a.dr
	if dr.Match.Repeats() {
		return nil
	}
	return dr.Add(policy.RepeatPins(dr.View, policy.EarlyPour{Counter: dr.Estimator, Transcript: dr.Conv, Made: slices.Concat(dr.InForce, dr.Made)}))
}

// tighten makes pours come earlier and go deeper when a budget would nearly be spent with the request, unless the
// fixed part leaves no room for that.
func (a *attempt) tighten(ctx context.Context) {
	dr := a.dr
	if len(dr.Budgets) == 0 {
		return
	}
	id := ""
	if stored := dr.Match.Stored; stored != nil {
		id = stored.Key.ID
	}
	if !a.by.Purse.Tight(ctx, dr.Reservation(id)) {
		return
	}
	p := eager(dr.Preset, dr.Model.Window)
	if l, err := a.limitsBy(p); err == nil {
		dr.Preset, dr.Limits, dr.Pressed = p, l, true
	}
}

// limitsBy returns the limits of the request by a preset. The second stage of one that leaves it to the provider counts
// where the provider can be asked.
func (a *attempt) limitsBy(set *preset.Preset) (policy.Limits, error) {
	dr := a.dr
	if n := set.Native; n.Route == preset.RouteNative && n.Compaction.Tokens > 0 && (dr.asksSummary() || dr.Pauses()) {
		staged := *set
		staged.Native.Route = preset.RouteAuto
		set = &staged
	}
	return policy.LimitsFor(dr.Model, set, dr.Fixed, dr.Conv.MaxOutput)
}

// pressing returns the early pours with which a budget that is nearly spent is stretched.
func pressing() preset.EarlyPours { return preset.EarlyPours{Level: "high", Patience: 0.5, Keep: 1} }

// eager returns the preset that is used when a budget is nearly spent: it pours at half the size,
// and for money as early as any level does, whether or not that is permitted otherwise.
func eager(p *preset.Preset, window int) *preset.Preset {
	out := *p
	out.EarlyPours = pressing()
	if half := window / 2; out.Trigger.Tokens == 0 || out.Trigger.Tokens > half {
		out.Trigger.Tokens = half
	}
	return &out
}

// Revocations returns the decisions that take back the newest pour among ds, none when there is no
// pour in force.
func Revocations(ds []decant.Decision) []decant.Decision {
	ds = decant.InForce(ds)
	pour := ""
	var out []decant.Decision
	for _, d := range slices.Backward(ds) {
		if d.Pour == "" || pour != "" && d.Pour != pour {
			continue
		}
		pour = d.Pour
		out = append(out, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "undo of " + string(d.Kind)})
	}
	slices.Reverse(out)
	return out
}

// EntriesAt returns how many entries the conversation had when a decision was made.
func EntriesAt(ctx context.Context, from store.Loader, s *store.State, id string) (int, error) {
	lo, hi := int64(1), s.Version
	length := len(s.Chain)
	for lo < hi {
		mid := (lo + hi) / 2
		then, err := from.Load(ctx, s.Key, mid)
		if err != nil {
			return 0, fmt.Errorf("load version %d: %w", mid, err)
		}
		if slices.ContainsFunc(then.Decisions, func(d decant.Decision) bool { return d.ID == id }) {
			hi, length = mid, len(then.Chain)
		} else {
			lo = mid + 1
		}
	}
	return length, nil
}
