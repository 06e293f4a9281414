package policy_test

import (
	"context"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
)

// Where nothing is cached, what could go a few rounds later goes at once.
func TestThinOfAColdCacheKeepsHalfTheRounds(t *testing.T) {
	c := reader(12)
	tt := thinning(t, "low")
	keep := tt.Preset.EarlyPours.Settled().Keep
	warm, spare := outlines(policy.PlanEarly(context.Background(), c, tt)), policy.MeasureEarly(c, tt)
	tt.Cold = true
	if cold := outlines(policy.PlanEarly(context.Background(), c, tt)); cold != warm+keep/2 {
		t.Errorf("%d results become outlines, %d where nothing is cached; want %d more", warm, cold, keep/2)
	}
	if more := policy.MeasureEarly(c, tt); more.Freed <= spare.Freed || more.Whole != spare.Whole {
		t.Errorf("what could go is %+v, and %+v where nothing is cached", spare, more)
	}
}

func outlines(ds []decant.Decision) (n int) {
	for i := range ds {
		if ds[i].Reduction == decant.ReductionOutline {
			n++
		}
	}
	return n
}
