package engine

import (
	"errors"
	"testing"

	"github.com/decantdev/decant"
)

// A route that is refused leaves nothing behind (house 3.3): neither decisions nor a thinking parameter,
// a beta or a plan. It is inside the package because no client sees the difference before the next route
// has been taken.
func TestARefusedRouteLeavesNothingBehind(t *testing.T) {
	for _, failing := range []bool{true, false} {
		a := halfMegabyte(t)
		l, err := LimitsFor(a.model, a.preset, a.fixed, 0)
		if err != nil {
			t.Fatal(err)
		}
		a.limits, a.report.Before = l, a.size(a.view)
		before, body := a.report, string(a.req.Body)
		err = a.attemptRoute(route{name: "refused", carry: func(a *attempt, _ int) error {
			a.params, a.betas = []byte(`{"type":"adaptive"}`), []string{bindingBeta}
			a.report.Plan, a.report.After = &decant.Plan{Reason: "refused"}, 1
			if failing {
				return errNoRoute
			}
			return a.add([]decant.Decision{{Kind: decant.Hold}}) // nothing smaller: check refuses it
		}}, 0, Necessary)
		if err == nil || failing && !errors.Is(err, errNoRoute) || !failing && !errors.Is(err, errPoor) {
			t.Fatalf("the route was taken: %v", err)
		}
		if a.params != nil || a.betas != nil || len(a.made) > 0 || a.report.Plan != before.Plan || a.report.After != before.After {
			t.Errorf("left behind: params %s, betas %q, %d decisions, report %+v", a.params, a.betas, len(a.made), a.report)
		}
		if out, err := a.render(); err != nil || string(out) != body {
			t.Errorf("the request is another one: %v", err)
		}
	}
}
