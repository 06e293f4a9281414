package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/wire"
)

// A team is a parent and its delegates, whose requests begin alike and go through engines on one store.
type team struct {
	testing.TB
	store   store.Store
	options engine.Options
	engines []*engine.Engine
	session string
}

func newTeam(t testing.TB, o engine.Options) *team {
	t.Helper()
	db := emptyStore(t)
	o.Timeouts = sandboxtest.Patient
	o.Logger = testkit.StrictLog(t)
	w := &team{TB: t, store: db, options: o, session: "s"}
	t.Cleanup(func() {
		for _, e := range w.engines {
			e.Close()
		}
	})
	w.engine()
	return w
}

// engine starts one more engine on the store.
func (w *team) engine() *engine.Engine {
	e, err := engine.New(w.store, w.options)
	if err != nil {
		w.Fatal(err)
	}
	w.engines = append(w.engines, e)
	return e
}

// A member is one agent of a team.
type member struct {
	*team
	name string
	ms   []string
	view []string // blocks that were sent last
	last *engine.Prepared
}

// child returns a member whose conversation begins with everything that m has said and heard.
func (m *member) child(name string) *member {
	return &member{team: m.team, name: name, ms: slices.Clone(m.ms), view: m.view}
}

func (m *member) user(words string) {
	m.ms = append(m.ms, `{"role":"user","content":[{"type":"text","text":`+quote(words)+`}]}`)
}

func (m *member) says(words string) {
	m.ms = append(m.ms, `{"role":"assistant","content":[{"type":"text","text":`+quote(words)+`}]}`)
}

// round appends a call and its result.
func (m *member) round(id, result string) {
	m.ms = append(m.ms,
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}`, id, id),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":[{"type":"text","text":%s}]}]}`, id, quote(result)))
}

func (m *member) body() []byte {
	return []byte(`{"model":"claude-sonnet-4-5","max_tokens":4000,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[` + strings.Join(m.ms, ",") + `]}`)
}

// prepare prepares the member's request with an engine.
func (m *member) prepare(e *engine.Engine) *engine.Prepared {
	m.Helper()
	p, err := e.Prepare(m.Context(), &engine.Request{Session: m.session, Body: m.body()})
	if err != nil || p.Fault != nil {
		m.Fatalf("%s: prepare: %v, %v", m.name, err, p)
	}
	m.last = p
	return p
}

// answered tells an engine that the member's request was answered.
func (m *member) answered(e *engine.Engine) {
	e.Finish(m.last, engine.Response{Status: 200, Content: []byte(`[{"type":"text","text":"noted"}]`), Stop: "end_turn"})
}

// send prepares a request that is answered.
func (m *member) send() *engine.Prepared {
	m.Helper()
	p := m.prepare(m.engines[0])
	m.answered(m.engines[0])
	return p
}

// blocksOf returns the blocks of a body in canonical words.
func blocksOf(t testing.TB, body []byte) (out []string) {
	t.Helper()
	d, err := wire.ParseAs(wire.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Conversation.Messages {
		for _, b := range m.Blocks {
			out = append(out, fmt.Sprintf("%s %s %s %s", m.Role, b.Kind, b.CallID, b.Text()))
		}
	}
	return out
}

// pages returns at least n characters.
func pages(seed string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s says in paragraph %d that the harbour master counted the ships before the evening tide came in. ", seed, i)
	}
	return b.String()
}

// A parent that was poured at 81,000 tokens hands its history to three
// children at once. One of them brings 260,000 characters and is poured; nobody else's view changes.
func TestADelegatesPourChangesNoOtherView(t *testing.T) {
	pre, err := preset.Load("orchestrator")
	if err != nil {
		t.Fatal(err)
	}
	w := newTeam(t, engine.Options{Preset: pre, Window: 200_000})
	ali := &member{team: w, name: "Ali"}
	ali.user("Plan the release.")
	for n := range 30 {
		ali.round(fmt.Sprintf("call_%d", n), pages(fmt.Sprintf("result %d", n), 12_000))
		if ali.send(); ali.last.Report.Reason != "" {
			break
		}
	}
	if ali.last.Report.Reason != policy.Necessary {
		t.Fatal("the parent was not poured")
	}
	for n := range 6 {
		ali.round(fmt.Sprintf("later_%d", n), pages(fmt.Sprintf("later %d", n), 12_000))
		ali.send()
	}
	shared := blocksOf(t, ali.last.Body)

	marco, sara, leo := ali.child("Marco"), ali.child("Sara"), ali.child("Leo")
	for _, c := range []*member{marco, sara, leo} {
		c.says("I delegate.")
		c.user("You are " + c.name + ": do your part.")
	}
	leo.user(pages("Leo's material", 260_000))
	marco.prepare(w.engines[0])
	if leo.prepare(w.engines[0]); leo.last.Report.Reason == "" {
		t.Fatal("the large delegate was not poured")
	}
	sara.prepare(w.engines[0])
	for _, c := range []*member{leo, marco, sara} {
		c.answered(w.engines[0])
	}
	for _, c := range []*member{marco, sara} {
		first := blocksOf(t, c.last.Body)
		c.says("Working.")
		c.user("Go on.")
		c.send()
		checkPrefix(t, c.name+"'s first request", first, shared)
		checkPrefix(t, c.name+"'s second request", blocksOf(t, c.last.Body), first)
	}
	first := blocksOf(t, leo.last.Body)
	leo.says("Working.")
	leo.user("Go on.")
	leo.send()
	checkPrefix(t, "Leo's second request", blocksOf(t, leo.last.Body), first)
	ali.says("I delegate.")
	ali.user("All of you: what have you found?")
	ali.send()
	checkPrefix(t, "the parent's next request", blocksOf(t, ali.last.Body), shared)
}

// checkPrefix reports an error when a view does not begin with what was there before.
func checkPrefix(t interface{ Errorf(string, ...any) }, what string, view, before []string) {
	for i := range before {
		if i >= len(view) || view[i] != before[i] {
			got := "nothing"
			if i < len(view) {
				got = view[i]
			}
			t.Errorf("%s: block %d of %d is\n%.300s\nwant\n%.300s", what, i, len(before), got, before[i])
			return
		}
	}
}

// What was decided about a result by a delegate that went another way is not for one that brings the same
// result into a conversation of its own. What was in force where it leaves is.
func TestInheritedIsWhatWasInForce(t *testing.T) {
	w := newTeam(t, engine.Options{Window: 16_000})
	ali := &member{team: w, name: "Ali"}
	ali.user("Plan the release.")
	for n := range 6 {
		ali.round(fmt.Sprintf("call_%d", n), pages(fmt.Sprintf("result %d", n), 5000))
		if ali.send(); ali.last.Report.Reason != "" {
			t.Fatal("poured too early for this test")
		}
	}
	results := func(m *member) (out []string) {
		for _, b := range blocksOf(t, m.last.Body) {
			if strings.HasPrefix(b, "user result call_") {
				out = append(out, b)
			}
		}
		return out
	}
	whole := results(ali)
	// rewritten returns a delegate that begins with words of its own in place of the first message.
	rewritten := func(of *member, name, task string) *member {
		c := of.child(name)
		c.ms[0] = `{"role":"user","content":"` + name + ` has been told what happened so far."}`
		c.says("I delegate.")
		c.user(task)
		return c
	}
	leo := rewritten(ali, "Leo", pages("Leo's material", 20_000))
	if leo.send(); leo.last.Report.Relation != "begins" || leo.last.Report.Reason == "" || slices.Equal(results(leo), whole) {
		t.Fatalf("Leo's request %s, pour %q; want a conversation of its own that is poured", leo.last.Report.Relation, leo.last.Report.Reason)
	}
	sara := rewritten(ali, "Sara", "Do your part.")
	if sara.send(); sara.last.Report.Relation != "begins" || !slices.Equal(results(sara), whole) {
		t.Errorf("Sara's request %s, and she is sent results as Leo is:\n%.200q\nwant them as Ali is", sara.last.Report.Relation, results(sara))
	}
	after := results(leo)
	leo.says("Working.")
	leo.user("Go on.")
	leo.send()
	again := rewritten(leo, "Leo later", "And now the rest.") // its client has summarised what Leo's conversation began with
	if again.send(); again.last.Report.Relation != "begins" || !slices.Equal(results(again), after) {
		t.Errorf("the request %s; results are\n%.200q\nwant them as in the conversation that it goes on from\n%.200q", again.last.Report.Relation, results(again), after)
	}
}
