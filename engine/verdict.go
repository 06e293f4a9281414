package engine

import (
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/internal/cost"
)

// witnessed draws from an answer what it says about the account: that it answers at all, that it does not mind
// an edit in front of bound thinking, and whether it leaves out of the prompt what it was asked to.
func (e *Engine) witnessed(p *Prepared, res Response) {
	a := p.ticket
	who := &account.Account{Upstream: account.Named(a.dr.q.req.Upstream), Organization: res.Organization}
	if a.dr.report.Route == probing.name {
		e.accounts.Learn(who, account.Binding, account.Unenforced)
	}
	missed := a.dr.meter.Missed
	c, _ := a.dr.clearing()
	if c != nil {
		missed = a.dr.missed(res.Usage)
		if why := a.dr.disagrees(c, res, missed); why != "" {
			missed = 0
			e.accounts.Learn(who, account.Editing(a.dr.q.model.ID), account.Mismatched)
			e.opts.Notice(fmt.Sprintf("the provider does not clear old results of %s as asked, so it is not asked again for a week: %s", a.dr.q.model.ID, why))
		}
	}
	a.dr.meter.Account, a.dr.meter.Missed = who, missed
	if a.dr.q.match.Stored != nil {
		notes.Of(a.dr.q.match.Stored).Change(func(m *notes.Meter) { m.Account, m.Missed = who, missed })
	}
}

// mostMissed is how many answers in a row may find less than half of an edited prompt in the cache.
const mostMissed = 2

// disagrees says how an answer shows that the prompt was not edited as it was asked for, empty when it does not.
func (dr *draft) disagrees(c *anthropic.Clearing, res Response, missed int) string {
	switch {
	case res.Editing && res.Cleared != c.Uses:
		return fmt.Sprintf("%d results were cleared instead of %d", res.Cleared, c.Uses)
	case missed >= mostMissed:
		return "what is left of the prompt is not read from the cache"
	case !res.Editing && dr.unedited(res.Usage.Prompt()):
		return fmt.Sprintf("a prompt of %d tokens is reported, as if nothing had been cleared", res.Usage.Prompt())
	}
	return ""
}

// unedited reports whether a prompt of n tokens, as the provider has counted them, is the whole of what was sent
// rather than the view. What is estimated may be twice as large, by framing, escapes or another vocabulary.
func (dr *draft) unedited(n int) bool {
	reported, estimated := dr.expected()
	gap, err := dr.gap()
	return err == nil && reported > 0 && n > reported+estimated+max(gap/2, estimated)
}

// gap returns the estimated tokens that the provider is to leave out of what is sent.
func (dr *draft) gap() (int, error) {
	sent, err := dr.sent()
	if err != nil {
		return 0, err
	}
	return dr.scale(dr.estimate(sent, decant.Ref{}) - dr.estimate(dr.view, decant.Ref{})), nil
}

// expected returns the tokens that the view must have: what was reported of the request before, and an estimate
// of what has come since. The report is 0 when there is none: its answer may not have been archived yet.
func (dr *draft) expected() (reported, estimated int) {
	m := &dr.meter
	if m.Length == 0 || m.Length > len(dr.q.match.State.Chain) || dr.q.match.Relation != lineage.Continues || len(dr.q.match.State.Decisions)-len(dr.made) != m.Decisions {
		return 0, 0
	}
	last := dr.q.match.State.Chain[m.Length-1].Ref
	reported, estimated = m.Usage.Context(), dr.scale(dr.estimate(dr.view, last))
	for i := range dr.made {
		switch d := &dr.made[i]; {
		case d.Kind == decant.Insert: // which no estimate has
			estimated += dr.scale(d.After)
		case d.Kind.Edits() && !d.Target.Ref.After(last):
			reported -= dr.scale(d.Before - d.After)
		}
	}
	return max(0, reported), estimated
}

// missed returns how many answers in a row have not found in the cache what the one before had left there of an
// edited prompt.
func (dr *draft) missed(u decant.Usage) int {
	life, was := cost.LongestLife(dr.q.refs.Conv), dr.meter.Usage
	left := was.CacheRead + was.CacheWrite
	switch {
	case decant.NativeIn(dr.inForce) == nil || dr.report.Reason != "" || dr.q.match.Relation != lineage.Continues || !dr.anchored(),
		life == 0 || left == 0 || dr.q.switched() || dr.q.e.opts.Now().Sub(dr.q.match.State.Anchor.Time) > min(life, 5*time.Minute):
		return dr.meter.Missed
	case u.CacheRead < left/2:
		return dr.meter.Missed + 1
	}
	return 0
}
