package engine

import "github.com/decantdev/decant/policy"

// situation describes the request as it stands after first sight.
func (dr *draft) situation() policy.Situation {
	s := policy.Situation{
		Limits: dr.q.limits, Tokens: dr.report.Before, Bytes: dr.bytes(), MaxBytes: dr.q.most, Economy: dr.economy(),
	}
	if dr.q.match.State != nil {
		s.Hold = dr.onHold() || len(dr.suspended) > 0 && dr.q.asks() // it goes out whole for once
		s.Suppressed = dr.q.match.State.Head.Suppressed >= 2 && !dr.changedSince()
	}
	return s
}

// bytes returns about how large the body will be. It is exact when nothing was decided.
func (dr *draft) bytes() int {
	n := len(dr.q.req.Body)
	if n <= dr.q.most || len(dr.inForce)+len(dr.made) == 0 {
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
	h := &dr.q.match.State.Head
	return h.Model != dr.q.refs.Conv.Model || h.Fixed != dr.q.refs.Conv.Fixed.Version ||
		dr.meter.Poor == 0 || dr.report.Before > dr.meter.Poor+dr.q.limits.Window/20
}
