package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/token"
)

// clearing returns what the request has to ask the provider for so that the model reads the view; nil when
// nothing, and false when it cannot be asked for.
func (dr *draft) clearing() (*anthropic.Clearing, bool) {
	native := decant.NativeIn(dr.inForce, dr.made)
	if native == nil {
		return nil, true
	}
	return anthropic.ClearingOf(dr.view, native)
}

// sent returns what goes to the provider: the view with everything that the provider leaves out.
func (dr *draft) sent() (*decant.Conversation, error) {
	if decant.NativeIn(dr.inForce, dr.made) == nil {
		return dr.view, nil
	}
	return decant.Replay(dr.q.refs.Conv, decant.Sent(slices.Concat(dr.inForce, dr.made)))
}

// withClearing returns a body that asks for the clearing of the view.
func (dr *draft) withClearing(body []byte) ([]byte, error) {
	c, ok := dr.clearing()
	if !ok {
		return nil, errors.New("render: the provider cannot be asked to clear just what was decided")
	}
	if c == nil {
		return body, nil
	}
	return c.Ask(body)
}

// neededBetas returns the betas that the request needs beyond those that the client asks for.
func (dr *draft) neededBetas() []string {
	if c, _ := dr.clearing(); c == nil {
		return dr.betas
	}
	return append(dr.betas[:len(dr.betas):len(dr.betas)], anthropic.EditingBeta)
}

// asks reports whether the client itself asks the provider to change the context in a way that leaves no room
// for a clearing of ours: for its own clearing, or for a compaction, which goes with no editing at all.
func (q *query) asks() bool {
	return q.cleared() || !q.r.Doc.Member("compaction").IsZero()
}

// editable reports whether the provider can be asked to clear old results of this conversation at all.
func (q *query) editable() bool {
	if q.model.Provider != token.Anthropic || !q.model.Editing || q.known.Says(account.Editing(q.model.ID), q.e.opts.Now()) != "" {
		return false
	}
	var tools []byte
	if at := q.r.Doc.Member("tools"); !at.IsZero() {
		tools = at.Of(q.req.Body)
	}
	return q.r.Doc.Member("mcp_servers").IsZero() && anthropic.Editable(q.req.Body, tools) && !anthropic.Served(q.refs.Conv)
}

// suspend takes native decisions out of the request where they cannot be carried out: it goes out whole.
func (dr *draft) suspend() error {
	native := decant.NativeIn(dr.inForce)
	if native == nil {
		return nil
	}
	if _, ok := anthropic.ClearingOf(dr.view, native); ok && !dr.q.asks() && dr.q.editable() {
		return nil
	}
	for _, d := range dr.inForce {
		if d.Kind == decant.Native {
			dr.suspended = append(dr.suspended, d)
		}
	}
	dr.inForce = decant.Sent(dr.inForce)
	v, err := decant.Replay(dr.q.refs.Conv, dr.inForce)
	if err != nil {
		return err
	}
	dr.before, dr.view = v, v
	return nil
}

// giveUpEditing takes native decisions back for good that cannot be carried out any longer, so that the next
// route finds the conversation as it is sent. Where a request only asks for something else it goes out whole,
// and the next one as before.
func (dr *draft) giveUpEditing(ctx context.Context) error {
	if dr.q.asks() || len(dr.suspended) == 0 {
		return nil
	}
	var ds []decant.Decision
	if dr.q.demand.unedit {
		var err error
		if ds, err = dr.q.takeBack(ctx); err != nil {
			return err
		}
	}
	for _, d := range dr.suspended {
		if !slices.ContainsFunc(ds, func(r decant.Decision) bool { return r.Revokes == d.ID }) {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the provider does not clear old results as asked"})
		}
	}
	return dr.add(ds)
}

// undoClearing returns those of the revocations of a pour that take back what the provider clears, if the pour
// was a clearing. That is legal at any time: what is sent does not change. The record stays where thinking may
// stand on it.
func (dr *draft) undoClearing(ds []decant.Decision) ([]decant.Decision, bool) {
	kinds := map[string]decant.DecisionKind{}
	for _, d := range dr.q.match.State.Decisions {
		kinds[d.ID] = d.Kind
	}
	clears := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Native }
	records := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Insert }
	if !slices.ContainsFunc(ds, clears) || slices.ContainsFunc(ds, func(d decant.Decision) bool { return !clears(d) && !records(d) }) {
		return nil, false
	}
	if dr.bound() {
		ds = slices.DeleteFunc(slices.Clone(ds), records)
	}
	return ds, true
}
