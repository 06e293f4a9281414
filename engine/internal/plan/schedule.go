package plan

import "github.com/decantdev/decant/policy"

// Pour is asked as any request is whether a pour is due.
var _ policy.Pourer = (*Pour)(nil)

// Situation describes the request as it stands after first sight.
func (p *Pour) Situation() policy.Situation {
	in := p.Draft.Input
	s := policy.Situation{Limits: p.Draft.Limits, Tokens: p.Draft.Outcome.Before, Bytes: p.Draft.Bytes(), MaxBytes: in.MaxBytes}
	if in.Match.State != nil {
		s.Hold = p.Draft.OnHold() || len(p.Draft.Suspended) > 0 && in.AsksForEditing() // it goes out whole for once
		s.Suppressed = in.Match.State.Head.Suppressed >= 2 && !p.Draft.ChangedSince()
	}
	s.Routine = hasRoutine(p)
	return s
}

// Due returns why a pour would be due were the conversation neither on hold nor poured in vain before.
func (p *Pour) Due() policy.Reason { return policy.Ask(free{p}) }

// A free pour is one of a conversation that nothing holds.
type free struct{ *Pour }

// Situation is that of the pour, without what holds it.
func (f free) Situation() policy.Situation {
	s := f.Pour.Situation()
	s.Hold, s.Suppressed = false, false
	return s
}
