package agent

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// The model pauses behind a summary, where the budget is looked at. An agent goes on from it, and where there is no
// room for that it gives its final answer; the history holds neither summary nor pause.
func TestAnAgentGoesOnBehindAPause(t *testing.T) {
	set, err := preset.Load("night-watch")
	if err != nil {
		t.Fatal(err)
	}
	for name, tokens := range map[string]int{"room": 2_000_000, "no room": 320_000} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(reader))
			s := w.agent(Options{
				Model: "claude-opus-4-6", Preset: set, Turns: 12, MaxTokens: 1000, MostResult: 100_000, Tools: []Tool{readsMuch(50_000)}, Budget: Budget{Tokens: tokens},
			}).Session("")
			all, o, err := finished(t, s.Run(t.Context(), "Find the cause."))
			if err != nil || !o.Forced || o.Text != `{"cause":"found"}` {
				t.Fatalf("outcome %+v, error %v", o, err)
			}
			used, compactions := 0, 0
			for _, e := range w.server.Log.Entries() {
				used += e.Usage.Context()
				compactions += e.Compactions
			}
			if compactions == 0 || used != o.Spent.Tokens() || used > tokens {
				t.Errorf("%d compactions; %d tokens used, %d in the outcome, of %d", compactions, used, o.Spent.Tokens(), tokens)
			}
			if want := map[string]Stop{"room": StopTurns, "no room": StopBudget}[name]; o.Stop != want || count(all, EventPour) == 0 {
				t.Errorf("stopped by %q with %d pours", o.Stop, count(all, EventPour))
			}
			for _, m := range s.Messages() {
				if strings.Contains(string(m), `"compaction"`) {
					t.Errorf("the history has the summary: %.200s", m)
				}
			}
			w.legal()
		})
	}
}
