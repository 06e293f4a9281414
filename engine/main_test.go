package engine_test

import (
	"flag"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// A generated history opens databases and talks to a whole sandbox; 10 of them for each invariant are
// what a run of all tests can afford, and -short makes a fifth of it. -rapid.checks asks for more.
func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		log.Fatal(gateway(path))
	}
	if err := flag.Set("rapid.checks", "10"); err != nil { // the command line is read later and wins
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}
