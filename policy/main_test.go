package policy_test

import (
	"os"
	"testing"

	"github.com/decantdev/decant/internal/testdepth"
)

func TestMain(m *testing.M) {
	testdepth.Checks(5, 100)
	os.Exit(m.Run())
}
