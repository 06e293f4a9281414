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
	out := dr.Betas[:len(dr.Betas):len(dr.Betas)]
	if c, _ := dr.Clearing(); c != nil && c.Beta() != "" {
		out = append(out, c.Beta())
	}
	if d, ok := dr.Query.Request.Prompt.Dialect.(dialect.Compacter); ok && dialect.Summarised(dr.View) {
		out = append(out, d.CompactionBeta())
	}
	return out
}

// suspend takes decisions out of the request that the provider cannot carry out in it, or whose summary it would refuse:
// it goes out whole.
func (dr *Draft) suspend() error {
	q := dr.Query
	native, summarised := decant.NativeIn(dr.InForce), dialect.Summarised(dr.View)
	if native == nil && !summarised {
		return nil
	}
	if native != nil {
		_, ok := q.clearingBy(dr.View, native)
		if ok = ok && !q.AsksForEditing() && q.Editable(); ok {
			native = nil
		}
	}
	summarised = summarised && !q.Compactable()
	if native == nil && !summarised {
		return nil
	}
	var stay []decant.Decision
	for _, d := range dr.InForce {
		if d.Kind == decant.Native && native != nil || d.Checkpoint.Foreign() && summarised {
			dr.Suspended = append(dr.Suspended, d)
		} else {
			stay = append(stay, d)
		}
	}
	dr.InForce = stay
	v, err := decant.Replay(q.Refs.Conv, dr.InForce)
	if err != nil {
		return err
	}
	dr.Before, dr.View = v, v
	return nil
}
