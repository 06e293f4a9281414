package plan

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/policy"
)

// check says what is wrong with the view that a route made, nil when it may leave.
func (r *rewrite) check(why policy.Reason, unsure bool) error {
	dr := r.Draft
	if err := r.lawful(unsure); err != nil {
		return err
	}
	n := dr.Size(dr.View)
	if bytes := dr.Bytes(); bytes > dr.MaxBytes {
		return fmt.Errorf("%d bytes, the API takes %d: %w", bytes, dr.MaxBytes, errTooLarge)
	}
	if why != policy.Refusal {
		if most := dr.Limits.Must(); n > most {
			return fmt.Errorf("%d tokens, the window leaves %d: %w", n, most, errTooLarge)
		}
		if !r.pays(why) {
			return errPoor
		}
	}
	dr.Outcome.After = n
	return nil
}

// pays reports whether the pour frees as much as a pour has to. Both sizes are estimates: one that was
// reported and one that was not would not compare.
func (r *rewrite) pays(why policy.Reason) bool {
	dr := r.Draft
	before := dr.Fixed + dr.Meter.Scale(dr.Estimate(dr.Before, decant.Ref{}))
	after := dr.Fixed + dr.Meter.Scale(dr.Estimate(dr.View, decant.Ref{}))
	return policy.Pays(why, before, after)
}

// lawful holds the view against the rules of the API and the model. What was wrong with the client's
// own request stays the client's; what the pour adds to it is refused. Where it is unsure whether thinking is
// bound, the provider says so.
func (r *rewrite) lawful(unsure bool) error {
	dr := r.Draft
	rules := legal.RulesFor(legal.ForFormat(dr.Prompt.API()), dr.Model, dr.Conv.Thinking)
	rules.Binds, rules.Automatic = rules.Binds && !unsure && dr.Bound(), dr.Conv.Cache != ""
	before, err := decant.Replay(dr.Conv, decant.Sent(dr.InForce))
	if err != nil {
		return err
	}
	after, err := dr.Sent()
	if err != nil {
		return err
	}
	known := map[string]int{}
	for _, v := range legal.Check(before, rules.Of(before)) {
		known[violationKey(v)]++
	}
	for _, v := range legal.Check(after, rules.Of(before)) {
		switch {
		case dr.Params != nil && (v.Rule == legal.ThinkingBound || v.Rule == legal.ThinkingGap):
			continue // the provider drops what does not fit
		case unsure && v.Rule == legal.ThinkingChanged:
			continue // all of it is left out
		}
		if known[violationKey(v)]--; known[violationKey(v)] < 0 {
			return v
		}
	}
	if dr.Conv.Thinking == decant.ThinkingManual && thoughtless(dr.View) && !thoughtless(dr.Before) {
		return fmt.Errorf("the turn would not start with thinking: %w", decant.ErrIllegal)
	}
	return nil
}

func violationKey(v legal.Violation) string {
	return fmt.Sprintf("%s %d %d", v.Rule, v.Message, v.Block)
}

// thoughtless reports whether the turn under way, if calls were made in it, begins without thinking.
// That is the strict reading of the rule thinking-first: the
// first thing that the assistant said in the turn counts, whatever came with the results since. The
// words of the refusal also allow another, which legal checks in what clients send: the newest message
// of the turn may start with it instead. What a pour makes must be right under both.
func thoughtless(view *decant.Conversation) bool {
	var first *decant.Message
	for i := len(view.Messages) - 1; i >= 0; i-- {
		m := &view.Messages[i]
		if m.Role == decant.RoleAssistant {
			first = m
		}
		if m.Role == decant.RoleUser && !m.Has(decant.KindResult) {
			break
		}
	}
	return first != nil && len(first.Blocks) > 0 && first.Blocks[0].Kind != decant.KindThinking
}
