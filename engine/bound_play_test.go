package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// A setting is what stands around clients whose models bind their thinking: what the account enforces, what the
// provider takes, what the gateway may ask for.
type setting struct {
	name    string
	route   string // that must be taken in it at least once
	early   bool
	old     bool // the account is one for which binding is not enforced
	drop    bool
	memory  bool                            // the client has the memory tool
	asks    bool                            // the provider may be asked for summaries
	between func(http.Handler) http.Handler // what stands before the provider
	preset  *preset.Preset                  // nil: default
	large   int                             // most tokens of what the user says, in a large window; 0: little, in a small one
	refused string                          // what the provider may refuse unseen by the client, as a pattern; empty: nothing
}

const (
	boundTo = "bound to a different conversation|thinking. blocks in the latest assistant message cannot be modified" // the second is tried once
	tooLong = "prompt is too long"                                                                                    // a prompt that was to be cleared and was not: once, then it is known
	editing = "context-management-2025-06-27"
)

var settings = []setting{
	{name: "Probe", route: "to see whether the provider minds", early: true, refused: boundTo},
	{name: "ProbeAccepted", route: "edit early", early: true, old: true},
	{name: "ClearedEarly", route: "cleared by the provider", early: true, refused: boundTo},
	{name: "ClearedForTheWindow", route: "cleared by the provider"},
	{name: "ClearingRefused", route: "fold", between: refusingEdits, refused: "context management strategy"},
	{name: "ClearingUnknown", route: "fold", between: refusingBeta, refused: "beta"},
	{name: "ClearingIgnored", route: "fold", between: ignoringEdits, refused: tooLong},
	{name: "DropBlock", route: "thinking dropped by the provider", drop: true, memory: true},
	{name: "Fold", route: "fold", memory: true},
	{name: "AtTheTurn", route: "drop thinking", early: true, memory: true, refused: boundTo},
	{name: "DropBlockEarly", route: "thinking dropped by the provider", early: true, drop: true, memory: true, refused: boundTo},
	{name: "ClearingRefusedEarly", route: "drop thinking", early: true, between: refusingEdits, refused: "o"},
	{name: "Compacted", route: compacted, asks: true, memory: true},
	{name: "CompactedAndPouredEarly", route: compacted, asks: true, early: true, refused: boundTo},
	{name: "CompactionNotTakenBack", route: "to see whether", asks: true, between: forgettingSummaries, refused: "compaction|" + boundTo},
	{name: "ByRule", route: "cleared by the provider", preset: stages},
	{name: "ByRuleDropBlock", route: "thinking dropped by the provider", preset: stages, drop: true, memory: true},
	{name: "ByRuleClearingRefused", route: "fold", preset: stages, between: refusingEdits, refused: "context management strategy"},
	{name: "OnEveryRequest", route: "drop thinking", preset: prunes, memory: true},
	{name: "Paused", route: atAPause, preset: pauses(preset.PruneAtPours), large: 24_000},
	{name: "PausedOnEveryRequest", route: atAPause, preset: pauses(preset.PruneEveryRequest), large: 24_000},
	{name: "PausedClearingRefused", route: atAPause, preset: pauses(preset.PruneAtPours), large: 24_000, between: refusingEdits, refused: "context management strategy"},
	{name: "ClearingIgnoredEarly", route: "drop thinking", early: true, between: ignoringEdits, refused: boundTo + "|" + tooLong},
}

// Presets that clear by rule, with small numbers.
var (
	stages = &preset.Preset{
		Name: "stages", EarlyPours: preset.EarlyPours{Level: "off"}, Native: preset.Native{
			Editing: preset.Editing{Tokens: 1300, KeepCalls: 2, KeepThinking: 2, Least: 160}, Compaction: preset.Compaction{Tokens: 3000},
		},
	}
	prunes = &preset.Preset{
		Name: "prunes", EarlyPours: preset.EarlyPours{Level: "off"}, Prune: preset.PruneEveryRequest, Reduce: preset.Reduce{
			Always: []decant.Reduction{decant.ReductionClear, decant.ReductionTrim},
			Clear:  preset.Clear{After: 2}, Trim: preset.Trim{Over: 700, Head: 160, Tail: 160, After: 1, Literal: true},
		},
	}
)

// pauses returns a preset by which the model pauses behind a summary, as soon as the provider permits.
func pauses(p preset.Prune) *preset.Preset {
	return &preset.Preset{
		Name: "pauses", Prune: p, EarlyPours: preset.EarlyPours{Level: "off"}, Native: preset.Native{
			Editing: preset.Editing{Tokens: 30_000, KeepCalls: 2, KeepThinking: 2, Least: 500}, Compaction: preset.Compaction{Tokens: 50_000, Pause: true},
		},
	}
}

// Bound thinking and rounds that are nearly always open, in every setting: whatever route is taken, no client
// is ever refused, and what the provider refuses unseen is what it was asked for to find that out.
func TestNoRouteIsRefusedToAClient(t *testing.T) {
	t.Parallel()
	for _, set := range settings {
		t.Run(set.name, func(t *testing.T) {
			t.Parallel()
			taken := map[string]int{}
			for n := range 300 { // some clients may all happen to say too little, and where archives are slow an account is known late
				rapid.Check(t, func(rt *rapid.T) {
					for _, r := range boundPlay(rt, set) {
						taken[r]++
					}
				})
				for r := range taken {
					if strings.Contains(r, set.route) {
						t.Logf("%d plays", n+1)
						return
					}
				}
			}
			t.Errorf("no pour by %q: %v", set.route, taken)
		})
	}
}

// boundPlay lets a client work in a setting and returns the routes that were taken.
func boundPlay(t *rapid.T, set setting) (routes []string) {
	w := &world{t: t, dir: newDir(t), early: set.early, drop: set.drop, asks: set.asks, between: set.between, preset: set.preset, window: worldWindow}
	models := []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1"}
	o := sandbox.Options{OldAccount: set.old, Model: &actor{}}
	if set.large > 0 {
		o.Counter = token.For(lookup("claude-opus-4-6"))                                             // the provider counts as the engine estimates
		w.window, models = 200_000, append(models, slices.Repeat([]string{"claude-opus-4-6"}, 6)...) // of these only that one pauses
	}
	o.Window = w.window
	w.sandbox = newSandbox(o)
	w.start()
	defer w.close()
	c := &caller{
		w: w, session: "s", model: rapid.SampledFrom(models).Draw(t, "model"),
		thinking: `{"type":"adaptive"}`,
	}
	c.style.marker = rapid.Bool().Draw(t, "marker")
	if rapid.Bool().Draw(t, "clears nothing") {
		c.style.extra, c.betas = `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},`, editing
	}
	if set.memory {
		c.style.tools = bashTool + "," + memoryTool
	}
	p := &play{T: t, w: w}
	more := func() string {
		if set.large == 0 {
			return ""
		}
		size := rapid.IntRange(0, set.large).Draw(t, "tokens")
		if len(c.ms) == 0 {
			size = 2 * set.large // most of what a pause is behind
		}
		return "\n" + symbols(size)
	}
	for left := rapid.IntRange(12, 24).Draw(t, "requests"); left > 0; left-- {
		switch {
		case len(c.calls()) > 0:
			c.answer(p)
		case len(c.ms) > 0 && rapid.IntRange(0, 1).Draw(t, "more") == 0:
			c.say(p.words("go on") + more()) // as if the assistant had called something: most rounds of an agent are open
		default:
			c.say(p.words("then") + more())
		}
		x := c.send(w.client)
		if x.status != http.StatusOK {
			t.Fatalf("status %d: %s\nsent: %s", x.status, x.answer, brief(t, x.sent))
		}
		w.engine.Close() // what was answered is in the store
		if set.asks && rapid.IntRange(0, 9).Draw(t, "restarts") == 0 {
			w.restart()
		}
		c.accept(x)
		if bytes.Equal(x.sent, x.body) && x.tries == 1 {
			continue // nothing is in force
		}
		routes = append(routes, w.routes()...)
		if slices.ContainsFunc(routes, func(r string) bool { return strings.Contains(r, set.route) }) {
			left = min(left, testkit.Depth(4, left)) // a few requests behind the pour
		}
	}
	large := 0
	for _, e := range w.sandbox.Log.Refused() {
		if set.refused == "" || !regexp.MustCompile(set.refused).MatchString(e.Error) {
			t.Fatalf("refused: %s", e.Error)
		}
		if strings.Contains(e.Error, tooLong) {
			large++
		}
	}
	if large > 1 {
		t.Fatalf("%d prompts were too long: nothing was learned", large)
	}
	return routes
}

// routes returns by which routes pours were made in the conversations so far, as their decisions tell.
func (w *world) routes() (out []string) {
	for _, s := range w.conversations("") {
		kinds := map[decant.DecisionKind]bool{}
		for _, d := range s.Live() {
			kinds[d.Kind] = true
			if d.Reduction == decant.ReductionFold {
				out = append(out, "fold")
			}
			if cp := d.Checkpoint; cp.Foreign() && strings.Contains(cp.Source, `"signature"`) {
				out = append(out, compacted)
			} else if cp.Foreign() {
				out = append(out, atAPause)
			}
		}
		if kinds[decant.Native] {
			out = append(out, "cleared by the provider")
		}
		if kinds[decant.DropThinking] {
			out = append(out, "drop thinking")
		}
		if kinds[decant.Shrink] {
			out = append(out, "edit early")
		}
		if slices.ContainsFunc(s.Decisions, func(d decant.Decision) bool { return d.Kind == decant.Revoke }) {
			out = append(out, "to see whether the provider minds")
		}
	}
	for _, b := range w.forward {
		if bytes.Contains(b, []byte("drop_block")) {
			out = append(out, "thinking dropped by the provider")
		}
	}
	return out
}

// refusingEdits is a provider that does not clear results for any model.
func refusingEdits(h http.Handler) http.Handler {
	return refusingClears(h, "claude-x does not support the 'clear_tool_uses_20250919' context management strategy")
}

// refusingBeta is a provider that has never heard of context editing.
func refusingBeta(h http.Handler) http.Handler {
	return refusingClears(h, "Unexpected value(s) "+editing+" for the anthropic-beta header: invalid beta flag")
}

// refusingClears is a provider that refuses to clear results, and says why.
func refusingClears(h http.Handler, why string) http.Handler {
	return refusing(h, "clear_tool_uses", why)
}

// refusing is a provider that refuses requests with a text in them, and says why.
func refusing(h http.Handler, text, why string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(text)) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, why)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// forgettingSummaries is a provider that writes summaries and does not take them back.
func forgettingSummaries(h http.Handler) http.Handler {
	return refusing(h, `{"type":"compaction"`, "messages.0.content.0: Invalid `signature` in `compaction` block")
}

// ignoringEdits is a provider that takes the edit and leaves everything as it is.
func ignoringEdits(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if at := bytes.Index(body, []byte(`{"type":"clear_tool_uses`)); at >= 0 {
			end := at + bytes.Index(body[at:], []byte("]}"))
			body = append(bytes.TrimSuffix(slices.Clone(body[:at]), []byte(",")), body[end:]...)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		h.ServeHTTP(w, r)
	})
}
