package testkit

import "testing"

func TestDepths(t *testing.T) {
	for value, full := range map[string]bool{"": false, "0": false, "true": false, "1": true} {
		t.Setenv(Variable, value)
		want := 3
		if full {
			want = 30
		}
		if got := Depth(3, 30); Full() != full || got != want {
			t.Errorf("%s=%q: full %v, %d", Variable, value, Full(), got)
		}
		t.Run("Needs", func(t *testing.T) {
			defer func() {
				if t.Skipped() == full {
					t.Errorf("%s=%q: skipped %v", Variable, value, t.Skipped())
				}
			}()
			NeedFull(t, "nothing")
		})
	}
}
