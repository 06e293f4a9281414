package engine

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// bound reports whether the view holds thinking that is bound to what stands before it, so that nothing there
// may change: the model binds it, and neither is the account known for not enforcing that nor has the client
// asked the provider to drop what does not fit.
func (a *attempt) bound() bool {
	if !a.model.Binds || a.Conv.Thinking == decant.ThinkingOff {
		return false
	}
	switch a.mismatch() {
	case "drop_block":
		return false
	case "":
		if a.known.says(bindingTopic, a.e.opts.Now()) == unenforced {
			return false
		}
	}
	return a.before.Has(decant.KindThinking)
}

// mismatch returns what the client wants to happen to thinking that does not fit, empty when it does not say.
func (a *attempt) mismatch() string {
	at := a.r.Doc.Member("thinking")
	if at.IsZero() {
		return ""
	}
	return anthropic.MismatchOf(at.Of(a.req.Body))
}

// probes reports whether an early edit in front of bound thinking may be tried, to see whether the provider
// minds: nothing is known about the account yet, and the client has not asked for the binding. A probe that
// is refused costs the time of a refusal and nothing else: it is taken back, and the client's own bytes go
// out in the same exchange.
func (a *attempt) probes() bool {
	return a.meter.Account != nil && a.mismatch() == "" && a.known.says(bindingTopic, a.e.opts.Now()) == ""
}

// probeRoute makes the cheap reductions and keeps all thinking.
func (a *attempt) probeRoute(ctx context.Context, _ int) error {
	t := a.thinning()
	t.Signed = true
	ds := policy.Thin(ctx, a.view, t)
	if len(ds) == 0 {
		return errPoor
	}
	return a.add(ds)
}

// yield takes the newest pour back that the provider has refused, so that the request goes out as it would
// have without. It reports false where that is not possible or leaves no room for an answer.
func (a *attempt) yield(ctx context.Context) (bool, error) {
	if a.must != policy.Refusal {
		return false, nil
	}
	ds, err := a.takeBack(ctx)
	if err != nil || len(ds) == 0 {
		return false, err
	}
	was := a.draft()
	if err := a.add(ds); err != nil {
		return false, err
	}
	if n := a.size(a.view); n > a.limits.Hard() {
		a.restore(was)
		return false, nil
	} else {
		a.report.Reason, a.report.Route, a.report.After = policy.Refusal, "taken back", n
	}
	return true, nil
}

// takeBack returns the decisions that take back the newest pour, none when the model has answered since: then
// thinking may stand on it. The request need not be the one that was poured: its client may have given that one
// up and said more.
func (a *attempt) takeBack(ctx context.Context) ([]decant.Decision, error) {
	if a.State == nil || a.Relation != lineage.Continues && a.Relation != lineage.Amends || a.bringsAnswer() {
		return nil, nil
	}
	ds := revocations(a.State.Decisions)
	if len(ds) == 0 {
		return nil, nil
	}
	at, err := a.e.entriesAt(ctx, a.State, ds[0].Revokes)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(a.State.Chain[min(at, len(a.State.Chain)):], func(e store.Entry) bool { return e.Role == decant.RoleAssistant }) {
		return nil, nil
	}
	return ds, nil
}

// bringsAnswer reports whether the request brings an answer of the model's that is not in the conversation yet.
func (a *attempt) bringsAnswer() bool {
	for i, k := range a.Entries {
		if k < 0 && a.r.At(i).Role == decant.RoleAssistant {
			return true
		}
	}
	return false
}
