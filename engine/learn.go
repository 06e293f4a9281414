package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
)

// A learner is drawn from how the provider has dealt with a draft.
type learner struct {
	*Engine
	dr *plan.Draft
}

// answered remembers what an answer says about the account: that it answers at all, that it does not mind
// an edit in front of bound thinking, and whether it leaves out of the prompt what it was asked to.
func (v *learner) answered(res Response) {
	in := v.dr.Input
	who := &plan.Account{Upstream: plan.AccountName(in.Upstream), Organization: res.Organization}
	if v.dr.Outcome.Route == plan.RouteProbe {
		v.accounts.Learn(who, plan.TopicBinding, plan.Unenforced)
	}
	if why := v.dr.Outcome.Uncompacted; errors.Is(why, provider.ErrRefused) {
		v.uncompacted(why.Error())
	}
	missed := v.dr.Meter.Missed
	if c, _ := v.dr.Clearing(); c != nil {
		missed = v.missed(res.Usage)
		if why := v.disagrees(c, res, missed); why != "" {
			missed = 0
			v.accounts.Learn(who, plan.TopicEditing(in.Model.ID), plan.Mismatched)
			v.log.Warn("the provider does not clear old results as asked, so it is not asked again for a week", "model", in.Model.ID, "why", why)
		}
	}
	v.dr.Meter.Account, v.dr.Meter.Missed = who, missed
	if in.Match.Stored != nil {
		plan.CachedOf(in.Match.Stored).ChangeMeter(func(m *plan.Meter) { m.Account, m.Missed, m.Drops = who, missed, v.dr.Meter.Drops })
	}
}

// refused remembers what a refusal says about the account.
func (v *learner) refused(f plan.Demand, r dialect.Refusal) {
	in := v.dr.Input
	who := in.Account(&v.dr.Meter, v.dr.Preset)
	switch {
	case f.Unedit && v.ruled(r.Topic):
		v.accounts.Learn(who, plan.TopicRules(in.Model.ID), plan.Refused)
		v.log.Warn("the provider does not take rules for prompts, so none are sent for a week", "model", in.Model.ID, "answer", fmt.Sprintf("%.200s", r.Text))
	case f.Unedit && r.Topic == dialect.Compacting && v.dr.Outcome.Route == plan.RouteCompacted: // the account that wrote it may be another
		v.accounts.Learn(who, plan.TopicCompaction(in.Model.ID), plan.Mismatched)
		v.log.Warn("the provider does not take its own summary back, so none is asked for for a week", "model", in.Model.ID, "answer", fmt.Sprintf("%.200s", r.Text))
	case f.Unedit && r.Topic == dialect.Compacting:
		v.uncompacted(r.Text)
	case f.Unedit:
		v.accounts.Learn(who, plan.TopicEditing(in.Model.ID), plan.Refused)
		v.log.Warn("the provider does not clear old results", "model", in.Model.ID, "answer", fmt.Sprintf("%.200s", r.Text))
	case f.Reason == policy.Overflow && f.Factor > 0 && v.unedited(int(f.Factor)):
		v.accounts.Learn(who, plan.TopicEditing(in.Model.ID), plan.Mismatched)
	case f.Tried == plan.RouteForgetful && in.Conv.OpenRound():
		v.accounts.Learn(who, plan.TopicBare(in.Model.ID), plan.Refused)
	case f.Reason == policy.Refusal && r.Bound:
		v.accounts.Learn(who, plan.TopicBinding, plan.Enforced)
	}
}

// ruled reports whether a refusal about a topic is about rules of ours: where it names the clearing that the request
// asks for, it is not.
func (v *learner) ruled(t dialect.Topic) bool {
	c, _ := v.dr.Clearing()
	r := v.dr.Rules()
	return r.Any() && (t == dialect.Compacting || c == nil || r.Clears())
}

// uncompacted remembers that the provider does not write summaries with the model, or does not take them back, if that
// is what it says. Otherwise the refusal is about this one.
func (v *learner) uncompacted(text string) {
	in := v.dr.Input
	if d, ok := in.Prompt.Dialect.(dialect.Compacter); !ok || !d.NoCompaction(text) {
		return
	}
	v.accounts.Learn(in.Account(&v.dr.Meter, v.dr.Preset), plan.TopicCompaction(in.Model.ID), plan.Refused)
	v.log.Warn("the provider writes no summaries, so it is not asked again for a week", "model", in.Model.ID, "answer", fmt.Sprintf("%.200s", text))
}

// mostMissed is how many answers in a row may find less than half of an edited prompt in the cache.
const mostMissed = 2

// disagrees says how an answer shows that the prompt was not edited as it was asked for, empty when it does not.
func (v *learner) disagrees(c dialect.ProviderClearing, res Response, missed int) string {
	switch {
	case res.Editing && res.Cleared != c.Results():
		return fmt.Sprintf("%d results were cleared instead of %d", res.Cleared, c.Results())
	case missed >= mostMissed:
		return "what is left of the prompt is not read from the cache"
	case !res.Editing && v.unedited(res.Usage.Prompt()):
		return fmt.Sprintf("a prompt of %d tokens is reported, as if nothing had been cleared", res.Usage.Prompt())
	}
	return ""
}

// unedited reports whether a prompt of n tokens, as the provider has counted them, is the whole of what was sent
// rather than the view. What is estimated may be twice as large, by framing, escapes or another vocabulary.
func (v *learner) unedited(n int) bool {
	reported, estimated := v.expected()
	gap, err := v.gap()
	return err == nil && reported > 0 && n > reported+estimated+max(gap/2, estimated)
}

// gap returns the estimated tokens that the provider is to leave out of what is sent.
func (v *learner) gap() (int, error) {
	sent, err := v.dr.Sent()
	if err != nil {
		return 0, err
	}
	return v.dr.Meter.Scale(v.dr.Estimate(sent, decant.Ref{}) - v.dr.Estimate(v.dr.View, decant.Ref{})), nil
}

// expected returns the tokens that the view must have: what was reported of the request before, and an estimate
// of what has come since. The report is 0 when there is none: its answer may not have been archived yet.
func (v *learner) expected() (reported, estimated int) {
	in := v.dr.Input
	m := &v.dr.Meter
	if m.Length == 0 || m.Length > len(in.Match.State.Chain) || in.Match.Relation != match.Continues || len(in.Match.State.Decisions)-len(v.dr.Made) != m.Decisions {
		return 0, 0
	}
	last := in.Match.State.Chain[m.Length-1].Ref
	reported, estimated = m.Usage.Context(), v.dr.Meter.Scale(v.dr.Estimate(v.dr.View, last))
	for i := range v.dr.Made {
		switch d := &v.dr.Made[i]; {
		case d.Kind == decant.Insert: // which no estimate has
			estimated += v.dr.Meter.Scale(d.After)
		case d.Kind.Edits() && !d.Target.Ref.After(last):
			reported -= v.dr.Meter.Scale(d.Before - d.After)
		}
	}
	return max(0, reported), estimated
}

// missed returns how many answers in a row have not found in the cache what the one before had left there of an
// edited prompt.
func (v *learner) missed(u decant.Usage) int {
	in := v.dr.Input
	m := in.Match
	life, was := cost.LongestLife(in.Conv), v.dr.Meter.Usage
	left := was.CacheRead + was.CacheWrite
	switch {
	case policy.NativeIn(v.dr.InForce) == nil || v.dr.Outcome.Reason != "" || in.Match.Relation != match.Continues || !v.dr.Anchored(),
		life == 0 || left == 0 || in.Switched() || in.Now().Sub(m.State.Anchor.Time) > min(life, 5*time.Minute):
		return v.dr.Meter.Missed
	case u.CacheRead < left/2:
		return v.dr.Meter.Missed + 1
	}
	return 0
}
