package engine_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

const atAPause = "compacted at a pause"

// newPausing returns a client by the preset night-watch, whose sender goes on behind a pause.
func newPausing(t *testing.T, prune preset.Prune, o engine.Options, s sandbox.Options) *dialogue {
	p := *policyOf(t, "night-watch")
	p.Prune = prune
	o.Preset, o.Window = &p, 200_000
	k := newDialogue(t, o)
	if s.Model == nil {
		s.Model = &actor{}
	}
	s.Window, s.Counter = 200_000, token.For(lookup("claude-opus-4-6")) // the provider counts as the engine estimates
	k.sandbox, k.model, k.pauses = newSandbox(s), "claude-opus-4-6", true
	return k
}

const editsOfTheSeed = `"context_management":{"edits":[` +
	`{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}},` +
	`{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000},"keep":{"type":"tool_uses","value":4},"clear_at_least":{"type":"input_tokens","value":5000}},` +
	`{"type":"compact_20260112","trigger":{"type":"input_tokens","value":50000},"instructions":"Preserve: error class, transaction name, file paths examined, code patterns found, root cause hypotheses, and tool call results that revealed important information. Discard: redundant file listings, failed search attempts, and intermediate reasoning that led to dead ends.","pause_after_compaction":true}` +
	`]}`

// With prune: every_request each request has the preset's edits to the letter, and their
// betas. By default they are sent only when a stage is due, and where a client has edits of its own it keeps these alone.
func TestTheEditsOfTheSeed(t *testing.T) {
	const theirs = `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`
	for _, tt := range []struct {
		name, model, extra string
		prune              preset.Prune
		route, want        string
		betas              string
	}{
		{"the letter", "claude-opus-4-6", `"thinking":{"type":"adaptive"},`, preset.PruneEveryRequest, "", editsOfTheSeed, "context-management-2025-06-27 compact-2026-01-12"},
		{"no thinking", "claude-opus-4-6", "", preset.PruneEveryRequest, "", strings.Replace(editsOfTheSeed, `{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}},`, "", 1), "context-management-2025-06-27 compact-2026-01-12"},
		{"a model that cannot compact", "claude-sonnet-4-5", "", preset.PruneEveryRequest, "", `"clear_at_least":{"type":"input_tokens","value":5000}}]}`, "context-management-2025-06-27"},
		{"at pours", "claude-opus-4-6", "", preset.PruneAtPours, "", "", ""},
		{"by Decant", "claude-opus-4-6", "", preset.PruneEveryRequest, preset.RouteLocal, "", ""},
		{"the client's own", "claude-opus-4-6", theirs + ",", preset.PruneEveryRequest, "", theirs, ""},
		{"the client's thinking", "claude-opus-4-6", `"thinking":{"type":"adaptive"},"context_management":{"edits":[` + keepAll + `]},`, preset.PruneEveryRequest, "", `{"edits":[` + keepAll + `,{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000}`, "context-management-2025-06-27 compact-2026-01-12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newPausing(t, tt.prune, engine.Options{}, sandbox.Options{})
			p := *policyOf(t, "night-watch")
			p.Prune, p.Native.Route = tt.prune, tt.route
			k.start(engine.Options{Preset: &p, Window: 200_000})
			k.model, k.extra = tt.model, tt.extra
			if tt.name == "the client's own" || tt.name == "the client's thinking" {
				k.betas = []string{editing}
			}
			k.user("Why does OrdersController fail?")
			k.mustSend()
			body := string(k.last.Body)
			if got := strings.Join(k.last.Betas, " "); got != tt.betas || !strings.Contains(body, tt.want) || tt.want == "" && strings.Contains(body, "context_management") || tt.want == theirs && strings.Contains(body, "compact_20260112") {
				t.Errorf("betas %q in\n%s", got, body)
			}
		})
	}
}

// investigate works until the second stage was made, with more of the work behind it, and returns the report on it.
func investigate(k *dialogue, more int) engine.Report {
	k.Helper()
	k.user("Why does OrdersController fail? Never restart the service billing-api.")
	for n := 1; n <= 16; n++ {
		k.round(n, bulky(fmt.Sprintf("call_%d", n), 15_000))
		k.mustSend()
		if r := k.last.Report; r.Reason == policy.Necessary {
			for m := range more {
				k.round(100+m, output(fmt.Sprintf("call_%d", 100+m), 20))
				k.mustSend()
			}
			return r
		}
	}
	k.Fatal("no second stage")
	return engine.Report{}
}

// The block stands first from then on, in the same bytes, with its beta; what it covers is archived, its facts
// are proved and it can be read; an undo sends the originals again, a restart the same bytes, and an export has what it takes.
func TestAPauseIsAPour(t *testing.T) {
	k := newPausing(t, preset.PruneAtPours, engine.Options{}, sandbox.Options{})
	r := investigate(k, 0)
	cp := decant.CheckpointIn(k.state().Decisions)
	if r.Route != atAPause || cp == nil || cp.Rung != decant.RungNative || cp.From != 1 || cp.CostUSD <= 0 || len(cp.Facts) == 0 || r.After >= r.Before {
		t.Fatalf("%s by %q, %d tokens became %d: %+v", r.Reason, r.Route, r.Before, r.After, cp)
	}
	if ms := k.last.View().Messages; len(ms) != 5 || !strings.Contains(string(k.last.Body), "Never restart the service billing-api") {
		t.Errorf("%d messages stay", len(ms))
	}
	for n := range 2 {
		k.round(50+n, "Nothing new.")
		k.mustSend()
		body := string(k.last.Body)
		if !strings.Contains(body, `"messages":[{"role":"assistant","content":[`+cp.Source+`]}`) || !strings.Contains(strings.Join(k.last.Betas, " "), "compact-2026-01-12") || k.last.Report.Reason != "" {
			t.Fatalf("later request %d (%s), betas %v:\n%.300s", n, k.last.Report.Reason, k.last.Betas, body)
		}
	}
	before := string(k.prepare().Body)
	p := *policyOf(t, "night-watch")
	k.start(engine.Options{Preset: &p, Window: 200_000})
	if string(k.prepare().Body) != before {
		t.Error("after a restart other bytes are sent")
	}
	k.pauses = false // another sender, which would not go on: the block is sent with a rule that never applies
	if body := string(k.prepare().Body); !strings.Contains(body, cp.Source) || !strings.Contains(body, `"trigger":{"type":"input_tokens","value":200000}`) {
		t.Errorf("without anybody who goes on:\n%.300s\n%.300s", body, body[len(body)-300:])
	}
	k.mustSend()
	exported(t, k)
	undone(t, k)
	if refused := k.sandbox.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
}

// exported checks that the view can be sent by others, and read.
func exported(t *testing.T, k *dialogue) {
	t.Helper()
	k.engine.Close()
	tr, err := archive.ReadTranscript(t.Context(), k.store, store.Key{ID: k.last.Conversation}, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	view, err := tr.View()
	if err != nil {
		t.Fatal(err)
	}
	body, err := tr.Body(view)
	if err == nil {
		body, err = anthropic.AppendTurn(body, "Go on.")
	}
	if err != nil {
		t.Fatal(err)
	}
	own := *k
	own.betas = anthropic.BetasOf(body)
	if status, answer := own.post(&engine.Prepared{Body: body}); status != http.StatusOK {
		t.Errorf("the export is refused: %s", answer)
	}
	if c, err := archive.ReadableView(tr); err != nil || c.Has(decant.KindOpaque) || !strings.Contains(wire.Text(c), "OrdersController") {
		t.Errorf("what can be read of it: %v\n%.300s", err, wire.Text(c))
	}
}

// undone takes the pour back, and checks that the originals are sent again.
func undone(t *testing.T, k *dialogue) {
	t.Helper()
	c, err := k.engine.Undo(t.Context(), store.Key{ID: k.last.Conversation})
	if err == nil {
		err = k.engine.Apply(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.says("That was all.")
	k.user("Thank you.")
	k.mustSend()
	if strings.Contains(string(k.last.Body), `"compaction"`) {
		t.Errorf("after the undo:\n%.300s", k.last.Body)
	}
}

// At the pause the budget is looked at, and the model is asked once to come to an end.
func TestTheBudgetAtAPause(t *testing.T) {
	for _, limit := range []int{10_000_000, 198_000} {
		k := newPausing(t, preset.PruneEveryRequest, engine.Options{Budgets: []budget.Budget{{Tokens: limit, Per: "day"}}, Logger: slog.New(slog.DiscardHandler)}, sandbox.Options{})
		r := investigate(k, 0)
		const words = "Token budget reached. Provide your best analysis now with what you've found."
		if n := strings.Count(string(k.last.Body), words); r.Route != atAPause || n > 1 || n == 1 != (limit == 198_000) {
			t.Errorf("limit %d: by %q, asked %d times to come to an end", limit, r.Route, n)
		}
	}
}

// A summary that the model has not written costs what it has cost, and the conversation is poured without it; so it is where the
// provider does not take rules, and then it is not given any for a week.
func TestAPauseWithoutASummary(t *testing.T) {
	var said []string
	logger := testkit.Log(func(level slog.Level, line string) {
		if said = append(said, line); level >= slog.LevelError {
			t.Errorf("logged: %s", line)
		}
	})
	k := newPausing(t, preset.PruneAtPours, engine.Options{Logger: logger},
		sandbox.Options{Summarizer: sandbox.Misbehave{As: sandbox.MisbehaveRefusal, Model: sandbox.Summarizer{}}})
	r := investigate(k, 1)
	if r.Route != "edit" || strings.Contains(string(k.last.Body), `"compaction"`) || len(said) != 1 || !strings.Contains(said[0], "without a summary") {
		t.Errorf("by %q, said %q", r.Route, said)
	}
	checkBooked(t, k)

	said = nil
	k = newPausing(t, preset.PruneEveryRequest, engine.Options{Logger: logger}, sandbox.Options{})
	k.model = "claude-opus-4-6"
	k.refuses = "compact_20260112"
	r = investigate(k, 2)
	if r.Route != "edit" || len(said) > 2 || !strings.Contains(said[0], "does not take rules") {
		t.Errorf("by %q, said %q", r.Route, said)
	}
}

// checkBooked compares what is booked with what the provider has counted.
func checkBooked(t *testing.T, k *dialogue) {
	t.Helper()
	k.engine.Close()
	var total, booked decant.Usage
	for _, e := range k.sandbox.Log.Entries() {
		total = total.Add(e.Usage)
	}
	spent, err := k.store.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range spent {
		booked = booked.Add(x.Usage)
	}
	if booked.Context() != total.Context() {
		t.Errorf("booked %+v, the provider has counted %+v", booked, total)
	}
}

// A model that the catalogue does not know is what its provider says: its window, and that it compacts at a threshold.
func TestAModelIsWhatItsProviderSays(t *testing.T) {
	p := *policyOf(t, "night-watch")
	p.Prune = preset.PruneEveryRequest
	k := newDialogue(t, engine.Options{})
	e, err := engine.New(k.store, engine.Options{Preset: &p, Models: engine.Models{Facts: func(upstream, model string) (token.Facts, bool) {
		return token.Facts{ID: model, Window: 3_000_000, Editing: token.Can, Threshold: token.Can}, upstream == "https://provider"
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	k.model = "claude-opus-9"
	k.user("Hello.")
	for upstream, want := range map[string]int{"https://provider": 3_000_000, "https://elsewhere": token.DefaultWindow} {
		p, err := e.Prepare(t.Context(), &engine.Request{Session: upstream, Upstream: upstream, Body: k.body(), Pauses: true})
		if err != nil || p.Report.Window != want || strings.Contains(string(p.Body), "compact_20260112") != (want == 3_000_000) {
			t.Errorf("%s: a window of %d, %v\n%s", upstream, p.Report.Window, err, p.Body)
		}
	}
}
