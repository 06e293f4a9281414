package plan

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
)

// yield takes the newest pour back that the provider has refused, so that the request goes out as it would have
// without. It reports false where that is not possible or leaves no room for an answer, and where the pour was itself
// made for a refusal: then the request without it has been refused before.
func (a *attempt) yield(ctx context.Context) (bool, error) {
	dr := a.dr
	if dr.Demand.Reason != policy.Refusal {
		return false, nil
	}
	ds, err := a.takeBack(ctx)
	if err != nil || len(ds) == 0 {
		return false, err
	}
	was := *dr
	if err := dr.Add(ds); err != nil || dr.Demand.Tried != "" {
		return false, err
	}
	if n := dr.Size(dr.View); n > dr.Limits.Hard() {
		*dr = was
		return false, nil
	} else {
		dr.Outcome.Reason, dr.Outcome.Route, dr.Outcome.After = policy.Refusal, "taken back", n
	}
	return true, nil
}

// takeBack returns the decisions that take back the newest pour, none when the model has answered since: then
// thinking may stand on it. The request need not be the one that was poured: its client may have given that one
// up and said more.
func (a *attempt) takeBack(ctx context.Context) ([]decant.Decision, error) {
	m := a.dr.Match
	if m.State == nil || m.Relation != match.Continues && m.Relation != match.Amends || a.bringsAnswer() {
		return nil, nil
	}
	ds := Revocations(m.State.Decisions)
	if len(ds) == 0 {
		return nil, nil
	}
	at, err := EntriesAt(ctx, a.by.Store, m.State, ds[0].Revokes)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(m.State.Chain[min(at, len(m.State.Chain)):], func(e store.Entry) bool { return e.Role == decant.RoleAssistant }) {
		return nil, nil
	}
	return ds, nil
}

// bringsAnswer reports whether the request brings an answer of the model's that is not in the conversation yet.
func (a *attempt) bringsAnswer() bool {
	dr := a.dr
	for i, k := range dr.Match.Entries {
		if k < 0 && dr.Prompt.At(i).Role == decant.RoleAssistant {
			return true
		}
	}
	return false
}

// giveUpEditing takes native decisions back for good that cannot be carried out any longer, so that the next
// route finds the conversation as it is sent. Where a request only asks for something else it goes out whole,
// and the next one as before.
func (a *attempt) giveUpEditing(ctx context.Context) error {
	dr := a.dr
	if d := &dr.Demand; d.Unedit && dialect.Summarised(dr.View) && (d.Topic == dialect.Compacting || len(dr.Suspended) == 0) {
		return a.giveUpSummary(ctx)
	}
	if dr.AsksForEditing() || len(dr.Suspended) == 0 {
		return nil
	}
	var ds []decant.Decision
	if dr.Demand.Unedit {
		var err error
		if ds, err = a.takeBack(ctx); err != nil {
			return err
		}
	}
	back := make(map[string]bool, len(ds))
	for i := range ds {
		back[ds[i].Revokes] = true
	}
	for _, d := range dr.Suspended {
		if !back[d.ID] {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the provider does not clear old results as asked, or take its summary back"})
		}
	}
	return dr.Add(ds)
}

// giveUpSummary takes a summary back that the provider has refused: with its whole pour if nothing was said since.
func (a *attempt) giveUpSummary(ctx context.Context) error {
	dr := a.dr
	ds, err := a.takeBack(ctx)
	if err != nil {
		return err
	}
	for _, d := range dr.InForce {
		if d.Checkpoint.Foreign() && !slices.ContainsFunc(ds, func(r decant.Decision) bool { return r.Revokes == d.ID }) {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the provider does not take its summary back"})
		}
	}
	return dr.Add(ds)
}
