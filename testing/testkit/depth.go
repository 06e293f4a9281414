package testkit

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Variable is the name of the environment's variable that asks for full depth with the value 1.
const Variable = "DECANT_FULL"

// hidden reports whether the environment asked for full depth before HideDepth.
var hidden bool

// HideDepth takes the variable out of the environment, and keeps the depth. TestMain calls it where tests run the program or start it:
// the program refuses a setting that it does not know.
func HideDepth() {
	hidden = Full()
	os.Unsetenv(Variable)
}

// Full reports whether tests go to their full depth.
func Full() bool { return hidden || os.Getenv(Variable) == "1" }

// Depth returns quick or full: how many, how large or which.
func Depth[T any](quick, full T) T {
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
	if err := flag.Set("rapid.checks", strconv.Itoa(Depth(quick, full))); err != nil {
		panic(err)
	}
}
