package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/legal"
	"github.com/decantdev/decant/policy"
)

// pour makes the one deliberate rewrite of older history. Where the time for it runs out, one for money is left
// for good, and one that must happen is made by the last rung, which hardly looks at the text.
func (dr *draft) pour(ctx context.Context, why policy.Reason) error {
	id, err := dr.q.e.ids.Next()
	if err != nil {
		return err
	}
	dr.group = policy.PourMark + id
	defer func() { dr.group = "" }()
	limit := dr.q.e.opts.RequiredTimeout
	if dr.q.isOptional(why) {
		limit = dr.q.e.opts.OptionalTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = dr.pourWithin(limited, why)
	switch {
	case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return err
	case dr.q.isOptional(why):
		dr.noteFutile()
		return err
	}
	dr.quick = true
	return dr.pourWithin(ctx, why)
}

// isOptional reports whether nobody has to wait for a pour: it is for money, or only observed.
func (q *query) isOptional(why policy.Reason) bool {
	return why == policy.Free || why == policy.Paid || q.e.mode(q.req) == Observe
}

// pourWithin tries the routes that are legal in the conversation's state, cheapest first, each first with the
// target that is wanted and then with smaller ones; the first whose view is legal, fits and saves enough is
// taken. It ends when ctx does.
func (dr *draft) pourWithin(ctx context.Context, why policy.Reason) error {
	var failed []error
	for _, target := range dr.targets(why) {
		for _, rt := range dr.routes(why) {
			err := dr.attemptRoute(ctx, rt, target, why)
			if err == nil {
				dr.report.Reason, dr.report.Route = why, rt.name
				return nil
			}
			failed = append(failed, fmt.Errorf("%s: %w", rt.name, err))
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("pour (%s): %w", why, errors.Join(append(failed, err)...))
			}
		}
	}
	return dr.poor(why, errors.Join(failed...))
}

// targets returns the tokens of messages to aim at, one after the other.
func (dr *draft) targets(why policy.Reason) []int {
	t := dr.q.limits.Target
	if f := dr.meter.Factor; f > 0 { // the planner counts by the estimate alone
		t = int(float64(t) / f)
	}
	switch why {
	case policy.Refusal:
		return []int{dr.q.est.Messages(dr.view.Messages)}
	case policy.Free, policy.Paid:
		return []int{t}
	}
	if n := dr.bytes(); n > dr.q.most { // tokens are a poor measure of images
		share := float64(dr.q.most) / float64(n) / 2
		t = min(t, int(share*float64(dr.q.est.Messages(dr.view.Messages))))
	}
	return []int{t, t / 2, t / 4}
}

// attemptRoute carries a pour out by one route, on a copy, and keeps it if it is good: the next route, or the request
// without a pour, must not go out with what a refused one has set.
func (dr *draft) attemptRoute(ctx context.Context, rt route, target int, why policy.Reason) error {
	next := *dr
	if err := rt.carry(ctx, &next, target); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // what it made is not whole
		return err
	}
	if err := next.check(why, rt.unsure); err != nil {
		return err
	}
	*dr = next
	return nil
}

// Errors of a pour that the next route or target may not have.
var (
	errPoor     = errors.New("the pour would save less than a twentieth")
	errTooLarge = errors.New("the view would still be too large")
	errNoRoute  = errors.New("not possible here")
)

// check says what is wrong with the view that a route made, nil when it may leave.
func (dr *draft) check(why policy.Reason, unsure bool) error {
	if err := dr.lawful(unsure); err != nil {
		return err
	}
	n := dr.size(dr.view)
	if bytes := dr.bytes(); bytes > dr.q.most {
		return fmt.Errorf("%d bytes, the API takes %d: %w", bytes, dr.q.most, errTooLarge)
	}
	if why != policy.Refusal {
		if most := dr.q.limits.Must(); n > most {
			return fmt.Errorf("%d tokens, the window leaves %d: %w", n, most, errTooLarge)
		}
		if !dr.pays(why) {
			return errPoor
		}
	}
	dr.report.After = n
	return nil
}

// pays reports whether the pour frees as much as a pour has to. Both sizes are estimates: one that was
// reported and one that was not would not compare.
func (dr *draft) pays(why policy.Reason) bool {
	before := dr.q.fixed + dr.scale(dr.estimate(dr.before, decant.Ref{}))
	after := dr.q.fixed + dr.scale(dr.estimate(dr.view, decant.Ref{}))
	return before > after && float64(before-after) >= policy.Worth(why)*float64(before)
}

// lawful holds the view against the rules of the API and the model. What was wrong with the client's
// own request stays the client's; what the pour adds to it is refused. Where it is unsure whether thinking is
// bound, the provider says so.
func (dr *draft) lawful(unsure bool) error {
	rules := legal.RulesFor(legal.Messages, dr.q.model, dr.q.refs.Conv.Thinking)
	rules.Binds, rules.Automatic = rules.Binds && !unsure && dr.bound(), dr.q.refs.Conv.Cache != ""
	before, err := decant.Replay(dr.q.refs.Conv, decant.Sent(dr.inForce))
	if err != nil {
		return err
	}
	after, err := dr.sent()
	if err != nil {
		return err
	}
	known := map[string]int{}
	for _, v := range legal.Check(before, rules.Of(before)) {
		known[key(v)]++
	}
	for _, v := range legal.Check(after, rules.Of(before)) {
		if dr.params != nil && (v.Rule == legal.ThinkingBound || v.Rule == legal.ThinkingGap) {
			continue // the provider drops what does not fit
		}
		if known[key(v)]--; known[key(v)] < 0 {
			return v
		}
	}
	if dr.q.refs.Conv.Thinking == decant.ThinkingManual && thoughtless(dr.view) && !thoughtless(dr.before) {
		return fmt.Errorf("the turn would not start with thinking: %w", decant.ErrIllegal)
	}
	return nil
}

func key(v legal.Violation) string { return fmt.Sprintf("%s %d %d", v.Rule, v.Message, v.Block) }

// poor notes that a pour was due and not worth it, or not possible. One for money is not planned again,
// and two others in a row suppress further ones, until something changes. It returns a typed error when the request does not fit its window.
func (dr *draft) poor(why policy.Reason, err error) error {
	dr.report.Route = "none"
	if why == policy.Free || why == policy.Paid {
		dr.noteFutile()
		return nil
	}
	dr.meter.Poor = dr.report.Before
	dr.suppress++
	var irreducible *decant.IrreducibleError
	switch {
	case errors.Is(err, decant.ErrFixed), errors.As(err, &irreducible), dr.report.Before > dr.q.limits.Window:
		return fmt.Errorf("pour (%s): %w", why, err)
	}
	return nil
}

// plan asks the planner for a pour to a target: from the transcript, on top of those decisions on
// single blocks that are in force. A new checkpoint covers all that an earlier one did.
func (dr *draft) plan(ctx context.Context, target int) (*decant.Plan, []decant.Decision, error) {
	p, err := policy.Plan(ctx, dr.q.refs.Conv, dr.planOptions(target))
	if err != nil {
		return nil, nil, err
	}
	return p, dr.settle(p.Decisions), nil
}

func (dr *draft) planOptions(target int) policy.PlanOptions {
	o := policy.PlanOptions{
		Model: dr.q.model, Estimator: dr.q.est, Preset: dr.q.preset, Target: target, Limit: dr.room(dr.q.limits.Must()), Trigger: dr.room(dr.q.limits.Trigger), KeepTurns: -1, Quick: dr.quick,
		Pinned: decant.PinsIn(dr.inForce), Now: dr.q.e.opts.Now(),
	}
	for _, ds := range [][]decant.Decision{dr.inForce, dr.made} {
		for _, d := range ds {
			if d.Kind.Edits() {
				o.Made = append(o.Made, d)
			}
		}
	}
	return o
}

// room returns the tokens that a size of the request leaves for the messages, as the planner counts them. It
// is 0, which holds the plan to its target, when the provider or the API's limit of bytes has asked for less.
func (dr *draft) room(n int) int {
	n -= dr.q.fixed
	if f := dr.meter.Factor; f > 0 {
		n = int(float64(n) / f)
	}
	if dr.q.must == policy.Overflow || dr.bytes() > dr.q.most {
		return 0
	}
	return n
}

// settle makes a plan's decisions those of this conversation: numbers the checkpoint, and leaves out
// what an earlier checkpoint covers further.
func (dr *draft) settle(ds []decant.Decision) []decant.Decision {
	was := decant.CheckpointIn(dr.inForce)
	to := 0
	if was != nil {
		to = was.To
	}
	turn := lastWords(dr.q.refs.Conv)
	var out []decant.Decision
	for _, d := range ds {
		switch cp := d.Checkpoint; {
		case cp == nil && d.Target.Message <= to && d.Target.Message > 0:
			continue
		case d.Kind == decant.DropThinking && dr.q.refs.Conv.Thinking.On() && d.Target.Message > turn:
			continue // only thinking of finished turns may go (docs/reference/anthropic.md, "Thinking")
		case cp == nil:
		case cp.To < to:
			continue
		default:
			c := *cp
			c.Number = dr.q.checkpoints() + 1
			if was != nil {
				c.Folds = was.Number
			}
			d.Checkpoint, d.Handle = &c, decant.Handle(fmt.Sprintf("c:%d", c.Number))
		}
		out = append(out, d)
	}
	return out
}

// checkpoints returns the number of the newest checkpoint, revoked ones included.
func (q *query) checkpoints() int {
	n := 0
	if q.match.State != nil {
		for _, cp := range q.match.State.Checkpoints() {
			n = max(n, cp.Number)
		}
	}
	return n
}
