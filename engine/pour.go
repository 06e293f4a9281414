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
func (a *attempt) pour(ctx context.Context, why policy.Reason) error {
	id, err := a.e.ids.Next()
	if err != nil {
		return err
	}
	a.group = policy.PourMark + id
	defer func() { a.group = "" }()
	limit := a.e.opts.Necessary
	if a.isOptional(why) {
		limit = a.e.opts.Optional
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = a.pourWithin(limited, why)
	switch {
	case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return err
	case a.isOptional(why):
		a.noteFutile()
		return err
	}
	a.quick = true
	return a.pourWithin(ctx, why)
}

// isOptional reports whether nobody has to wait for a pour: it is for money, or only observed.
func (a *attempt) isOptional(why policy.Reason) bool {
	return why == policy.Free || why == policy.Paid || a.e.mode(a.req) == Observe
}

// pourWithin tries the routes that are legal in the conversation's state, cheapest first, each first with the
// target that is wanted and then with smaller ones; the first whose view is legal, fits and saves enough is
// taken. It ends when ctx does.
func (a *attempt) pourWithin(ctx context.Context, why policy.Reason) error {
	var failed []error
	for _, target := range a.targets(why) {
		for _, rt := range a.routes(why) {
			err := a.attemptRoute(ctx, rt, target, why)
			if err == nil {
				a.report.Reason, a.report.Route = why, rt.name
				return nil
			}
			failed = append(failed, fmt.Errorf("%s: %w", rt.name, err))
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("pour (%s): %w", why, errors.Join(append(failed, err)...))
			}
		}
	}
	return a.poor(why, errors.Join(failed...))
}

// targets returns the tokens of messages to aim at, one after the other.
func (a *attempt) targets(why policy.Reason) []int {
	t := a.limits.Target
	if f := a.meter.Factor; f > 0 { // the planner counts by the estimate alone
		t = int(float64(t) / f)
	}
	switch why {
	case policy.Refusal:
		return []int{a.est.Messages(a.view.Messages)}
	case policy.Free, policy.Paid:
		return []int{t}
	}
	if n := a.bytes(); n > a.most { // tokens are a poor measure of images
		share := float64(a.most) / float64(n) / 2
		t = min(t, int(share*float64(a.est.Messages(a.view.Messages))))
	}
	return []int{t, t / 2, t / 4}
}

// attemptRoute carries a pour out by one route and keeps it if it is good. A route that is not good
// leaves nothing behind: the next one, or the request without a pour, must not go out with what it has set.
func (a *attempt) attemptRoute(ctx context.Context, rt route, target int, why policy.Reason) error {
	was := a.draft()
	err := rt.carry(a, ctx, target)
	if err == nil {
		err = ctx.Err() // what it made is not whole
	}
	if err == nil {
		err = a.check(why, rt.unsure)
	}
	if err != nil {
		a.restore(was)
	}
	return err
}

// A draft is what carrying a route out changes of an attempt.
type draft struct {
	made   []decant.Decision
	view   *decant.Conversation
	params []byte
	betas  []string
	report Report
}

func (a *attempt) draft() draft { return draft{a.made, a.view, a.params, a.betas, a.report} }

func (a *attempt) restore(d draft) {
	a.made, a.view, a.params, a.betas, a.report = d.made, d.view, d.params, d.betas, d.report
}

// Errors of a pour that the next route or target may not have.
var (
	errPoor     = errors.New("the pour would save less than a twentieth")
	errTooLarge = errors.New("the view would still be too large")
	errNoRoute  = errors.New("not possible here")
)

// check says what is wrong with the view that a route made, nil when it may leave.
func (a *attempt) check(why policy.Reason, unsure bool) error {
	if err := a.lawful(unsure); err != nil {
		return err
	}
	n := a.size(a.view)
	if bytes := a.bytes(); bytes > a.most {
		return fmt.Errorf("%d bytes, the API takes %d: %w", bytes, a.most, errTooLarge)
	}
	if why != policy.Refusal {
		if most := a.limits.Must(); n > most {
			return fmt.Errorf("%d tokens, the window leaves %d: %w", n, most, errTooLarge)
		}
		if !a.pays(why) {
			return errPoor
		}
	}
	a.report.After = n
	return nil
}

// pays reports whether the pour frees as much as a pour has to. Both sizes are estimates: one that was
// reported and one that was not would not compare.
func (a *attempt) pays(why policy.Reason) bool {
	before := a.fixed + a.scale(a.estimate(a.before, decant.Ref{}))
	after := a.fixed + a.scale(a.estimate(a.view, decant.Ref{}))
	return before > after && float64(before-after) >= policy.Worth(why)*float64(before)
}

// lawful holds the view against the rules of the API and the model. What was wrong with the client's
// own request stays the client's; what the pour adds to it is refused. Where it is unsure whether thinking is
// bound, the provider says so.
func (a *attempt) lawful(unsure bool) error {
	rules := legal.RulesFor(legal.Messages, a.model, a.Conv.Thinking)
	rules.Binds, rules.Automatic = rules.Binds && !unsure && a.bound(), a.Conv.Cache != ""
	before, err := decant.Replay(a.Conv, decant.Sent(a.inForce))
	if err != nil {
		return err
	}
	after, err := a.sent()
	if err != nil {
		return err
	}
	known := map[string]int{}
	for _, v := range legal.Check(before, rules.Of(before)) {
		known[key(v)]++
	}
	for _, v := range legal.Check(after, rules.Of(before)) {
		if a.params != nil && (v.Rule == legal.ThinkingBound || v.Rule == legal.ThinkingGap) {
			continue // the provider drops what does not fit
		}
		if known[key(v)]--; known[key(v)] < 0 {
			return v
		}
	}
	if a.Conv.Thinking == decant.ThinkingManual && thoughtless(a.view) && !thoughtless(a.before) {
		return fmt.Errorf("the turn would not start with thinking: %w", decant.ErrIllegal)
	}
	return nil
}

func key(v legal.Violation) string { return fmt.Sprintf("%s %d %d", v.Rule, v.Message, v.Block) }

// poor notes that a pour was due and not worth it, or not possible. One for money is not planned again,
// and two others in a row suppress further ones, until something changes. It returns a typed error when the request does not fit its window.
func (a *attempt) poor(why policy.Reason, err error) error {
	a.report.Route = "none"
	if why == policy.Free || why == policy.Paid {
		a.noteFutile()
		return nil
	}
	a.meter.Poor = a.report.Before
	a.suppress++
	var irreducible *decant.IrreducibleError
	switch {
	case errors.Is(err, decant.ErrFixed), errors.As(err, &irreducible), a.report.Before > a.limits.Window:
		return fmt.Errorf("pour (%s): %w", why, err)
	}
	return nil
}

// plan asks the planner for a pour to a target: from the transcript, on top of those decisions on
// single blocks that are in force. A new checkpoint covers all that an earlier one did.
func (a *attempt) plan(ctx context.Context, target int) (*decant.Plan, []decant.Decision, error) {
	p, err := policy.Plan(ctx, a.Conv, a.planOptions(target))
	if err != nil {
		return nil, nil, err
	}
	return p, a.settle(p.Decisions), nil
}

func (a *attempt) planOptions(target int) policy.PlanOptions {
	o := policy.PlanOptions{
		Model: a.model, Estimator: a.est, Preset: a.preset, Target: target, Limit: a.room(a.limits.Must()), Trigger: a.room(a.limits.Trigger), KeepTurns: -1, Quick: a.quick,
		Pinned: decant.PinsIn(a.inForce), Now: a.e.opts.Now(),
	}
	for _, ds := range [][]decant.Decision{a.inForce, a.made} {
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
func (a *attempt) room(n int) int {
	n -= a.fixed
	if f := a.meter.Factor; f > 0 {
		n = int(float64(n) / f)
	}
	if a.must == policy.Overflow || a.bytes() > a.most {
		return 0
	}
	return n
}

// settle makes a plan's decisions those of this conversation: numbers the checkpoint, and leaves out
// what an earlier checkpoint covers further.
func (a *attempt) settle(ds []decant.Decision) []decant.Decision {
	was := decant.CheckpointIn(a.inForce)
	to := 0
	if was != nil {
		to = was.To
	}
	turn := lastWords(a.Conv)
	var out []decant.Decision
	for _, d := range ds {
		switch cp := d.Checkpoint; {
		case cp == nil && d.Target.Message <= to && d.Target.Message > 0:
			continue
		case d.Kind == decant.DropThinking && a.Conv.Thinking.On() && d.Target.Message > turn:
			continue // only thinking of finished turns may go (anthropic-wire, section 11)
		case cp == nil:
		case cp.To < to:
			continue
		default:
			c := *cp
			c.Number = a.checkpoints() + 1
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
func (a *attempt) checkpoints() int {
	n := 0
	if a.State != nil {
		for _, cp := range a.State.Checkpoints() {
			n = max(n, cp.Number)
		}
	}
	return n
}
