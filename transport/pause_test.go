package transport

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// watched returns the preset night-watch, pruning as said.
func watched(t *testing.T, p preset.Prune) *preset.Preset {
	t.Helper()
	set, err := preset.Load("night-watch")
	if err != nil {
		t.Fatal(err)
	}
	out := *set
	out.Prune = p
	out.Summary.Ahead = testkit.Depth(-1, set.Summary.Ahead) // quick plans nothing ahead, which takes most of the time
	return &out
}

// state returns the world's only conversation.
func (w *world) state(t *testing.T) *store.State {
	t.Helper()
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 1 {
		t.Fatalf("%d conversations, %v", len(cs), err)
	}
	s, err := w.store.Load(t.Context(), cs[0].Key, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wordy is listing, where most of what is read says little.
func wordy(kb int) func(int) string {
	plain := strings.Repeat(" and the words go on", 20)
	return func(n int) string {
		var s strings.Builder
		for i := 0; s.Len() < kb<<10; i++ {
			fmt.Fprintf(&s, "step %d line %d value_%d_%d = compute(alpha, beta_%d)%s\n", n, i, n, i, i, plain)
		}
		return s.String()
	}
}

// Where the model can, the preset's second stage is the provider's compaction at a threshold, in the client's
// own request, with a pause behind it; where it cannot, Decant does the same. The client sees neither the
// block nor the pause, the block comes back byte for byte, nothing is refused, and all passes are in the
// ledger.
func TestThresholdCompactionIsTheGateways(t *testing.T) {
	output := testkit.Depth(wordy, listing)
	for _, c := range []struct {
		name     string
		model    string
		thinking anthropic.ThinkingConfigParamUnion
		calls    int // in a turn
		large    int // kilobytes of what the user says
		native   bool
	}{
		{"OpenRound", "claude-opus-4-6", adaptive(), 1000, 0, true},
		{"Turns", "claude-opus-4-6", off(), 2, 0, true},
		{"BoundTurns", "claude-opus-5-5", adaptive(), 1, 60, true},
		{"BoundOpenRound", "claude-opus-5-5", adaptive(), 1000, 0, false},
		{"ModelThatCannot", "claude-sonnet-4-5", off(), 1000, 0, false},
	} {
		for _, stream := range []bool{false, true} {
			for _, prune := range []preset.Prune{preset.PruneAtPours, preset.PruneEveryRequest} {
				if !testkit.Full() && stream != (prune == preset.PruneEveryRequest) {
					continue // quick has each with the one or the other
				}
				t.Run(fmt.Sprintf("%s/Stream=%t/%s", c.name, stream, prune), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, sandbox.Options{Window: 200_000, Model: &sandbox.Rules{Calls: c.calls, Thought: 200}},
						engine.Options{Window: 200_000, Preset: watched(t, prune), ArchiveDelay: -1})
					a := newAgent(w.sdk(option.WithHeader("X-Decant-Session", "s")), c.model, c.thinking)
					a.stream, a.output = stream, output(45)
					if c.large > 0 {
						a.output = output(1)
					}
					calls := testkit.Depth(7, 10)
					for n := 0; a.calls < calls; n++ {
						if err := a.say(t.Context(), fmt.Sprintf("Do part %d of the work.\n", n+1)+output(c.large)(n), calls-a.calls); err != nil {
							t.Fatal(err)
						}
					}
					for _, e := range w.sandbox.Log.Refused() {
						t.Errorf("request %d refused: %s", e.Number, e.Error)
					}
					checkPauses(t, w, a, c.native)
				})
			}
		}
	}
}

func checkPauses(t *testing.T, w *world, a *agent, native bool) {
	t.Helper()
	for _, m := range a.params.Messages {
		for _, b := range m.Content {
			if b.GetType() != nil && *b.GetType() == "compaction" {
				t.Error("the client has seen a compaction block")
			}
		}
	}
	s := w.state(t)
	var total decant.Usage
	compactions := 0
	for _, e := range w.sandbox.Log.Entries() {
		total = total.Add(e.Usage)
		compactions += e.Compactions
	}
	spent, err := w.store.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var booked decant.Usage
	for _, x := range spent {
		booked = booked.Add(x.Usage)
	}
	if booked.Context() != total.Context() {
		t.Errorf("booked %+v, the provider has counted %+v", booked, total)
	}
	if !native {
		if compactions > 0 {
			t.Errorf("%d compactions by the provider", compactions)
		}
		return
	}
	if compactions == 0 {
		t.Fatal("the provider has compacted nothing")
	}
	cp := decant.CheckpointIn(s.Decisions)
	if cp == nil || cp.Rung != decant.RungNative || !strings.HasPrefix(cp.Source, `{"type":"compaction","content":"`) || strings.Contains(cp.Source, "signature") || cp.Summary == "" || cp.CostUSD <= 0 || cp.Facts == nil {
		t.Fatalf("the checkpoint is %+v", cp)
	}
}

// A summary that breaks off, and a request that fails behind a pause: the client gets an answer or an error
// of the API, never the summary or a part of it, and what was paid is booked.
func TestPausesThatFail(t *testing.T) {
	const (
		block  = `{"type":"compaction","content":"Half is done."}`
		usage  = `"usage":{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":60000,"output_tokens":300}]}`
		answer = `{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":20000,"output_tokens":2}}`
		begun  = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\nevent: content_block_start\ndata: {\"index\":0,\"content_block\":{\"type\":\"compaction\",\"content\":null}}\n\n"
	)
	large := `{"model":"claude-opus-4-6","max_tokens":100,"messages":[{"role":"user","content":"` + strings.Repeat("All of the work. ", 15_000) + `"},{"role":"assistant","content":"Yes."}` + strings.Repeat(`,{"role":"user","content":"Go on."},{"role":"assistant","content":"Yes."}`, 3) + `,{"role":"user","content":"Go on."}]}`
	for name, c := range map[string]struct {
		first, then *http.Response
		status      int
		booked      int // tokens
	}{
		"whole":      {response(200, "application/json", `{"content":[`+block+`],"stop_reason":"compaction",`+usage+`}`), response(200, "application/json", answer), 200, 80_302},
		"broken":     {response(200, "text/event-stream", begun), response(200, "application/json", answer), 200, 20_002},
		"overloaded": {response(200, "application/json", `{"content":[`+block+`],"stop_reason":"compaction",`+usage+`}`), response(529, "application/json", `{"type":"error"}`), 529, 60_300},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{}, engine.Options{Window: 200_000, Preset: watched(t, preset.PruneAtPours), Logger: slog.New(slog.DiscardHandler)})
			b := &base{}
			b.answer = func(*http.Request) *http.Response {
				if len(b.sent) == 1 {
					return c.first
				}
				return c.then
			}
			res, body := post(t, w.on(b), "/v1/messages", large)
			if res.StatusCode != c.status || strings.Contains(body, "compaction") || len(b.sent) != 2 || !strings.Contains(b.bodies[0], "compact_20260112") {
				t.Errorf("status %d after %d requests: %s", res.StatusCode, len(b.sent), body)
			}
			if strings.Contains(b.bodies[1], block) != (name != "broken") {
				t.Errorf("what goes on is %.300s", b.bodies[1])
			}
			w.engine.Close()
			spent, err := w.store.Spending(t.Context(), store.SpendQuery{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, s := range spent {
				n += s.Usage.Context()
			}
			if n != c.booked {
				t.Errorf("%d tokens are booked, want %d", n, c.booked)
			}
		})
	}
}
