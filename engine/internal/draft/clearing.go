package draft

import (
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
)

// Clearing returns what the request has to ask the provider for so that the model reads the view; nil when
// nothing, and false when it cannot be asked for.
func (dr *Draft) Clearing() (dialect.ProviderClearing, bool) {
	native := decant.NativeIn(dr.InForce, dr.Made)
	if native == nil {
		return nil, true
	}
	return dr.Query.clearingBy(dr.View, native)
}

// Sent returns what goes to the provider: the view with everything that the provider leaves out.
func (dr *Draft) Sent() (*decant.Conversation, error) {
	if decant.NativeIn(dr.InForce, dr.Made) == nil {
		return dr.View, nil
	}
	return decant.Replay(dr.Query.Refs.Conv, decant.Sent(slices.Concat(dr.InForce, dr.Made)))
}

// withClearing returns a body that asks for the clearing of the view.
func (dr *Draft) withClearing(body []byte) ([]byte, error) {
	c, ok := dr.Clearing()
	if !ok {
		return nil, errors.New("render: the provider cannot be asked to clear just what was decided")
	}
	if c == nil {
		return body, nil
	}
	return c.Ask(body)
}

// NeededBetas returns the betas that the request needs beyond those that the client asks for.
func (dr *Draft) NeededBetas() []string {
	c, _ := dr.Clearing()
	if c == nil || c.Beta() == "" {
		return dr.Betas
	}
	return append(dr.Betas[:len(dr.Betas):len(dr.Betas)], c.Beta())
}

// suspend takes native decisions out of the request where they cannot be carried out: it goes out whole.
func (dr *Draft) suspend() error {
	q := dr.Query
	native := decant.NativeIn(dr.InForce)
	if native == nil {
		return nil
	}
	if _, ok := q.clearingBy(dr.View, native); ok && !q.AsksForEditing() && q.Editable() {
		return nil
	}
	for _, d := range dr.InForce {
		if d.Kind == decant.Native {
			dr.Suspended = append(dr.Suspended, d)
		}
	}
	dr.InForce = decant.Sent(dr.InForce)
	v, err := decant.Replay(q.Refs.Conv, dr.InForce)
	if err != nil {
		return err
	}
	dr.Before, dr.View = v, v
	return nil
}
