package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Thinking was left behind what a compaction had changed, and the client that went on from the file was
// refused. What is compacted is accepted by a provider that binds thinking, however much is left.
func TestACompactedConversationOfABoundModelIsAccepted(t *testing.T) {
	b := newBinder(t, engine.Options{Window: 1_000_000}, sandbox.Options{Window: 1_000_000})
	for range 30 {
		b.next()
	}
	b.says("Done.")
	b.user("And now the next one.")
	doc, err := wire.Parse(b.body())
	if err != nil {
		t.Fatal(err)
	}
	c := doc.Conversation
	dropped := 0
	for _, percent := range []int{10, 30, 50, 70, 90} {
		o := policy.PlanOptions{Model: binding(t), Preset: policyOf(t, "default"), KeepTurns: -1, Unbind: true}
		o.Target = token.For(o.Model).Messages(c.Messages) * percent / 100
		plan, err := policy.Plan(t.Context(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		view, err := plan.Apply(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range plan.Decisions {
			if d.Kind == decant.DropThinking {
				dropped++
			}
		}
		body, err := doc.Render(view)
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := b.post(&engine.Prepared{Body: body}); status != http.StatusOK {
			t.Errorf("at %d%%: %d %s", percent, status, answer)
		}
	}
	if dropped == 0 {
		t.Error("no thinking was dropped: nothing was tried")
	}
}

// What was exported after pours was refused, and nobody said which betas it needs.
func TestAnExportOfABoundModelIsAccepted(t *testing.T) {
	for _, route := range []string{"cleared by the provider", "fold"} {
		t.Run(route, func(t *testing.T) {
			b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
			if route == "fold" {
				b.tools = bashTool + "," + memoryTool // beside which nothing is cleared
			}
			b.until(route)
			for range 3 {
				b.next()
			}
			model := binding(t)
			tr, err := archive.ReadTranscript(t.Context(), b.store, store.Key{ID: b.last.Conversation}, store.Newest)
			if err != nil {
				t.Fatal(err)
			}
			said, err := tr.Unbound(model)
			if err != nil {
				t.Fatal(err)
			}
			if len(said.Messages) != len(tr.Conversation.Messages) {
				t.Errorf("%d messages of %d", len(said.Messages), len(tr.Conversation.Messages))
			}
			view, err := tr.View()
			if err != nil {
				t.Fatal(err)
			}
			plain, err := tr.PlainView(model)
			if err != nil {
				t.Fatal(err)
			}
			b.sandbox = newSandbox(sandbox.Options{Window: 1_000_000, Model: &sandbox.Rules{}}) // that all fits is not the question
			for what, write := range map[string]func() ([]byte, error){
				"all":        func() ([]byte, error) { return tr.Verbatim(said) },
				"view":       func() ([]byte, error) { return tr.Body(view) },
				"plain view": func() ([]byte, error) { body, err := tr.Verbatim(plain); return anthropic.Plain(body), err },
			} {
				body, err := write()
				if err != nil {
					t.Fatal(what, err)
				}
				betas := anthropic.BetasOf(body)
				if strings.HasPrefix(what, "plain") && betas != nil {
					t.Errorf("%s needs %q", what, betas)
				}
				b.betas = betas
				body = fmt.Appendf(body[:len(body)-2:len(body)-2], `,{"role":"user","content":"Go on."}]}`)
				if status, answer := b.post(&engine.Prepared{Body: body}); status != http.StatusOK {
					t.Errorf("%s: %d %s", what, status, answer)
				}
			}
		})
	}
}

// binding returns a model that binds its thinking.
func binding(t *testing.T) token.Model {
	t.Helper()
	m, _ := catalog().Lookup("claude-opus-5-5")
	return m
}
