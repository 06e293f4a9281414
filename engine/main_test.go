package engine_test

import (
	"log"
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"

	"github.com/decantdev/decant/testing/testkit"
)

// A generated history opens databases and talks to a whole sandbox; a few of them for each invariant are
// what a run of all tests can afford.
func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		log.Fatal(gateway(path))
	}
	testkit.Checks(1, 20)
	debug.SetGCPercent(400) // most of what tests allocate is in use for the length of one request
	goleak.VerifyTestMain(m)
}
