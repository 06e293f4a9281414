package legal

import (
	"errors"

	"github.com/decantdev/decant"
)

// Mend returns view with broken history repaired, and the repairs. If nothing breaks a rule, it returns
// view itself. If a repaired view still breaks a rule, it returns an error that wraps decant.ErrIllegal
// and names every violation.
func Mend(view *decant.Conversation, rules Rules) (*decant.Conversation, []decant.Decision, error) {
	if len(Check(view, rules)) == 0 {
		return view, nil, nil
	}
	ms, repairs := Repair(rules.API, view.Messages)
	if rules.Claude {
		var adapted []decant.Decision
		ms, adapted = adapt(ms)
		repairs = append(repairs, adapted...)
	}
	if len(repairs) > 0 {
		view = view.With(ms)
	}
	bad := Check(view, rules)
	if len(bad) == 0 {
		return view, repairs, nil
	}
	errs := make([]error, len(bad))
	for i, v := range bad {
		errs[i] = v
	}
	return nil, nil, errors.Join(errs...)
}
