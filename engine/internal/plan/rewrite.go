package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
)

// A rewrite is a pour by one route, on a copy of the draft: one that is refused leaves nothing behind.
type rewrite struct {
	Schedule
	target   int              // tokens of the messages to aim at
	proposal *policy.Proposal // that the draft carries out, nil: there is none
	prepared *decant.Plan     // that was made beside the conversation, nil: the route makes its own
}

// rewrite returns a rewrite of a copy of the draft.
func (p *Pour) rewrite(target int) *rewrite {
	r := &rewrite{p.Schedule, target, p.proposal, p.prepared}
	r.Draft = p.Draft.Copy()
	return r
}

// keep makes what a rewrite has come to the draft of the pour.
func (p *Pour) keep(r *rewrite) { *p.Draft, p.proposal = *r.Draft, r.proposal }

// take puts the record of the proposal into the draft.
func (r *rewrite) take() error {
	dr := r.Draft
	dr.Outcome.Plan = r.proposal.Plan
	return dr.Record(decant.CheckpointIn(r.proposal.Plan.Decisions))
}

// editRoute changes old blocks and covers old messages; thinking that stays is not bound.
func (r *rewrite) editRoute(ctx context.Context) error {
	dr := r.Draft
	if r.prepared != nil {
		r.proposal, dr.Outcome.Plan = nil, r.prepared
		return dr.Add(r.settle(r.prepared.Decisions))
	}
	proposal, ds, err := r.plan(ctx, r.target)
	if err != nil {
		return err
	}
	r.proposal, dr.Outcome.Plan = proposal, proposal.Plan
	if len(ds) == 0 {
		return errPoor
	}
	return dr.Add(ds)
}

// dropRoute is editRoute for bound thinking at a turn boundary: all of it goes.
func (r *rewrite) dropRoute(ctx context.Context) error {
	dr := r.Draft
	if err := r.editRoute(ctx); err != nil {
		return err
	}
	return dr.Add(dr.AllThinking())
}

// thoughtsRoute drops all thinking and changes nothing else.
func (r *rewrite) thoughtsRoute(ctx context.Context) error {
	dr := r.Draft
	ds := dr.AllThinking()
	if len(ds) == 0 {
		return errNoRoute
	}
	return dr.Add(ds)
}

// unfittingRoute changes nothing; the provider drops the thinking that does not fit, in this request and in all that
// follow.
func (r *rewrite) unfittingRoute(context.Context) error {
	dr := r.Draft
	if !dr.LetDrop() {
		return errNoRoute
	}
	dr.Meter.Drops = true
	return nil
}

// dropBlockRoute is editRoute for bound thinking in an open round: the provider drops it.
func (r *rewrite) dropBlockRoute(ctx context.Context) error {
	if !r.Draft.LetDrop() {
		return errNoRoute
	}
	if err := r.editRoute(ctx); err != nil {
		return fmt.Errorf("with drop_block: %w", err)
	}
	return nil
}

// coverRoute makes a checkpoint for money. At a cold moment it must cost less for each fact than the cheap reductions,
// which come next.
func (r *rewrite) coverRoute(ctx context.Context) error {
	dr := r.Draft
	if r.prepared != nil {
		r.proposal, dr.Outcome.Plan = nil, r.prepared
		return r.forgetting(r.settle(r.prepared.Decisions))
	}
	proposal, ds, err := r.plan(ctx, r.earlyRoom())
	if err != nil {
		return err
	}
	if r.money.Cold() {
		cheap := dr.Copy()
		if err := cheap.Add(policy.PlanEarly(ctx, live(dr.View), r.thinning())); err != nil {
			return err
		}
		if !proposal.Beats(ctx, cheap.View, dr.Fixed) {
			return errPoor
		}
		ds = r.settle(proposal.Plan.Decisions)
	}
	if len(ds) == 0 {
		return errPoor
	}
	r.proposal, dr.Outcome.Plan = proposal, proposal.Plan
	return r.forgetting(ds)
}

// forgetting adds decisions, and where thinking is bound to what they change, those that drop it.
func (r *rewrite) forgetting(ds []decant.Decision) error {
	dr := r.Draft
	bound := dr.Bound()
	if err := dr.Add(ds); err != nil || !bound {
		return err
	}
	return dr.Add(dr.AllThinking())
}

// probeRoute makes the cheap reductions and keeps all thinking.
func (r *rewrite) probeRoute(ctx context.Context) error {
	dr := r.Draft
	t := r.thinning()
	t.Signed = true
	ds := policy.PlanEarly(ctx, live(dr.View), t)
	if len(ds) == 0 {
		return errPoor
	}
	return dr.Add(ds)
}

// earlyDropRoute is earlyRoute for bound thinking in an open round: the provider drops it.
func (r *rewrite) earlyDropRoute(ctx context.Context) error {
	if !r.Draft.LetDrop() {
		return errNoRoute
	}
	return r.probeRoute(ctx)
}

// earlyRoute makes the cheap reductions and no checkpoint.
func (r *rewrite) earlyRoute(ctx context.Context) error {
	ds := policy.PlanEarly(ctx, live(r.Draft.View), r.thinning())
	if len(ds) == 0 {
		return errPoor
	}
	return r.forgetting(ds)
}

// routineRoute clears what the preset clears by rule.
func (r *rewrite) routineRoute(ctx context.Context) error {
	ds := r.routine(ctx)
	if len(ds) == 0 {
		return errPoor
	}
	return r.forgetting(ds)
}

// routineDropRoute is routineRoute for bound thinking in an open round: the provider drops it.
func (r *rewrite) routineDropRoute(ctx context.Context) error {
	dr := r.Draft
	if !dr.LetDrop() {
		return errNoRoute
	}
	return dr.Add(r.routine(ctx))
}

// routineClearRoute is routineRoute for bound thinking in an open round: the provider leaves out what is old, and goes
// on doing so by the same rule until the next pour.
func (r *rewrite) routineClearRoute(ctx context.Context) error {
	dr := r.Draft
	e := dr.Preset.Native.Editing
	if e.Tokens <= 0 {
		return errNoRoute
	}
	rule := dr.Preset.EarlyPours.Settled()
	rule.Keep = max(1, e.KeepCalls)
	return r.clear(ctx, rule)
}

// clearRoute is earlyRoute for bound thinking in an open round: the provider leaves out what is old.
func (r *rewrite) clearRoute(ctx context.Context) error {
	return r.clear(ctx, r.Draft.Preset.EarlyPours.Settled())
}

// clearDeepRoute is clearRoute for when the window demands a pour: first with as large a tail as other pours
// keep, then with less and less of what is old.
func (r *rewrite) clearDeepRoute(ctx context.Context) error {
	dr := r.Draft
	was := *dr
	err := errPoor
	for _, rule := range r.clearRules() {
		*dr = was
		if err = r.clear(ctx, rule); err == nil && dr.Estimator.Messages(dr.View.Messages) <= r.target {
			return nil
		}
	}
	return err
}

// clear adds the decisions of a clearing by a rule.
func (r *rewrite) clear(ctx context.Context, rule preset.EarlyPours) error {
	dr := r.Draft
	t, set := r.thinning(), *dr.Preset
	set.EarlyPours = rule
	t.Preset, t.Signed, t.Native = &set, true, true
	t.Pinned = policy.AllPins(dr.Conv, dr.Preset, t.Pinned)
	ds := policy.Clear(ctx, live(dr.View), t)
	if len(ds) == 0 {
		return errPoor
	}
	if err := dr.Add(ds); err != nil {
		return err
	}
	if _, ok := dr.Clearing(); !ok {
		return errNoRoute
	}
	return nil
}

// clearRules returns how much of what is old a necessary clearing keeps, most first.
func (r *rewrite) clearRules() []preset.EarlyPours {
	dr := r.Draft
	rule := dr.Preset.EarlyPours.Settled()
	if !rule.On() {
		rule = preset.EarlyPours{}.Settled()
	}
	long, less, least := rule, rule, rule
	long.Keep = max(rule.Keep, r.tailRounds())
	less.Keep, less.Quote = 1, rule.Quote/2
	least.Keep, least.Quote, least.Names = 1, rule.Quote/10, rule.Names/4
	return []preset.EarlyPours{long, rule, less, least}
}

// tailRounds returns how many of the newest rounds fit the tail that a pour to a target keeps.
func (r *rewrite) tailRounds() (n int) {
	dr := r.Draft
	share := dr.Preset.Keep.Share
	if share == 0 {
		share = 0.2
	}
	room := int(share * float64(r.target))
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

// turnFoldRoute makes the turn under way one message of the user and drops all other thinking: what was said before
// stays as it is. In a turn under way no thinking may be missing, so that one goes as a whole.
func (r *rewrite) turnFoldRoute(ctx context.Context) error {
	dr := r.Draft
	if err := r.fold(ctx, policy.Turn); err != nil {
		return err
	}
	return dr.Add(dr.AllThinking())
}

// foldRoute makes the whole conversation one message of the user: pins, checkpoint and the recent
// rounds, the open one included, as text, so that no message of the assistant remains. That is legal
// in every state. What the user said last and nobody has answered stays a message of its own.
func (r *rewrite) foldRoute(ctx context.Context) error {
	if r.Draft.Demand.Reason == policy.Refusal {
		return r.fold(ctx, policy.EveryAnswer)
	}
	return r.fold(ctx, policy.Everything)
}

// fold makes a fold of so much of the conversation.
func (r *rewrite) fold(ctx context.Context, scope policy.Scope) error {
	dr := r.Draft
	made, view := dr.Made, dr.View
	if scope == policy.Everything {
		if _, ds, err := r.plan(ctx, r.target); err == nil { // what the fold is made of; it covers all of it
			if err := dr.Add(ds); err != nil {
				return err
			}
		}
	}
	d, ok := policy.Fold(policy.Folding{
		Transcript: dr.Conv, View: dr.View, Made: slices.Concat(dr.InForce, dr.Made), Proved: decant.CheckpointIn(dr.Made),
		Estimator: dr.Estimator, Preset: dr.Preset, Pinned: policy.PinsIn(dr.InForce), Target: r.target, Why: r.whyFold(), Refused: scope,
	})
	dr.Made, dr.View = made, view
	if !ok {
		return errNoRoute
	}
	if err := dr.Add(r.settle([]decant.Decision{d})); err != nil || len(d.Checkpoint.Kept) == 0 || !dr.Model.Binds {
		return err
	}
	return dr.Add(dr.AllThinking()) // of the rounds that stay: what stood before it is gone
}

// whyFold says for people why nothing else than a fold would do.
func (r *rewrite) whyFold() string {
	dr := r.Draft
	in := dr.Input
	size := fmt.Sprintf("%d tokens do not fit a window of %d with room for an answer", dr.Outcome.Before, dr.Limits.Window)
	switch open := in.Conv.OpenRound(); {
	case in.Demand.Reason == policy.Refusal && open:
		return "the provider refused the thinking, and a round is open"
	case in.Demand.Reason == policy.Refusal:
		return "the provider refused the thinking"
	case in.Demand.Reason == policy.Overflow:
		return "the provider refused the request for its size, and no other form was small enough"
	case dr.Bytes() > in.MaxBytes:
		return fmt.Sprintf("%d bytes are more than the API takes", dr.Bytes())
	case open && dr.Bound():
		return size + "; a round is open, and its thinking is bound to what stands before it"
	}
	return size + ", and no other form was small enough"
}

// plan asks the planner for a pour to a target: from the transcript, on top of those decisions on
// single blocks that are in force. A new checkpoint covers all that an earlier one did.
func (r *rewrite) plan(ctx context.Context, target int) (*policy.Proposal, []decant.Decision, error) {
	dr := r.Draft
	proposal, err := propose(ctx, forgone(dr.Conv, dr.InForce), r.planOptions(target))
	if err != nil {
		return nil, nil, err
	}
	return proposal, r.settle(proposal.Plan.Decisions), nil
}

// forgone returns a conversation in which no call of the server waits that the checkpoint in force covers. A fold may
// have covered one; the provider has not been sent it since, so no result comes, and the round that it is in would
// never end.
func forgone(c *decant.Conversation, ds []decant.Decision) *decant.Conversation {
	cp := decant.CheckpointIn(ds)
	if cp == nil || !decant.AwaitsServer(c.Messages) {
		return c
	}
	ms := slices.Clone(c.Messages)
	for i := range ms {
		if !cp.Covers(ms[i].Number) || ms[i].Role != decant.RoleAssistant {
			continue
		}
		ms[i].Blocks = slices.Clone(ms[i].Blocks)
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Kind == decant.KindOpaque {
				b.CallID = ""
			}
		}
	}
	return c.With(ms)
}

// propose returns the planner's proposal. Where the provider ignores the oldest messages because of a summary that it
// has put behind them, only the others are planned for. But if a checkpoint is needed, which takes the summary away, it
// covers all of them: otherwise they would come back. So its record is made of the originals.
func propose(ctx context.Context, c *decant.Conversation, o policy.PlanOptions) (*policy.Proposal, error) {
	if now := live(c); now != c {
		proposal, err := policy.Propose(ctx, now, o)
		if err != nil || decant.CheckpointIn(proposal.Plan.Decisions) == nil {
			return proposal, err
		}
	}
	return policy.Propose(ctx, c, o)
}

// live returns a conversation without what the provider ignores because of a summary that it has put behind it.
func live(c *decant.Conversation) *decant.Conversation {
	if ms := c.Live(); len(ms) < len(c.Messages) {
		return c.With(ms)
	}
	return c
}
