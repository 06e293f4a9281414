package engine

import (
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
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
