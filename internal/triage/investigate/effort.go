package investigate

import (
	"slices"
	"strings"
)

// A Complexity is how hard an error is to find, so far as its class tells.
type Complexity string

// The complexities.
const (
	Simple   Complexity = "simple"
	Moderate Complexity = "moderate"
	Complex  Complexity = "complex"
)

// Thinking returns the tokens of thinking before the first answer about an error, which agent.Fading lets go down to a quarter. What is none
// of the complexities counts as Moderate.
func (c Complexity) Thinking() int {
	switch c {
	case Simple:
		return 4_000
	case Complex:
		return 12_000
	}
	return 8_000
}

// An Effort is what an error is worth.
type Effort struct {
	Iterations int // answers of the model at most, the final one included
	Complexity Complexity
}

// The classes of the table. Simple ones are whole names; of the others a part of the name is enough.
var (
	simple  = []string{"NoMethodError", "NameError", "ArgumentError", "TypeError", "KeyError", "IndexError", "AttributeError"}
	auth    = []string{"NotAuthorizedError", "AuthenticationError", "Forbidden"}
	complex = []string{"SystemStackError", "Timeout", "ConnectionError", "DeadlockDetected", "SegmentationFault", "NoMemoryError"}
	db      = []string{"ActiveRecord", "PG::", "Mysql2", "StatementInvalid"}
)

// EffortOf returns what an error of a class is worth: simple classes first, then those of leave to do something, complex ones, databases. A class
// that the table does not know, or none at all, is worth ten iterations.
func EffortOf(class string) Effort {
	has := func(part string) bool { return strings.Contains(class, part) }
	switch {
	case slices.Contains(simple, class):
		return Effort{7, Simple}
	case slices.ContainsFunc(auth, has):
		return Effort{5, Simple} // mostly found at once
	case slices.ContainsFunc(complex, has):
		return Effort{15, Complex}
	case slices.ContainsFunc(db, has):
		return Effort{10, Moderate}
	}
	return Effort{10, Moderate}
}
