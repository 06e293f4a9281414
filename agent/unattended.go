package agent

import "context"

// Unattended returns what Options.Permit should be where nobody can be asked: what permit, or the tool where permit is nil, would ask about is
// denied. denied is told of the call and returns the reason that the model is given: what it can do instead.
func Unattended(permit func(context.Context, *Tool, *Call) Verdict, denied func(*Call) (reason string)) func(context.Context, *Tool, *Call) Verdict {
	return func(ctx context.Context, t *Tool, c *Call) Verdict {
		if v := permitted(ctx, permit, t, c); v.Kind != Ask {
			return v
		}
		return Verdict{Kind: Deny, Reason: denied(c)}
	}
}

// permitted says what is to be done about a call of a tool.
func permitted(ctx context.Context, permit func(context.Context, *Tool, *Call) Verdict, t *Tool, c *Call) Verdict {
	switch {
	case permit == nil && !t.Ask:
		return Verdict{Kind: Allow}
	case permit != nil:
		if v := permit(ctx, t, c); v.valid() {
			return v
		}
	}
	return Verdict{Kind: Ask} // also where permit says what cannot be understood
}
