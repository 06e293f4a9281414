package engine

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/legal"
)

// Legal returns view with broken history mended, and what was mended. Where nothing breaks a rule it
// is view itself. A view that even then breaks a rule is an error that wraps decant.ErrIllegal and names
// every violation.
func Legal(view *decant.Conversation, rules legal.Rules) (*decant.Conversation, []decant.Decision, error) {
	if len(legal.Check(view, rules)) == 0 {
		return view, nil, nil
	}
	ms, repairs := legal.Repair(view.Messages)
	if len(repairs) > 0 {
		view = view.With(ms)
	}
	bad := legal.Check(view, rules)
	if len(bad) == 0 {
		return view, repairs, nil
	}
	err := error(bad[0])
	for _, v := range bad[1:] {
		err = fmt.Errorf("%w; %w", err, v)
	}
	return nil, nil, err
}
