package engine

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant/budget"
)

// Budgeted reports whether the engine's budgets, or others that a request falls under, limit what it may spend, of
// clients that ask for no other mode.
func (e *Engine) Budgeted(others []budget.Budget) bool {
	return len(e.opts.Budgets)+len(others) > 0 && e.opts.Mode == Manage
}

// Weaker reports whether a mode does less than the one that the engine's options name.
func (e *Engine) Weaker(m Mode) bool {
	order := []Mode{Off, Observe, Manage}
	return m != "" && slices.Index(order, m) < slices.Index(order, e.opts.Mode)
}

// An UnmeteredError says that a budget applies to a request of which it cannot be said what it may cost.
type UnmeteredError struct{ Err error }

// Error says what is wrong with the request.
func (e *UnmeteredError) Error() string {
	return fmt.Sprintf("a budget applies, and the body cannot be read as a request for messages: %v", e.Err)
}

// Unwrap returns what is wrong with the request.
func (e *UnmeteredError) Unwrap() error { return e.Err }
