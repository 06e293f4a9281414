package investigate_test

import (
	"testing"

	"github.com/decantdev/decant/internal/triage/investigate"
)

// The table, with the order in which it asks.
func TestOf(t *testing.T) {
	simple, auth := investigate.Effort{7, investigate.Simple}, investigate.Effort{5, investigate.Simple}
	hard, other := investigate.Effort{15, investigate.Complex}, investigate.Effort{10, investigate.Moderate}
	for class, want := range map[string]investigate.Effort{
		"NoMethodError": simple, "NameError": simple, "ArgumentError": simple, "TypeError": simple,
		"KeyError": simple, "IndexError": simple, "AttributeError": simple,

		"NotAuthorizedError": auth, "AuthenticationError": auth, "Forbidden": auth,
		"Pundit::NotAuthorizedError": auth, "ActionController::Forbidden": auth,

		"SystemStackError": hard, "Timeout": hard, "ConnectionError": hard, "DeadlockDetected": hard,
		"SegmentationFault": hard, "NoMemoryError": hard, "Net::ReadTimeout": hard,

		"ActiveRecord::RecordNotFound": other, "PG::UniqueViolation": other, "Mysql2::Error": other, "StatementInvalid": other,
		"": other, "Whatever": other, "nomethoderror": other,

		"My::NoMethodError":             other, // a simple class is a whole name
		"ForbiddenTimeout":              auth,  // leave comes before what is complex
		"ActiveRecord::ConnectionError": hard,  // and what is complex before databases
		"PG::DeadlockDetected":          hard,
	} {
		if got := investigate.EffortOf(class); got != want {
			t.Errorf("%q is worth %+v, want %+v", class, got, want)
		}
	}
}

// The budgets.
func TestThinking(t *testing.T) {
	for c, want := range map[investigate.Complexity]int{investigate.Simple: 4000, investigate.Moderate: 8000, investigate.Complex: 12000, "": 8000, "odd": 8000} {
		if got := c.Thinking(); got != want {
			t.Errorf("%q thinks %d tokens, want %d", c, got, want)
		}
	}
}
