package testkit_test

import (
	"testing"

	"github.com/decantdev/decant/testing/testkit"
)

// verdict is a test that may fail without failing the test that looks on.
type verdict struct {
	testing.TB
	failed bool
}

func (v *verdict) Errorf(string, ...any) { v.failed = true }
func (v *verdict) Helper()               {}

func TestLinearTellsASquare(t *testing.T) {
	sum := 0
	for _, c := range []struct {
		name   string
		steps  func(n int) int
		square bool
	}{
		{"each once", func(n int) int { return 1000 * n }, false},
		{"each with each", func(n int) int { return 10 * n * n }, true},
	} {
		var v verdict
		testkit.Linear(&v, 50, func(n int) func() {
			return func() {
				for i := range c.steps(n) {
					sum += i ^ sum
				}
			}
		})
		if v.failed != c.square {
			t.Errorf("%s: failed %t, want %t", c.name, v.failed, c.square)
		}
	}
}
