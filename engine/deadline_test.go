package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Work for a client that has left ends, and leaves nothing behind.
func TestWorkEndsWithTheClient(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Count the ships.")
	for n := 1; n <= 30; n++ {
		k.round(n, pages(fmt.Sprint("page ", n), 8000))
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	p, err := k.engine.Prepare(ctx, &engine.Request{Session: k.session, Body: k.body()})
	if err == nil && !errors.Is(p.Fault, context.Canceled) {
		t.Errorf("fault %v, want that the client has left", p.Fault)
	}
	if p != nil && len(p.Report.Decisions) > 0 {
		t.Errorf("%d decisions for a client that has left", len(p.Report.Decisions))
	}
	k.mustSend() // it comes back
	if k.last.Report.Route == "" {
		t.Error("no pour")
	}
}

// hostile are texts that are about as much work as a text can be, by the line.
var hostile = map[string]string{
	"names":      "/a/b%d.go:7 error E%[1]d\n",
	"one line":   "/a/b%d.go:7 error E%[1]d ",
	"numbers":    "%d\n",
	"rules":      "You must always check file%d before you never skip it.\n",
	"open items": "- [ ] TODO: fix the broken thing number %d next\n",
	"errors":     "Error: cannot find module thing%d\n",
	"orders":     "Follow the rules in guide%d.md. ",
}

// longText returns a conversation in which the user, or a tool, says so many bytes of a text.
func longText(tb testing.TB, form, who string, size int) *decant.Conversation {
	tb.Helper()
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, form, i)
	}
	k := dialogue{TB: tb, model: "claude-sonnet-4-5"}
	if who == "user" {
		k.user(b.String())
	} else {
		k.user("Look at it.")
		k.round(1, b.String())
	}
	k.says("I see.")
	k.user("Go on.")
	doc, err := wire.Parse(k.body())
	if err != nil {
		tb.Fatal(err)
	}
	return doc.Conversation
}

// Everything that goes over texts ends when nobody waits for it any more.
func TestScansEnd(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	c := longText(t, hostile["names"], "user", 1<<16)
	if fs := fact.Extract(ctx, c.Messages); len(fs) > 0 {
		t.Errorf("%d facts", len(fs))
	}
	if fs := fact.Follow(ctx, c.Messages, nil); len(fs) > 0 {
		t.Errorf("%d files are followed", len(fs))
	}
	if _, err := summary.Extract(ctx, c.Messages, summary.Options{Budget: 1000}); !errors.Is(err, context.Canceled) {
		t.Errorf("summary: %v", err)
	}
	o := policy.PlanOptions{Preset: oneSize(), Target: 4000, KeepTurns: -1}
	if _, err := policy.Plan(ctx, c, o); !errors.Is(err, context.Canceled) {
		t.Errorf("plan: %v", err)
	}
}

// BenchmarkHostile plans for texts that are as much work as a text can be: twice the text may take twice the
// time. The floor is one count of the tokens.
func BenchmarkHostile(b *testing.B) {
	for name, form := range hostile {
		for _, who := range []string{"user", "tool"} {
			for _, kb := range []int{512, 1024, 2048} {
				c := longText(b, form, who, kb<<10)
				o := policy.PlanOptions{Preset: oneSize(), Target: 80_000, KeepTurns: -1, Estimator: token.For(token.Model{})}
				b.Run(fmt.Sprintf("%s/%s/%dKB", name, who, kb), func(b *testing.B) {
					b.SetBytes(int64(kb) << 10)
					for b.Loop() {
						if _, err := policy.Plan(b.Context(), c, o); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
