package plan

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Schedule tells whether a draft is to be poured, how it may be, and how far. It answers what policy asks of any
// request.
type Schedule struct {
	Draft      *Draft
	Summarizer provider.Summarizer // writes the record, nil: it stays the extractive one

	money policy.Economy // as it was when it was asked last whether a pour is due
	quick bool           // there is no time for more than the last rung
}

var _ policy.Pourer = (*Schedule)(nil)

// Situation describes the request as it stands after first sight.
func (s *Schedule) Situation() policy.Situation {
	dr := s.Draft
	out := policy.Situation{Limits: dr.Limits, Tokens: dr.Outcome.Before, Bytes: dr.Bytes(), MaxBytes: dr.MaxBytes}
	if m := dr.Match; m.State != nil {
		out.Hold = m.OnHold(dr.InForce) || len(dr.Suspended) > 0 && dr.AsksForEditing() // it goes out whole for once
		out.Suppressed = m.State.Head.Suppressed >= 2 && !dr.ChangedSince()
	}
	out.Routine = s.hasRoutine()
	return out
}

// Due returns why a pour would be due were the conversation neither on hold nor poured in vain before.
func (s *Schedule) Due() policy.Reason { return policy.Ask(free{s}) }

// A free pour is one of a conversation that nothing holds.
type free struct{ *Schedule }

// Situation is that of the pour, without what holds it.
func (f free) Situation() policy.Situation {
	out := f.Schedule.Situation()
	out.Hold, out.Suppressed = false, false
	return out
}

// Economy returns what the schedule has to know of money. What the provider does not keep is paid in full
// each time, so removing something from it costs nothing.
func (s *Schedule) Economy() policy.Economy {
	dr := s.Draft
	early := dr.Preset.EarlyPours
	if dr.NoEarlyPours && !dr.Pressed || !early.On() || dr.Match.State == nil || dr.Match.Relation != match.Continues || s.early() == notEarly {
		return policy.Economy{}
	}
	belief := &dr.Meter.Belief
	e := policy.Economy{Early: true, Switched: dr.Switched() && belief.Moves() && !belief.Restless(), Idle: dr.Idle(), Least: s.least()}
	r := cost.ReachOf(live(dr.View), e.Idle, *belief)
	e.Lifetime = r.Life
	e.Write, e.Read = s.rates(r)
	e.Read = dr.Meter.Doubt.Read(e.Read, e.Write)
	e.Patience = early.Settled().Patience
	e.Excess = policy.MeasureExcess(live(dr.View), dr.Outcome.Before-dr.Fixed, s.earlyTarget())
	e.Rethink = s.rethinking()
	s.money = e
	t := s.thinning()
	if !e.Cold() {
		t.Beyond = r.Beyond
	}
	plain, _ := s.rates(cost.Reach{})
	free, _ := cost.FreeMarkers(dr.Conv)
	e = e.Weigh(policy.MeasureEarly(live(dr.View), t), dr.Fixed, plain, free > 0)
	return e
}

// rates returns the prices of writing and of reading what is within Reach, in dollars per million tokens.
// Without a cache both are the price of input; where prices are not known, the usual proportions count.
func (s *Schedule) rates(within cost.Reach) (write, read float64) {
	dr := s.Draft
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if price, _, ok := dr.Model.PriceAt(dr.Now()); ok {
		r = price.At(dr.Outcome.Before)
	}
	switch {
	case within.Life == 0:
		return r.Input.USD, r.Input.USD
	case within.Unasked:
		return r.Input.USD, r.CacheRead.USD
	case within.Hour:
		return r.Write1h.USD, r.CacheRead.USD
	}
	return max(r.Write5m.USD, r.Input.USD), r.CacheRead.USD // where writes have no price of their own they are billed as input
}

// rethinking returns what a change costs behind which the model forgets what it has thought: as much again as it has
// written since the last one. What is sealed is as long as what it holds, in the encoding that JSON needs.
func (s *Schedule) rethinking() float64 {
	const bytesPerToken = 16. / 3 // base64 of text with four bytes in a token
	dr := s.Draft
	if !dr.Model.Forgets {
		return 0
	}
	changed := 0
	for _, d := range dr.InForce {
		if d.Pour != "" {
			changed = max(changed, d.Target.Message)
		}
		if d.Checkpoint != nil {
			changed = max(changed, d.Checkpoint.To)
		}
	}
	n := 0
	for i := range dr.Prompt.Blocks {
		if b := &dr.Prompt.Blocks[i]; b.Kind == decant.KindThinking && dr.Conv.Messages[b.Message].Number > changed {
			n += len(b.Bytes)
		}
	}
	rate := 5. // times the price of input, where prices are not known
	if price, _, ok := dr.Model.PriceAt(dr.Now()); ok && price.At(dr.Outcome.Before).Output.Known {
		rate = price.At(dr.Outcome.Before).Output.USD
	}
	return float64(n) / bytesPerToken * rate
}

// thinning returns what an early pour works on.
func (s *Schedule) thinning() policy.EarlyPour {
	dr := s.Draft
	t := policy.EarlyPour{Preset: dr.Preset, Counter: dr.Estimator, Transcript: dr.Conv, Pinned: policy.PinsIn(dr.InForce), Cold: s.money.Cold()}
	t.Made = append(append(t.Made, dr.InForce...), dr.Made...)
	m := s.early()
	t.Signed, t.Native = m != byEditing || dr.KeepsThinking(), m == byClearing
	return t
}

// earlyTerms returns what the outcome of an early pour depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func (s *Schedule) earlyTerms() string {
	dr := s.Draft
	in := dr.Input
	text := fmt.Sprintf("%d %q %s %q %v", len(in.Match.State.Decisions), in.Conv.Model, in.Conv.Fixed.Version, dr.Preset.Name, dr.Preset.EarlyPours)
	return decant.HashBytes([]byte(text)).String()
}

// Waits reports whether an early pour has brought nothing to the conversation and nothing has changed
// since.
func (s *Schedule) Waits() bool {
	dr := s.Draft
	return dr.Meter.Futile.Waits(len(dr.Body), func() string { return s.earlyTerms() })
}

// SoonPays reports whether an early pour with a checkpoint will pay for the request behind an answered one: one more has
// carried then what such a pour frees.
func (s *Schedule) SoonPays() bool {
	dr := s.Draft
	e := dr.Economy
	if !e.Early || dr.Outcome.Poured() || dr.NoEarlyPours && !dr.Pressed || s.earlyTarget() == 0 || s.Waits() {
		return false
	}
	e.Idle, e.Switched = 0, false
	e.Excess.Freed = dr.Outcome.After - dr.Fixed - e.Excess.Left
	e.Excess.Carried += max(0, e.Excess.Freed+e.Excess.Freed/8) // the answer comes on top
	return e.Covers() && policy.Due(policy.Situation{
		Limits: dr.Limits, Tokens: dr.Outcome.After, Hold: dr.Match.OnHold(dr.InForce), Economy: e,
	}) == policy.Paid
}

// noteFutile remembers that an early pour brought nothing to the request.
func (s *Schedule) noteFutile() {
	dr := s.Draft
	const bytesPerToken = 4 // as policy.MeasureEarly has it
	dr.Meter.Futile = dr.Meter.Futile.Again(s.earlyTerms(), len(dr.Body), bytesPerToken*policy.MeasureEarly(live(dr.View), s.thinning()).Whole)
	if dr.Count {
		return
	}
	CachedOf(dr.Match.Stored).ChangeMeter(func(m *Meter) { m.Futile = dr.Meter.Futile })
}

// earlyTarget returns the tokens that the messages have after an early pour with a checkpoint, 0 where there is none:
// where a model writes the records, which nobody waits for in a pour for money, and where the route for bound thinking
// is another.
func (s *Schedule) earlyTarget() int {
	dr := s.Draft
	if s.early() != byEditing || writes(s.Summarizer) || dr.Preset.Native.Route == preset.RouteNative {
		return 0
	}
	target := policy.EarlyTarget(dr.Preset, dr.Limits, dr.Fixed, decant.CheckpointIn(dr.InForce))
	if target > 0 {
		target = max(target, min(s.least()-dr.Fixed, dr.Limits.Target))
	}
	return target
}

// leastRestless is the size, in tokens, below which no request is poured for money while changes come in series: there
// is no cache to save, and a larger request costs little more than what its agent would have to read again.
const leastRestless = 30_000

// least returns the tokens that a pour for money must leave.
func (s *Schedule) least() int {
	if s.Draft.Meter.Belief.Restless() {
		return leastRestless
	}
	return 0
}

// earlyRoom returns the tokens that the messages have after such a pour, as the planner counts them.
func (s *Schedule) earlyRoom() int { return s.room(s.Draft.Fixed + s.earlyTarget()) }

// writes reports whether a model writes the records of pours.
func writes(s provider.Summarizer) bool {
	_, same := s.(policy.Extractive)
	return s != nil && !same
}

// probes reports whether an early edit in front of bound thinking may be tried, to see whether the provider
// minds: nothing is known about the account yet, and the client has not asked for the binding. A probe that
// is refused costs the time of a refusal and nothing else: it is taken back, and the client's own bytes go
// out in the same exchange.
func (s *Schedule) probes() bool {
	dr := s.Draft
	return dr.Meter.Account != nil && dr.Unfit() == dialect.UnfitUnsaid && dr.Known.Says(TopicBinding, dr.Now()) == ""
}

// An earlyMode is how history may be poured for money.
type earlyMode uint8

const (
	notEarly   earlyMode = iota // there is no legal way
	byEditing                   // old results are edited, and old thinking goes
	byProbing                   // the same, but all thinking stays: whether that is legal is found out
	byClearing                  // the provider leaves old results out
	byDropping                  // old results are edited, and the provider drops thinking behind them
)

// early returns how the request may be poured for money.
func (s *Schedule) early() earlyMode {
	dr := s.Draft
	switch {
	case !dr.Bound() || !dr.Conv.OpenRound():
		return byEditing
	case dr.Switched(): // that breaks the binding by itself: an edit would be blamed, and the refusal teach nothing
		return notEarly
	case s.probes():
		return byProbing
	case s.clears():
		return byClearing
	case dr.DropBlock:
		return byDropping
	}
	return notEarly
}

// clears reports whether the provider can be asked to clear old results in this request.
func (s *Schedule) clears() bool {
	dr := s.Draft
	return !dr.AsksForEditing() && !dr.Slides() && len(dr.Suspended) == 0 && dr.Editable()
}

// PoursCold reports whether the request behind an answered one would be poured if it found nothing in the cache.
func (s *Schedule) PoursCold() bool {
	dr := s.Draft
	if dr.NoEarlyPours && !dr.Pressed || !dr.Preset.EarlyPours.On() || s.early() == notEarly {
		return false
	}
	s.money = policy.Economy{Early: true, Switched: true, Rethink: s.rethinking()}
	s.money.Excess = policy.MeasureExcess(live(dr.View), dr.Outcome.After-dr.Fixed, s.earlyTarget())
	e := s.money.Weigh(policy.MeasureEarly(live(dr.View), s.thinning()), dr.Fixed, 0, true)
	return policy.Due(policy.Situation{Limits: dr.Limits, Tokens: dr.Outcome.After, Hold: dr.Match.OnHold(dr.InForce), Economy: e}) != ""
}

// isOptional reports whether nobody has to wait for a pour: it is for money, or only observed.
func (s *Schedule) isOptional(why policy.Reason) bool {
	return why == policy.Free || why == policy.Paid || why == policy.Routine || s.Draft.Observed
}

// resumesCold reports whether a pour is of a request that finds nothing in the cache. The provider takes longer to
// write all of it again than any plan takes, and without the pour it would be dearer: so it is waited for as if it had
// to be.
func (s *Schedule) resumesCold(why policy.Reason) bool {
	return why == policy.Free && s.money.Cold() && !s.Draft.Observed
}

// hasRoutine reports whether something has become old that the preset clears by rule. A request that only repeats
// another goes out as that one did.
func (s *Schedule) hasRoutine() bool {
	dr := s.Draft
	if dr.Slides() || !policy.HasRoutine(s.routinePreset()) || dr.Match.Relation != match.Continues && dr.Match.Relation != match.Begins {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), dr.OptionalTimeout)
	defer cancel()
	return len(s.routine(ctx)) > 0
}

// routinePreset returns the preset by which something is cleared by rule: where only the provider shall do that, and
// can be asked to, its numbers hold as they do for Decant.
func (s *Schedule) routinePreset() *preset.Preset {
	set := s.Draft.Preset
	if set.Native.Route != preset.RouteNative || !s.clears() {
		return set
	}
	out := *set
	out.Native.Route = preset.RouteAuto
	return &out
}

// routine returns what the preset clears by rule.
func (s *Schedule) routine(ctx context.Context) []decant.Decision {
	dr := s.Draft
	t := s.thinning()
	t.Preset = s.routinePreset()
	return s.settle(policy.ClearRoutine(ctx, dr.View, t, dr.Outcome.Before))
}

func (s *Schedule) planOptions(target int) policy.PlanOptions {
	dr := s.Draft
	form := &dr.Preset.Summary
	o := policy.PlanOptions{
		Model: dr.Model, Estimator: dr.Estimator, Preset: dr.Preset, Target: target, Limit: s.room(dr.Limits.Must()), Trigger: s.room(dr.Limits.Trigger), KeepTurns: -1, Quick: s.quick,
		Pinned: policy.PinsIn(dr.InForce), Now: dr.Now(), Ahead: form.Ahead.Tokens(), Segments: s.segments(),
		Call: provider.SummaryInput{
			Conversation: conversationOf(dr.Input), Upstream: dr.Upstream, Instructions: form.Instructions, Focus: dr.Focus,
		},
	}
	if c := dr.cached(); c != nil {
		o.Spent = c.Wasted()
	}
	for _, ds := range [][]decant.Decision{dr.InForce, dr.Made} {
		for _, d := range ds {
			if d.Kind.Edits() {
				o.Made = append(o.Made, d)
			}
		}
	}
	return o
}

// conversationOf returns the conversation that a request goes on with; its id is empty where it begins one.
func conversationOf(in *Input) store.Key {
	if m := in.Match; m.Stored != nil && m.Branch == nil {
		return m.Stored.Key
	}
	return store.Key{Tenant: in.Start.Tenant}
}

// room returns the tokens that a size of the request leaves for the messages, as the planner counts them. It
// is 0, which holds the plan to its target, when the provider or the API's limit of bytes has asked for less.
func (s *Schedule) room(n int) int {
	dr := s.Draft
	n -= dr.Fixed
	if f := dr.Meter.Factor; f > 0 {
		n = int(float64(n) / f)
	}
	if dr.Demand.Reason == policy.Overflow || dr.Bytes() > dr.MaxBytes {
		return 0
	}
	return n
}

// settle makes a plan's decisions those of this conversation: numbers the checkpoint, and leaves out
// what an earlier checkpoint covers further.
func (s *Schedule) settle(ds []decant.Decision) []decant.Decision {
	dr := s.Draft
	was := decant.CheckpointIn(dr.InForce)
	to := 0
	if was != nil {
		to = was.To
	}
	turn := lastWords(dr.Conv)
	var out []decant.Decision
	for _, d := range ds {
		switch cp := d.Checkpoint; {
		case cp == nil && d.Target.Message <= to && d.Target.Message > 0:
			continue
		case d.Kind == decant.DropThinking && dr.Conv.Thinking.On() && d.Target.Message > turn:
			continue // only thinking of finished turns may go (docs/reference/anthropic.md, "Thinking")
		case cp == nil:
		case cp.To < to:
			continue
		default:
			c := *cp
			c.Number = dr.Checkpoints() + 1
			if was != nil {
				c.Folds = was.Number
			}
			d.Checkpoint, d.Handle = &c, decant.Handle(fmt.Sprintf("c:%d", c.Number))
		}
		out = append(out, d)
	}
	return out
}

// lastWords returns the number of the last message of the user that brings no results: the turn that
// is under way begins there.
func lastWords(c *decant.Conversation) int {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if m := &c.Messages[i]; m.Role == decant.RoleUser && !m.Has(decant.KindResult) {
			return m.Number
		}
	}
	return 0
}

// targets returns the tokens of messages to aim at, one after the other.
func (s *Schedule) targets(why policy.Reason) []int {
	dr := s.Draft
	t := dr.Limits.Target
	if f := dr.Meter.Factor; f > 0 { // the planner counts by the estimate alone
		t = int(float64(t) / f)
	}
	switch why {
	case policy.Refusal:
		return []int{dr.Estimator.Messages(dr.View.Messages)}
	case policy.Free, policy.Paid, policy.Routine:
		return []int{t}
	}
	if n := dr.Bytes(); n > dr.MaxBytes { // tokens are a poor measure of images
		share := float64(dr.MaxBytes) / float64(n) / 2
		t = min(t, int(share*float64(dr.Estimator.Messages(dr.View.Messages))))
	}
	return []int{t, t / 2, t / 4}
}
