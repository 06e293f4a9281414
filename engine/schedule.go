package engine

import "github.com/decantdev/decant/policy"

// situation describes the request as it stands after first sight.
func (dr *draft) situation() policy.Situation {
	s := policy.Situation{
		Limits: dr.limits, Tokens: dr.report.Before, Bytes: dr.bytes(), MaxBytes: dr.most, Economy: dr.economy(),
	}
	if dr.State != nil {
		s.Hold = dr.onHold() || len(dr.suspended) > 0 && dr.asks() // it goes out whole for once
		s.Suppressed = dr.State.Head.Suppressed >= 2 && !dr.changedSince()
	}
	return s
}

// bytes returns about how large the body will be. It is exact when nothing was decided.
func (dr *draft) bytes() int {
	n := len(dr.req.Body)
	if n <= dr.most || len(dr.inForce)+len(dr.made) == 0 {
		return n
	}
	body, err := dr.render()
	if err != nil {
		return n
	}
	return len(body)
}

// changedSince reports whether the conversation is another one than when its last pours were not
// worth it: another model, other tools, or a twentieth of the window more of it.
func (dr *draft) changedSince() bool {
	h := &dr.State.Head
	return h.Model != dr.Conv.Model || h.Fixed != dr.Conv.Fixed.Version ||
		dr.meter.Poor == 0 || dr.report.Before > dr.meter.Poor+dr.limits.Window/20
}
