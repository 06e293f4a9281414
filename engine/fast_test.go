package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// Answers are archived behind the requests. A client that does not think in between, of whose text the
// estimate is a third of the truth, is metered by what the provider reported all the same.
func TestRequestsInARowFitTheWindow(t *testing.T) {
	const window = 7_000
	db := emptyStore(t)
	e, err := engine.New(db, engine.Options{Window: window, Preset: small(), Logger: testkit.StrictLog(t), Timeouts: sandboxtest.Patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	var ms strings.Builder
	pours := 0
	for n := range testkit.Depth(25, 60) {
		if n > 0 {
			fmt.Fprintf(&ms, `,{"role":"assistant","content":"Done, %d."},`, n)
		}
		fmt.Fprintf(&ms, `{"role":"user","content":"Step %d. %s"}`, n, strings.Repeat("x y z ", 170))
		p, err := e.Prepare(t.Context(), &engine.Request{Body: []byte(`{"model":"claude-sonnet-4-6","max_tokens":1000,"messages":[` + ms.String() + `]}`)})
		if err != nil || p.Fault != nil {
			t.Fatal(err, p)
		}
		tokens := len(p.Body) / 3
		if tokens > window {
			t.Fatalf("request %d has %d tokens, the window is %d", n, tokens, window)
		}
		if p.Report.Reason != "" {
			pours++
		}
		e.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: tokens, Output: 10}})
	}
	if pours == 0 {
		t.Error("there was no pour")
	}
}
