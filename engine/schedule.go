package engine

import "github.com/decantdev/decant/policy"

// situation describes the request as it stands after first sight.
func (a *attempt) situation() policy.Situation {
	s := policy.Situation{
		Limits: a.limits, Tokens: a.report.Before, Bytes: a.bytes(), MaxBytes: a.most, Economy: a.economy(),
	}
	if a.State != nil {
		s.Hold = a.onHold() || len(a.suspended) > 0 && a.asks() // it goes out whole for once
		s.Suppressed = a.State.Head.Suppressed >= 2 && !a.changedSince()
	}
	return s
}

// bytes returns about how large the body will be. It is exact when nothing was decided.
func (a *attempt) bytes() int {
	n := len(a.req.Body)
	if n <= a.most || len(a.inForce)+len(a.made) == 0 {
		return n
	}
	body, err := a.render()
	if err != nil {
		return n
	}
	return len(body)
}

// changedSince reports whether the conversation is another one than when its last pours were not
// worth it: another model, other tools, or a twentieth of the window more of it.
func (a *attempt) changedSince() bool {
	h := &a.State.Head
	return h.Model != a.Conv.Model || h.Fixed != a.Conv.Fixed.Version ||
		a.meter.Poor == 0 || a.report.Before > a.meter.Poor+a.limits.Window/20
}
