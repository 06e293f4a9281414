package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/token"
)

// clearing returns what the request has to ask the provider for so that the model reads the view; nil when
// nothing, and false when it cannot be asked for.
func (a *attempt) clearing() (*anthropic.Clearing, bool) {
	native := decant.NativeIn(a.inForce, a.made)
	if native == nil {
		return nil, true
	}
	return anthropic.ClearingOf(a.view, native)
}

// sent returns what goes to the provider: the view with everything that the provider leaves out.
func (a *attempt) sent() (*decant.Conversation, error) {
	if decant.NativeIn(a.inForce, a.made) == nil {
		return a.view, nil
	}
	return decant.Replay(a.Conv, decant.Sent(slices.Concat(a.inForce, a.made)))
}

// withClearing returns a body that asks for the clearing of the view.
func (a *attempt) withClearing(body []byte) ([]byte, error) {
	c, ok := a.clearing()
	if !ok {
		return nil, errors.New("render: the provider cannot be asked to clear just what was decided")
	}
	if c == nil {
		return body, nil
	}
	return c.Ask(body)
}

// neededBetas returns the betas that the request needs beyond those that the client asks for.
func (a *attempt) neededBetas() []string {
	if c, _ := a.clearing(); c == nil {
		return a.betas
	}
	return append(a.betas[:len(a.betas):len(a.betas)], anthropic.EditingBeta)
}

// asks reports whether the client itself asks the provider to change the context in a way that leaves no room
// for a clearing of ours: for its own clearing, or for a compaction, which goes with no editing at all.
func (a *attempt) asks() bool {
	return a.cleared() || !a.r.Doc.Member("compaction").IsZero()
}

// editable reports whether the provider can be asked to clear old results of this conversation at all.
func (a *attempt) editable() bool {
	if a.model.Provider != token.Anthropic || !a.model.Editing || a.known.says(editingOf(a.model), a.e.opts.Now()) != "" {
		return false
	}
	var tools []byte
	if at := a.r.Doc.Member("tools"); !at.IsZero() {
		tools = at.Of(a.req.Body)
	}
	return a.r.Doc.Member("mcp_servers").IsZero() && anthropic.Editable(a.req.Body, tools) && !anthropic.Served(a.Conv)
}

// suspend takes native decisions out of the request where they cannot be carried out: it goes out whole.
func (a *attempt) suspend() error {
	native := decant.NativeIn(a.inForce)
	if native == nil {
		return nil
	}
	if _, ok := anthropic.ClearingOf(a.view, native); ok && !a.asks() && a.editable() {
		return nil
	}
	for _, d := range a.inForce {
		if d.Kind == decant.Native {
			a.suspended = append(a.suspended, d)
		}
	}
	a.inForce = decant.Sent(a.inForce)
	v, err := decant.Replay(a.Conv, a.inForce)
	if err != nil {
		return err
	}
	a.before, a.view = v, v
	return nil
}

// giveUpEditing takes native decisions back for good that cannot be carried out any longer, so that the next
// route finds the conversation as it is sent. Where a request only asks for something else it goes out whole,
// and the next one as before.
func (a *attempt) giveUpEditing(ctx context.Context) error {
	if a.asks() || len(a.suspended) == 0 {
		return nil
	}
	var ds []decant.Decision
	if a.demand.unedit {
		var err error
		if ds, err = a.takeBack(ctx); err != nil {
			return err
		}
	}
	for _, d := range a.suspended {
		if !slices.ContainsFunc(ds, func(r decant.Decision) bool { return r.Revokes == d.ID }) {
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the provider does not clear old results as asked"})
		}
	}
	return a.add(ds)
}

// undoClearing returns those of the revocations of a pour that take back what the provider clears, if the pour
// was a clearing. That is legal at any time: what is sent does not change. The record stays where thinking may
// stand on it.
func (a *attempt) undoClearing(ds []decant.Decision) ([]decant.Decision, bool) {
	kinds := map[string]decant.DecisionKind{}
	for _, d := range a.State.Decisions {
		kinds[d.ID] = d.Kind
	}
	clears := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Native }
	records := func(d decant.Decision) bool { return kinds[d.Revokes] == decant.Insert }
	if !slices.ContainsFunc(ds, clears) || slices.ContainsFunc(ds, func(d decant.Decision) bool { return !clears(d) && !records(d) }) {
		return nil, false
	}
	if a.bound() {
		ds = slices.DeleteFunc(slices.Clone(ds), records)
	}
	return ds, true
}
