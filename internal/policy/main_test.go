package policy_test

import (
	"os"
	"testing"

	"github.com/decantdev/decant/testing/testkit"
)

func TestMain(m *testing.M) {
	testkit.Checks(5, 100)
	os.Exit(m.Run())
}
