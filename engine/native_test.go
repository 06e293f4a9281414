package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// A binder is a client of a model that binds its thinking, in one long turn with a round that is always open.
type binder struct {
	*dialogue
	n       int
	notices []string
	mu      sync.Mutex
}

const keepAll = `{"type":"clear_thinking_20251015","keep":"all"}`

func newBinder(t *testing.T, o engine.Options, s sandbox.Options) *binder {
	b := &binder{}
	o.Logger = testkit.Log(func(level slog.Level, line string) {
		if level >= slog.LevelError {
			t.Errorf("logged: %s", line)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.notices = append(b.notices, line)
	})
	if o.Preset == nil {
		o.Preset = oneSize()
	}
	b.dialogue = newDialogue(t, o)
	if s.Model == nil {
		s.Model = &sandbox.Rules{Calls: 10_000}
	}
	if s.Window == 0 {
		s.Window = dialogueWindow
	}
	m, _ := catalog().Lookup("claude-sonnet-4-5")
	m.ID = "claude-opus-5-5"
	s.Counter = token.For(m) // the provider counts as the engine estimates
	b.sandbox = newSandbox(s)
	b.model, b.extra = "claude-opus-5-5", `"thinking":{"type":"adaptive"},"cache_control":{"type":"ephemeral"},"context_management":{"edits":[`+keepAll+`]},`
	b.upstream, b.betas = "https://provider", []string{editing}
	b.user("Do the work. The password of the vault is in /etc/vault.conf.")
	return b
}

// oneSize returns the small preset with the same sizes for all models, and with little patience: what is tested is by which
// route history is poured, and not how soon.
func oneSize() *preset.Preset {
	p := *small()
	p.CheapReads, p.EarlyPours.Patience = preset.Sizes{}, 0.3
	return &p
}

// outlining returns oneSize without early checkpoints, which would be made as soon as no round is open.
func outlining() *preset.Preset {
	p := oneSize()
	p.Tools.Exclude = []string{"no_such_tool"}
	return p
}

// next sends a request, and takes the answer and the results of its calls into the conversation.
func (b *binder) next() {
	b.Helper()
	b.n++
	status, answer := b.send()
	if status != http.StatusOK {
		b.Fatalf("request %d: status %d: %s", b.n, status, answer)
	}
	b.accept(answer, b.n)
}

// until sends requests until one was poured.
func (b *binder) until(route string) {
	b.Helper()
	for range 100 {
		if b.next(); strings.Contains(b.last.Report.Route, route) {
			return
		}
	}
	b.Fatalf("100 requests without a pour by %q", route)
}

// live returns the decisions of a kind that are in force.
func (b *binder) live(kind decant.DecisionKind) (out []decant.Decision) {
	ds := b.state().Decisions
	gone := map[string]bool{}
	for _, d := range ds {
		gone[d.Revokes] = true
	}
	for _, d := range ds {
		if d.Kind == kind && !gone[d.ID] {
			out = append(out, d)
		}
	}
	return out
}

// A clearing at a pour stays as it was for ever: each later request clears the same results, reads everything
// before its own news from the cache, and no signature is minded. A second one moves its end.
func TestWhatWasClearedStaysCleared(t *testing.T) {
	b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
	b.until("cleared by the provider")
	for range 2 {
		cleared, record := len(b.live(decant.Native)), b.live(decant.Insert)
		log := b.sandbox.Log.Last()
		if cleared == 0 || log.Cleared != cleared || !strings.Contains(string(b.last.Body), `"edits":[`+keepAll+`,{"type":"clear_tool_uses_20250919"`) {
			t.Fatalf("%d results cleared by decisions, %d by the provider:\n%.300s", cleared, log.Cleared, b.last.Body)
		}
		if text := b.last.View().Messages[len(b.last.View().Messages)-1].Text(); !strings.Contains(text, record[len(record)-1].Text) {
			t.Errorf("the record does not stand behind the newest results:\n%.500s", text)
		}
		for {
			before := b.sandbox.Log.Last().Usage
			b.next()
			log := b.sandbox.Log.Last()
			if b.last.Report.Reason != "" {
				break
			}
			if held := before.CacheRead + before.CacheWrite; log.Cleared != cleared || log.Usage.CacheRead < held-10 {
				t.Fatalf("request %d: %d results cleared, want %d; %d tokens read, the cache held %d", b.n, log.Cleared, cleared, log.Usage.CacheRead, held)
			}
			if got := b.live(decant.Insert); !slices.EqualFunc(got, record, func(x, y decant.Decision) bool { return x.ID == y.ID && x.Text == y.Text }) {
				t.Fatal("the record has changed")
			}
		}
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 0 || len(b.notices) > 0 {
		t.Errorf("refused: %d, noticed: %q", len(refused), b.notices)
	}
}

// The meter counts what the model reads.
func TestTheMeterCountsTheEditedPrompt(t *testing.T) {
	b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
	b.until("cleared by the provider")
	b.next()
	b.next()
	prompt := b.sandbox.Log.Last().Prompt
	if got := b.last.Report.Before; got > prompt*13/10 || got < prompt*7/10 {
		t.Errorf("metered at %d tokens, the provider counted %d", got, prompt)
	}
}

// Whether the binding is enforced is found out by one edit. Where it is, the client notices nothing, its own bytes
// go out in the same exchange, nothing is folded, and nobody asks again: not in another conversation, and not
// after a restart. A week later, or for another account, the question is open again only where the answer was no.
func TestBindingIsLearned(t *testing.T) {
	for _, tt := range []struct {
		name     string
		enforced bool
	}{{"Enforced", true}, {"NotEnforced", false}} {
		t.Run(tt.name, func(t *testing.T) {
			now := newClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
			o := engine.Options{Window: 200_000, Preset: oneSize(), Now: now.Now}
			b := newBinder(t, o, sandbox.Options{Window: 200_000, OldAccount: !tt.enforced, Now: o.Now})
			const rounds = 30
			asked := func(rounds int) (probes int) {
				for range rounds {
					b.next()
					if r := b.last.Report; r.Route == "taken back" || strings.Contains(r.Route, "minds") {
						probes++
					}
				}
				return probes
			}
			if n := asked(rounds); n != 1 {
				t.Fatalf("%d probes, want one", n)
			}
			if n := len(b.sandbox.Log.Refused()); n != map[bool]int{true: 1}[tt.enforced] {
				t.Errorf("%d requests refused", n)
			}
			for _, d := range b.state().Decisions {
				if d.Reduction == decant.ReductionFold {
					t.Error("there was a fold because of a probe")
				}
			}
			b.start(o)
			b.session, b.ms = "another", b.ms[:1]
			if n := asked(rounds); n != 0 {
				t.Errorf("%d probes in the next conversation, after a restart", n)
			}
			now.pass(8 * 24 * time.Hour)
			b.session, b.ms = "later", b.ms[:1]
			if n, want := asked(rounds), map[bool]int{false: 1}[tt.enforced]; n != want {
				t.Errorf("%d probes a week later, want %d", n, want)
			}
		})
	}
}

// What goes out in place of a refused probe are the client's own bytes.
func TestARefusedProbeLeavesTheClientsBytes(t *testing.T) {
	b := newBinder(t, engine.Options{Window: 200_000}, sandbox.Options{Window: 200_000})
	for b.last == nil || b.last.Report.Route != "taken back" {
		body := b.body()
		if b.next(); b.last.Report.Route == "taken back" && string(b.last.Body) != string(body) {
			t.Errorf("what went out is not what the client had sent:\n%.300s\n%.300s", b.last.Body, body)
		}
		if b.n > 90 {
			t.Fatal("90 requests without a probe")
		}
	}
	if n := len(b.live(decant.Shrink)) + len(b.live(decant.Stub)) + len(b.live(decant.DropThinking)); n != 0 {
		t.Errorf("%d edits are in force", n)
	}
}

// A client gives a request up before anybody knows whether
// the provider minds the probe in it, or the gateway dies then, and the client goes on with more words. The probe
// is taken back as if the request were the same.
func TestAProbeThatWasGivenUpIsTakenBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		dies bool
		more string // the message that the client goes on with
	}{
		{"Abort", false, "Go on with something else."},
		{"AbortAndRepeat", false, ""},
		{"Death", true, "Go on with something else."},
		{"DeathAndRepeat", true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := engine.Options{Window: 200_000, Preset: outlining()}
			b := newBinder(t, o, sandbox.Options{Window: 200_000})
			for b.last == nil || !strings.Contains(b.last.Report.Route, "minds") {
				if b.n > 90 {
					t.Fatal("90 requests without a probe")
				}
				b.n++
				if b.prepare(); strings.Contains(b.last.Report.Route, "minds") {
					break
				}
				status, answer := b.send()
				if status != http.StatusOK {
					t.Fatalf("request %d: status %d: %s", b.n, status, answer)
				}
				b.accept(answer, b.n)
			}
			if tt.dies {
				b.start(o)
			} else {
				b.engine.Finish(b.last, engine.Response{})
				b.engine.Close()
			}
			if tt.more != "" {
				b.user(tt.more)
			}
			body := string(b.body())
			if status, answer := b.send(); status != http.StatusOK || b.last.Report.Route != "taken back" {
				t.Fatalf("status %d by %q: %.300s", status, b.last.Report.Route, answer)
			}
			if string(b.last.Body) != body {
				t.Errorf("what went out is not what the client had sent:\n%.300s\n%.300s", b.last.Body, body)
			}
			if n := len(b.sandbox.Log.Refused()); n != 1 {
				t.Errorf("%d requests refused, want one", n)
			}
		})
	}
}

// A refusal overrules at once what was found out before.
func TestALaterRefusalOverrules(t *testing.T) {
	b := newBinder(t, engine.Options{Window: 200_000, Preset: outlining()}, sandbox.Options{Window: 200_000, OldAccount: true})
	b.until("minds")
	b.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &sandbox.Rules{Calls: 10_000}})
	for range 30 {
		b.next()
	}
	b.session, b.ms = "another", b.ms[:1]
	b.until("cleared by the provider")
	if n := len(b.sandbox.Log.Refused()); n != 1 {
		t.Errorf("%d requests refused, want one", n)
	}
}

// A provider that clears something else than it was asked for is not asked again, and the next route is taken:
// the conversation goes on whole, and what is said about it is true.
func TestAClearingThatDoesNotMatchIsTakenBack(t *testing.T) {
	b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
	b.lie = true
	b.until("cleared by the provider")
	b.next()
	if n := len(b.live(decant.Native)); n != 0 || b.sandbox.Log.Last().Cleared != 0 {
		t.Errorf("%d results are still cleared by decisions, %d by the provider", n, b.sandbox.Log.Last().Cleared)
	}
	if len(b.notices) != 1 || !strings.Contains(b.notices[0], "does not clear") {
		t.Errorf("notices: %q", b.notices)
	}
	b.lie = false
	b.until("fold") // nothing else is legal here
	if len(b.live(decant.Native)) > 0 || len(b.notices) != 1 {
		t.Errorf("it was asked again: %q", b.notices)
	}
}

// Undo of a clearing is legal at any time, also while a round is open: what is sent stays as it was. The record
// stays, because thinking stands on it.
func TestUndoOfAClearing(t *testing.T) {
	b := newBinder(t, engine.Options{Window: 400_000}, sandbox.Options{Window: 400_000})
	b.until("cleared by the provider")
	b.next()
	c, err := b.engine.Undo(t.Context(), store.Key{ID: b.last.Conversation})
	if err != nil {
		t.Fatal(err)
	}
	if c.Plan.After.Total() <= c.Plan.Before.Total() {
		t.Errorf("the undo brings nothing back: %d tokens become %d", c.Plan.Before.Total(), c.Plan.After.Total())
	}
	if err := b.engine.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	b.next()
	if len(b.live(decant.Native)) > 0 || len(b.live(decant.Insert)) != 1 || strings.Contains(string(b.last.Body), "clear_tool_uses") {
		t.Errorf("%d clearings and %d records after the undo", len(b.live(decant.Native)), len(b.live(decant.Insert)))
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 1 { // the probe
		t.Errorf("refused: %s", refused[1].Error)
	}
}

// What was pinned before is in the record whole; what is pinned afterwards comes back behind the newest results,
// once.
func TestPinsAndClearings(t *testing.T) {
	const window = 2 * dialogueWindow // room for what is pinned
	b := newBinder(t, engine.Options{NoEarlyPours: true, Window: window}, sandbox.Options{Window: window})
	b.next()
	b.next()
	pin := func(message int) string {
		t.Helper()
		ref := decant.Ref{Message: message}
		c, err := b.engine.Pin(t.Context(), store.Key{ID: b.last.Conversation}, []decant.Ref{ref}, true)
		if err == nil {
			err = b.engine.Apply(t.Context(), c)
		}
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, b.body()).Messages[message-1].Blocks[0].Text()
	}
	early := pin(3)
	b.until("cleared by the provider")
	if record := b.live(decant.Insert)[0]; !strings.Contains(record.Text, early) || !slices.Contains(record.Repeats, decant.Ref{Message: 3}) {
		t.Errorf("the pin is not in the record:\n%.500s", record.Text)
	}
	late := pin(5)
	b.next()
	b.next()
	n := 0
	for _, d := range b.live(decant.Insert) {
		if strings.Contains(d.Text, late) {
			n++
		}
	}
	if n != 1 || strings.Count(string(b.last.Body), "[Record of old tool results") != 2 {
		t.Errorf("the block that was pinned later stands in %d records", n)
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
}

// Where the client asks for an editing of its own, or for a compaction, ours is left out of that request alone.
func TestClearingGivesWayToTheClient(t *testing.T) {
	b := newBinder(t, engine.Options{Window: 400_000}, sandbox.Options{Window: 400_000})
	b.until("cleared by the provider")
	b.next()
	ours := b.extra
	for _, theirs := range []string{
		`"thinking":{"type":"adaptive"},"context_management":{"edits":[` + keepAll + `,{"type":"clear_tool_uses_20250919"}]},`,
		`"thinking":{"type":"adaptive"},"compaction":{"type":"summarize"},`,
	} {
		b.extra = theirs
		p, err := b.engine.Prepare(t.Context(), &engine.Request{Session: b.session, Upstream: b.upstream, Body: b.body(), Count: true})
		if err != nil || p.Fault != nil {
			t.Fatal(err, p)
		}
		if strings.Count(string(p.Body), "clear_tool_uses_20250919") != strings.Count(theirs, "clear_tool_uses_20250919") || strings.Contains(string(p.Body), `"keep":{"type":"tool_uses"`) {
			t.Errorf("with %s:\n%.400s", theirs, p.Body)
		}
		if n := len(p.Report.Decisions); n != 0 {
			t.Errorf("with %s: %d decisions", theirs, n)
		}
	}
	b.extra = ours
	b.next()
	if b.sandbox.Log.Last().Cleared == 0 {
		t.Error("nothing is cleared any longer")
	}
}

// Arguments of what was written go with the results; a failing tool, parallel calls and tools that the preset
// leaves alone are told apart.
func TestClearingOfManyTools(t *testing.T) {
	own := *small()
	own.Tools.Exclude = []string{"Keep*"}
	b := newBinder(t, engine.Options{NoEarlyPours: true, Preset: &own, Window: 33_000}, sandbox.Options{Model: &juggler{}, Window: 33_000})
	b.tools = bashTool + `,{"name":"Write","input_schema":{"type":"object"}},{"name":"KeepThis","input_schema":{"type":"object"}}`
	b.until("cleared by the provider")
	for range 4 {
		b.next()
	}
	body := string(b.last.Body)
	if !strings.Contains(body, `"exclude_tools":["KeepThis"],"clear_tool_inputs":["Write"]`) {
		t.Errorf("the edit: %s", body[max(0, strings.Index(body, "clear_tool_uses")):][:300])
	}
	if record := b.live(decant.Insert)[0].Text; !strings.Contains(record, "/src/file_2.go") || strings.Contains(record, "KeepThis") {
		t.Errorf("the record:\n%.1500s", record)
	}
	if refused := b.sandbox.Log.Refused(); len(refused) > 0 || len(b.notices) > 0 {
		t.Errorf("%d refused, notices %q", len(refused), b.notices)
	}
}

// A juggler is a model that calls three tools at once.
type juggler struct{ n int }

func (j *juggler) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	j.n++
	bs := []sandbox.Block{{Kind: decant.KindThinking, Text: fmt.Sprintf("Step %d.", j.n)}}
	for _, name := range []string{"Bash", "Write", "KeepThis"} {
		text := strings.Repeat(fmt.Sprintf("var value_%d = compute()\n", j.n), 13)
		input := fmt.Appendf(nil, `{"file_path":"/src/file_%d.go","content":%s}`, j.n, quote(text))
		bs = append(bs, sandbox.Block{Kind: decant.KindUse, Name: name, Input: input})
	}
	return sandbox.Answer{Blocks: bs}, nil
}

// A fork from before a clearing has everything whole; one from behind it has what was cleared, with its record.
func TestForksAndClearings(t *testing.T) {
	b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
	b.until("cleared by the provider")
	at := len(b.ms) - 2 // messages that the poured request had
	b.next()
	b.next()
	whole := slices.Clone(b.ms)
	for _, tt := range []struct {
		name    string
		upTo    int
		cleared bool
	}{{"Before", 5, false}, {"Behind", at, true}} {
		b.ms = append(slices.Clone(whole[:tt.upTo]), `{"role":"assistant","content":[{"type":"text","text":"Another way."}]}`)
		b.user("Then do something else: " + tt.name)
		b.next()
		if got := b.sandbox.Log.Last().Cleared > 0; got != tt.cleared {
			t.Errorf("%s: cleared: %t", tt.name, got)
		}
		if got := strings.Contains(string(b.last.Body), "[Record of old tool results"); got != tt.cleared {
			t.Errorf("%s: record: %t", tt.name, got)
		}
	}
}

// Nothing is cleared where the provider would clear something else or tell the model about it.
func TestWhereNothingIsCleared(t *testing.T) {
	for name, change := range map[string]func(*binder){
		"MemoryTool": func(b *binder) { b.tools = bashTool + "," + memoryTool },
		"ServerTool": func(b *binder) {
			b.ms = append(b.ms, `{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"found"}]}`)
			b.user("Go on.")
		},
		"OtherShape": func(b *binder) { b.extra = `"thinking":{"type":"adaptive"},"context_management":null,` },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
			change(b)
			b.until("fold")
			if n := b.live(decant.Native); len(n) > 0 {
				t.Errorf("%d results cleared", len(n))
			}
		})
	}
}

// The store keeps inserts and native decisions as they are.
func TestNativeDecisionsSurviveARestart(t *testing.T) {
	db := emptyStore(t)
	b := newBinder(t, engine.Options{NoEarlyPours: true}, sandbox.Options{})
	b.store = db
	b.start(engine.Options{NoEarlyPours: true})
	b.until("cleared by the provider")
	b.next()
	key := store.Key{ID: b.last.Conversation}
	tr, err := archive.ReadTranscript(t.Context(), b.store, key, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	view, err := tr.View()
	if err != nil {
		t.Fatal(err)
	}
	body, err := tr.Body(view)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(anthropic.BetasOf(body), []string{editing}) || !strings.Contains(string(body), "clear_tool_uses") || !strings.Contains(string(body), "[Record of old") {
		t.Errorf("what would be sent:\n%.400s", body)
	}
	for _, d := range b.live(decant.Native)[:3] {
		o, err := db.Resolve(t.Context(), key, d.Handle)
		if err != nil || o.Entries[0].Text != d.Target.Hash || o.Decision.ID != d.ID {
			t.Errorf("expand %s: %v", d.Handle, err)
		}
	}
	if _, err := db.Resolve(t.Context(), key, "d:00000000"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
