package engine_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Each test here is a trap that other systems have fallen into.

func TestNothingLostOnRestart(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	n := k.pour()
	sent := k.last.Body
	k.start(engine.Options{})
	if p := k.prepare(); !bytes.Equal(p.Body, sent) {
		t.Errorf("after a restart the same request left as\n%.500s\ninstead of\n%.500s", p.Body, sent)
	}
	s := k.state()
	for _, d := range s.Decisions {
		if d.Handle == "" {
			t.Errorf("decision %s has no handle", d.ID)
			continue
		}
		o, err := k.store.Resolve(t.Context(), store.Key{ID: k.last.Conversation}, d.Handle)
		if err != nil || len(o.Entries) == 0 {
			t.Errorf("the original behind %s: %v", d.Handle, err)
		}
	}
	if got, want := s.Chain[len(s.Chain)-1].CallID, fmt.Sprintf("call_%d", n); got != want {
		t.Errorf("the last block of the transcript answers %s, want %s", got, want)
	}
}

func TestSessionsNeverConfused(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.pour()
	poured := k.last.Conversation
	for _, c := range []struct{ name, tenant, session string }{
		{"AnotherSession", "", "other"}, {"NoSession", "", ""}, {"AnotherTenant", "t2", "s"},
	} {
		p, err := k.engine.Prepare(t.Context(), &engine.Request{Tenant: c.tenant, Session: c.session, Body: k.body(), Count: true})
		if err != nil {
			t.Fatal(err)
		}
		if p.Conversation == poured || p.Report.Relation != "begins" {
			t.Errorf("%s: found conversation %s (%s), which belongs to somebody else", c.name, p.Conversation, p.Report.Relation)
		}
	}
	t.Run("TitleRequestUnderOneSession", func(t *testing.T) {
		body := []byte(`{"model":"claude-haiku-4-5","max_tokens":50,"messages":[{"role":"user","content":"Write a title for this."}]}`)
		p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: body})
		if err != nil || p.Conversation == poured || !bytes.Equal(p.Body, body) {
			t.Errorf("the title request went to %s as %s, %v", p.Conversation, p.Body, err)
		}
	})
}

// Calls and results stay together however often the conversation is poured.
func TestPairsSurviveSixtyPours(t *testing.T) {
	most := testkit.Depth(6, 60)
	for _, m := range modes {
		t.Run(m.model+m.thinking, func(t *testing.T) {
			t.Parallel()
			const window = 12_000
			k := newDialogue(t, engine.Options{Window: window})
			k.sandbox = newSandbox(sandbox.Options{Window: window, Model: &actor{}})
			k.model = m.model
			if m.thinking != "" {
				k.extra = `"thinking":` + m.thinking + ","
			}
			k.user("Do the work.")
			pours := 0
			for n := 0; pours < most && n < 600; n++ {
				status, answer := k.send()
				if status != http.StatusOK {
					t.Fatalf("request %d, after %d pours: status %d: %s", n, pours, status, answer)
				}
				if k.last.Report.Reason != "" {
					pours++
				}
				k.accept(answer, n)
			}
			if pours < most {
				t.Errorf("%d pours in 600 requests", pours)
			}
		})
	}
}

// New models get reminders in messages of the role system, in the middle of the conversation, and the
// API is particular about their places.
func TestSystemMessagesKeepTheirPlace(t *testing.T) {
	for _, m := range modes {
		t.Run(m.model+m.thinking, func(t *testing.T) {
			const window = 20_000
			k := newDialogue(t, engine.Options{Window: window})
			k.sandbox = newSandbox(sandbox.Options{Window: window, Model: &actor{}})
			k.model = m.model
			if m.thinking != "" {
				k.extra = `"thinking":` + m.thinking + ","
			}
			k.user("Do the work.")
			k.ms = append(k.ms, `{"role":"system","content":`+quote(strings.Repeat("Mind the rules of this project. ", 200))+`}`)
			pours := 0
			for n := range testkit.Depth(15, 60) {
				status, answer := k.send()
				if status != http.StatusOK {
					t.Fatalf("request %d, after %d pours: status %d: %s", n, pours, status, answer)
				}
				if k.last.Report.Reason != "" {
					pours++
				}
				k.accept(answer, n)
				if n%5 == 0 && strings.Contains(k.ms[len(k.ms)-1], `"role":"user"`) {
					k.ms = append(k.ms, fmt.Sprintf(`{"role":"system","content":"Reminder %d."}`, n))
				}
			}
			if pours < testkit.Depth(1, 2) {
				t.Errorf("%d pours", pours)
			}
		})
	}
}

// What the user has just said stays, however long it is. A pour that cannot help is not tried on every
// request.
func TestEndlessCompactionStops(t *testing.T) {
	k := newDialogue(t, engine.Options{Window: 16_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000})
	k.user("Do the work.")
	k.says("Tell me more.")
	tries := 0
	for n := range 12 {
		k.ms = k.ms[:2]
		k.user(fmt.Sprintf("Version %d: %s", n, strings.Repeat("every single word of this matters to me, ", 1440)))
		k.mustSend()
		if k.last.Report.Route != "" {
			tries++
		}
		k.engine.Close()
	}
	if tries == 0 || tries > 3 {
		t.Errorf("%d tries of a pour in 12 requests of %d tokens, want at least one and at most three", tries, k.last.Report.Before)
	}
}

func TestUnknownWindowIsNotZero(t *testing.T) {
	k := newDialogue(t, engine.Options{Window: token.DefaultWindow})
	k.model = "some-model-that-nobody-knows"
	k.user("Hello.")
	if p := k.prepare(); p.Report.Window != token.DefaultWindow || p.Report.Reason != "" || p.Fault != nil {
		t.Errorf("window %d, reason %q, fault %v; want the stated default and no pour", p.Report.Window, p.Report.Reason, p.Fault)
	}
}

// The same answer reported twice, by a retry, is one report: the meter does not grow by it.
func TestUsageNotCountedTwice(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Do the work.")
	k.round(1, output("call_1", 20))
	k.mustSend()
	k.mustSend()
	once := k.sandbox.Log.Last().Usage.Context()
	k.round(2, "done")
	p := k.prepare()
	if got := p.Report.Before; got < once || got > once+200 {
		t.Errorf("metered at %d tokens after a request and its retry of %d tokens and a small round", got, once)
	}
}

func TestInFlightCallsNotCut(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.user("Do the work.")
	for n := 1; n < testkit.Depth(16, 40); n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
		k.mustSend()
		view := parse(t, k.last.Body)
		last := view.Messages[len(view.Messages)-1]
		use := view.Messages[len(view.Messages)-2]
		if len(last.Blocks) != 1 || last.Blocks[0].CallID != fmt.Sprintf("call_%d", n) || use.Role != decant.RoleAssistant {
			t.Fatalf("round %d, which is open, left as %+v %+v", n, use, last)
		}
	}
}

// What the user types while the agent works comes with the results; a pour in that very request must
// not swallow it, folded or not.
func TestQueuedMessagesNotLost(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-sonnet-5-5"} {
		t.Run(model, func(t *testing.T) {
			k := newDialogue(t, engine.Options{})
			k.model = model
			if model == "claude-sonnet-5-5" {
				k.extra = `"thinking":{"type":"adaptive"},`
			}
			k.user("Do the work.")
			pours := 0
			for n := 1; n < testkit.Depth(16, 40); n++ {
				k.round(n, output(fmt.Sprintf("call_%d", n), 20))
				last := &k.ms[len(k.ms)-1]
				words := fmt.Sprintf("By the way: use port %d from now on.", 7000+n)
				*last = strings.TrimSuffix(*last, "]}") + `,{"type":"text","text":` + quote(words) + `}]}`
				k.mustSend()
				if !bytes.Contains(k.last.Body, []byte(words)) {
					t.Fatalf("the words %q are not in the view (%s)", words, k.last.Report.Route)
				}
				if k.last.Report.Reason != "" {
					pours++
				}
			}
			if pours == 0 {
				t.Error("no pour: the test shows nothing")
			}
		})
	}
}

// Clients write content as lists of blocks, with markers on system and messages, and that must not
// keep anything from being made smaller.
func TestListContentIsCompressed(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.extra = `"system":[{"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral"}}],`
	k.user("Do the work.")
	log := strings.Repeat("\x1b[32mok\x1b[0m  \tpackage/with/tests\t0.1s\n", 2000)
	k.round(1, log)
	last := &k.ms[len(k.ms)-1]
	*last = strings.Replace(*last, `{"type":"tool_result",`, `{"type":"tool_result","cache_control":{"type":"ephemeral"},`, 1)
	p := k.prepare()
	if len(p.Report.Decisions) != 1 || len(p.Body) > len(k.body())/2 {
		t.Fatalf("%d decisions, %d bytes of %d", len(p.Report.Decisions), len(p.Body), len(k.body()))
	}
	if got := bytes.Count(p.Body, []byte("cache_control")); got != 2 {
		t.Errorf("%d markers are left, want 2", got)
	}
}

// Signed thinking is sent as it came or not at all.
func TestSignedThinkingUntouched(t *testing.T) {
	for _, m := range modes[1:] {
		t.Run(m.model, func(t *testing.T) {
			k := newDialogue(t, engine.Options{})
			k.model, k.extra = m.model, `"thinking":`+m.thinking+","
			k.user("Do the work.")
			for n := range testkit.Depth(15, 40) {
				status, answer := k.send()
				if status != http.StatusOK {
					t.Fatalf("status %d: %s", status, answer)
				}
				for _, b := range parse(t, k.last.Body).Messages {
					checkThinking(t, b, k.body(), k.last.Body)
				}
				k.accept(answer, n)
			}
		})
	}
}

func checkThinking(t *testing.T, m decant.Message, client, sent []byte) {
	t.Helper()
	d, err := wire.ParseAs(wire.Anthropic, sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Blocks {
		if b.Kind == decant.KindThinking && !bytes.Contains(client, d.Raw(b.Ref)) {
			t.Errorf("thinking was sent that the client does not have: %s", d.Raw(b.Ref))
		}
	}
}

// accept appends an answer of the sandbox as it came, and results of its calls.
func (k *dialogue) accept(answer string, n int) {
	k.Helper()
	d, err := wire.ParseAs(wire.Anthropic, []byte(`{"messages":[`+answer+`]}`))
	if err != nil {
		k.Fatal(err)
	}
	var content, results []string
	m := &d.Conversation.Messages[0]
	for i := range m.Blocks {
		content = append(content, string(d.Raw(m.Blocks[i].Ref)))
		if m.Blocks[i].Kind == decant.KindUse {
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, m.Blocks[i].CallID, quote(output(m.Blocks[i].CallID, 17))))
		}
	}
	k.ms = append(k.ms, `{"role":"assistant","content":[`+strings.Join(content, ",")+`]}`)
	if len(results) > 0 {
		k.ms = append(k.ms, `{"role":"user","content":[`+strings.Join(results, ",")+`]}`)
		return
	}
	k.user(fmt.Sprintf("Go on with part %d.", n))
}

func parse(t testing.TB, body []byte) *decant.Conversation {
	t.Helper()
	d, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	return d.Conversation
}
