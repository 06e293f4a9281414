package investigate

import (
	"testing"
)

// The table, with the order in which it asks.
func TestOf(t *testing.T) {
	simple, auth := effort{7, simple}, effort{5, simple}
	hard, other := effort{15, hard}, effort{10, moderate}
	for class, want := range map[string]effort{
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
		if got := effortOf(class); got != want {
			t.Errorf("%q is worth %+v, want %+v", class, got, want)
		}
	}
}

// The budgets.
func TestThinking(t *testing.T) {
	for c, want := range map[complexity]int{simple: 4000, moderate: 8000, hard: 12000, "": 8000, "odd": 8000} {
		if got := c.thinking(); got != want {
			t.Errorf("%q thinks %d tokens, want %d", c, got, want)
		}
	}
}
