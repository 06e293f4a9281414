package engine

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// bound reports whether the view holds thinking that is bound to what stands before it, so that nothing there
// may change: the model binds it, and neither is the account known for not enforcing that nor has the client
// asked the provider to drop what does not fit.
func (dr *draft) bound() bool {
	if !dr.q.model.Binds || dr.q.refs.Conv.Thinking == decant.ThinkingOff {
		return false
	}
	switch dr.q.mismatch() {
	case "drop_block":
		return false
	case "":
		if dr.q.known.Says(account.Binding, dr.q.e.opts.Now()) == account.Unenforced {
			return false
		}
	}
	return dr.before.Has(decant.KindThinking)
}

// mismatch returns what the client wants to happen to thinking that does not fit, empty when it does not say.
func (q *query) mismatch() string {
	at := q.r.Doc.Member("thinking")
	if at.IsZero() {
		return ""
	}
	return anthropic.MismatchOf(at.Of(q.req.Body))
}

// account returns the account that the request is for: the one that answered the conversation last, if the
// request goes to the same provider. It is nil while nobody has answered.
func (dr *draft) account() *account.Account {
	who := dr.meter.Account
	if who == nil || !dr.q.model.Binds || who.Upstream != account.Named(dr.q.req.Upstream) && dr.q.req.Upstream != "" {
		return nil
	}
	return who
}

// probes reports whether an early edit in front of bound thinking may be tried, to see whether the provider
// minds: nothing is known about the account yet, and the client has not asked for the binding. A probe that
// is refused costs the time of a refusal and nothing else: it is taken back, and the client's own bytes go
// out in the same exchange.
func (dr *draft) probes() bool {
	return dr.meter.Account != nil && dr.q.mismatch() == "" && dr.q.known.Says(account.Binding, dr.q.e.opts.Now()) == ""
}

// probeRoute makes the cheap reductions and keeps all thinking.
func probeRoute(ctx context.Context, dr *draft, _ int) error {
	t := dr.thinning()
	t.Signed = true
	ds := policy.PlanEarly(ctx, dr.view, t)
	if len(ds) == 0 {
		return errPoor
	}
	return dr.add(ds)
}

// yield takes the newest pour back that the provider has refused, so that the request goes out as it would
// have without. It reports false where that is not possible or leaves no room for an answer.
func (dr *draft) yield(ctx context.Context) (bool, error) {
	if dr.q.must != policy.Refusal {
		return false, nil
	}
	ds, err := dr.q.takeBack(ctx)
	if err != nil || len(ds) == 0 {
		return false, err
	}
	was := *dr
	if err := dr.add(ds); err != nil {
		return false, err
	}
	if n := dr.size(dr.view); n > dr.q.limits.Hard() {
		*dr = was
		return false, nil
	} else {
		dr.report.Reason, dr.report.Route, dr.report.After = policy.Refusal, "taken back", n
	}
	return true, nil
}

// takeBack returns the decisions that take back the newest pour, none when the model has answered since: then
// thinking may stand on it. The request need not be the one that was poured: its client may have given that one
// up and said more.
func (q *query) takeBack(ctx context.Context) ([]decant.Decision, error) {
	if q.match.State == nil || q.match.Relation != lineage.Continues && q.match.Relation != lineage.Amends || q.bringsAnswer() {
		return nil, nil
	}
	ds := revocations(q.match.State.Decisions)
	if len(ds) == 0 {
		return nil, nil
	}
	at, err := q.e.entriesAt(ctx, q.match.State, ds[0].Revokes)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(q.match.State.Chain[min(at, len(q.match.State.Chain)):], func(e store.Entry) bool { return e.Role == decant.RoleAssistant }) {
		return nil, nil
	}
	return ds, nil
}

// bringsAnswer reports whether the request brings an answer of the model's that is not in the conversation yet.
func (q *query) bringsAnswer() bool {
	for i, k := range q.match.Entries {
		if k < 0 && q.r.At(i).Role == decant.RoleAssistant {
			return true
		}
	}
	return false
}
