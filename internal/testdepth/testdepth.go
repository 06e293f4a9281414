// Package testdepth says how deep tests go.
//
// Quick is the default: each property, table, golden file and scenario, with few draws, kills, schedules and sessions, so
// that the tests of a package take at most ten seconds of processor time. DECANT_FULL=1 asks for full: many of each. Both
// depths run the same tests; a test is left out of quick only where its subject is a quantity or another program.
package testdepth

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Variable is the name of the environment's variable that asks for full depth with the value 1.
const Variable = "DECANT_FULL"

// hidden reports whether the environment asked for full depth before Hide.
var hidden bool

// Hide takes the variable out of the environment, and keeps the depth. TestMain calls it where tests run the program or start it:
// the program refuses a setting that it does not know.
func Hide() {
	hidden = Full()
	os.Unsetenv(Variable)
}

// Full reports whether tests go to their full depth.
func Full() bool { return hidden || os.Getenv(Variable) == "1" }

// Of returns quick or full: how many, how large or which.
func Of[T any](quick, full T) T {
	if Full() {
		return full
	}
	return quick
}

// NeedFull skips a test at quick depth. It says what the test proves, so that a reader of the log knows what was left out.
func NeedFull(t testing.TB, proves string) {
	t.Helper()
	if !Full() {
		t.Skip("needs " + Variable + "=1: " + proves)
	}
}

// Checks sets how many examples rapid draws for each property of a package. TestMain calls it; -rapid.checks on the command
// line is read later and wins. It panics in a package that does not use rapid.
func Checks(quick, full int) {
	if err := flag.Set("rapid.checks", strconv.Itoa(Of(quick, full))); err != nil {
		panic(err)
	}
}
