package summarize_test

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// clerk answers as the sandbox's summariser does, without the network.
func clerk(ctx context.Context, _ int, r *provider.Request) (*provider.Answer, error) {
	p := &sandbox.Prompt{System: []string{r.System}, MaxTokens: r.MaxTokens, Messages: []sandbox.Message{{
		Role: decant.RoleUser, Blocks: []sandbox.Block{{Kind: decant.KindText, Text: r.Prompt}},
	}}}
	a, err := sandbox.Summarizer{}.Answer(ctx, p)
	if err != nil {
		return nil, err
	}
	text := ""
	for _, b := range a.Blocks {
		text += b.Text
	}
	return &provider.Answer{Text: text, Stop: "end_turn"}, nil
}

// Recorded sessions of real agents, by models with windows of all sizes: every call fits, nothing secret is in it, a model that
// quotes is believed, and the record is within its room.
func TestRecordedSessions(t *testing.T) {
	codex := testkit.Depth([]int{200_000}, []int{32_000, 200_000})
	for name, windows := range map[string][]int{recorded.Claude: {32_000}, recorded.Codex: codex} {
		ms := recorded.Session(t, name).Conversation.Messages
		for _, window := range windows {
			a := &script{answer: clerk}
			in := input(ms)
			in.MaxTokens = 3000
			out, err := smallWriter(t, a, window).Summarize(t.Context(), in)
			if err != nil {
				t.Fatalf("%s, window %d: %v after %d calls", name, window, err, len(a.asked))
			}
			model, _ := small(t, window).Lookup("small")
			for _, r := range a.asked {
				if n := token.For(model).Count(r.System + r.Prompt); n+r.MaxTokens > window {
					t.Errorf("%s, window %d: a call of %d tokens and %d more", name, window, n, r.MaxTokens)
				}
				if found := secret.Find(r.Prompt); len(found) > 0 {
					t.Errorf("%s, window %d: %v in a prompt", name, window, found)
				}
			}
			if len(a.asked) > 24 {
				t.Errorf("%s, window %d: %d calls", name, window, len(a.asked))
			}
			n := in.Counter.Count(out.Text)
			if n > in.MaxTokens || n < 100 {
				t.Errorf("%s, window %d: a record of %d tokens", name, window, n)
			}
			t.Logf("%s (%d messages), window %d: rung %s, %d calls, %d gaps, %d tokens, grounded %.2f",
				strings.TrimSuffix(name, ".jsonl.gz"), len(ms), window, out.Rung, len(a.asked), len(out.Gaps), n, recall.Of(t.Context(), ms, out.Text).Score)
		}
	}
}
