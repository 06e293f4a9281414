package investigate

import (
	"slices"
	"strings"
)

// A complexity is how hard an error is to explain, judged by its class.
type complexity string

// The complexities.
const (
	simple   complexity = "simple"
	moderate complexity = "moderate"
	hard     complexity = "complex"
)

// thinking returns how many tokens the model may think before its first answer; agent.Fading lowers that to a quarter.
func (c complexity) thinking() int {
	switch c {
	case simple:
		return 4_000
	case hard:
		return 12_000
	}
	return 8_000
}

// An effort is how much work an error is worth before anybody has looked at it.
type effort struct {
	iterations int // maximum answers of the model, including the final one
	complexity complexity
}

// The classes of the table. A simple class is a whole name; of the others a part of the name is enough.
var (
	simpleClasses  = []string{"NoMethodError", "NameError", "ArgumentError", "TypeError", "KeyError", "IndexError", "AttributeError"}
	authClasses    = []string{"NotAuthorizedError", "AuthenticationError", "Forbidden"}
	complexClasses = []string{"SystemStackError", "Timeout", "ConnectionError", "DeadlockDetected", "SegmentationFault", "NoMemoryError"}
)

// effortOf returns what an error of a class is worth. Simple classes come before those about permission, and these before
// complex ones. Any other class is worth ten answers.
func effortOf(class string) effort {
	has := func(part string) bool { return strings.Contains(class, part) }
	switch {
	case slices.Contains(simpleClasses, class):
		return effort{7, simple}
	case slices.ContainsFunc(authClasses, has):
		return effort{5, simple} // mostly found at once
	case slices.ContainsFunc(complexClasses, has):
		return effort{15, hard}
	}
	return effort{10, moderate}
}

// Iterations returns how many answers of the model an error of a class is worth.
func Iterations(class string) int { return effortOf(class).iterations }
