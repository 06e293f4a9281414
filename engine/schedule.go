package engine

import "github.com/decantdev/decant/policy"

// situation describes the request as it stands after first sight.
func (p *pouring) situation() policy.Situation {
	s := policy.Situation{
		Limits: p.dr.q.limits, Tokens: p.dr.outcome.Before, Bytes: p.dr.bytes(), MaxBytes: p.dr.q.most, Economy: p.economy(),
	}
	if p.dr.q.match.State != nil {
		s.Hold = p.dr.onHold() || len(p.dr.suspended) > 0 && p.dr.q.asks() // it goes out whole for once
		s.Suppressed = p.dr.q.match.State.Head.Suppressed >= 2 && !p.dr.changedSince()
	}
	return s
}

// due returns why a pour would be due were the conversation neither on hold nor poured in vain before.
func (p *pouring) due() policy.Reason {
	s := p.situation()
	s.Hold, s.Suppressed = false, false
	return policy.Due(s)
}
