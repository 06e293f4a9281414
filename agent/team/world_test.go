package team_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a team, with a real engine on a real file, before a strict stand-in for the Messages API.
type world struct {
	testing.TB
	server *sandbox.Server
	client provider.Speaker
	path   string
	db     *embedded.DB
}

func newWorld(t testing.TB, m sandbox.Model) *world {
	t.Helper()
	w := &world{TB: t, server: sandbox.New(sandbox.Options{Model: m, LogSize: 10_000, LogBytes: 1 << 30}), path: filepath.Join(t.TempDir(), "team.db")}
	w.client = sandboxtest.Client(t, w.server)
	w.db = w.open()
	return w
}

// open opens the database, once more where it is open already.
func (w *world) open() *embedded.DB {
	w.Helper()
	db, err := embedded.Open(w.Context(), w.path, &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { db.Close() })
	return db
}

// team returns a team with options.
func (w *world) team(o team.Options) *team.Team {
	w.Helper()
	if o.Agent.Engine == nil {
		o.Agent.Engine = w.db.Engine()
	}
	if o.Agent.Model == "" {
		o.Agent.Model = "claude-sonnet-4-5"
	}
	if o.Agent.System == "" {
		o.Agent.System = "You coordinate."
	}
	x, err := team.New(w.client, o)
	if err != nil {
		w.Fatal(err)
	}
	return x
}

// legal says that the API has refused nothing.
func (w *world) legal() {
	w.Helper()
	for _, e := range w.server.Log.Refused() {
		w.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
	}
}

// ran reads a run to its end.
func ran(t testing.TB, events iter.Seq2[agent.Event, error]) (all []agent.Event, o agent.Outcome, err error) {
	t.Helper()
	for e, fault := range events {
		all = append(all, e)
		err = errors.Join(err, fault)
	}
	if len(all) == 0 || all[len(all)-1].Kind != agent.EventDone {
		t.Fatalf("the run ends with %v, not with %s", all, agent.EventDone)
	}
	return all, *all[len(all)-1].Outcome, err
}

func text(s string) sandbox.Block { return sandbox.Block{Kind: decant.KindText, Text: s} }

func use(id, name, input string) sandbox.Block {
	return sandbox.Block{Kind: decant.KindUse, ID: id, Name: name, Input: json.RawMessage(input)}
}

func says(blocks ...sandbox.Block) sandbox.Answer { return sandbox.Answer{Blocks: blocks} }

// delegates returns an answer that delegates one task to each of some members: task NAME.
func delegates(p *sandbox.Prompt, names ...string) sandbox.Answer {
	var blocks []sandbox.Block
	for _, name := range names {
		blocks = append(blocks, use("", "delegate", fmt.Sprintf(`{"to":%q,"task":"Task %s %d."}`, name, name, len(p.Messages))))
	}
	return says(blocks...)
}

// told returns the texts of the last message of a prompt.
func told(p *sandbox.Prompt) string {
	var texts []string
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		if b.Kind == decant.KindText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// task returns the task that the last message of a prompt delegates, empty where it is about something else.
func task(p *sandbox.Prompt) string {
	_, out, _ := strings.Cut(told(p), "The task:\n")
	return out
}

// readsMuch is a tool that returns so many characters.
func readsMuch(characters int) agent.Tool {
	return agent.Tool{Name: "read", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		return agent.Result{Text: strings.Repeat("some words ", characters/11)}, nil
	}}
}

// A request is what the sandbox has received, without markers for the cache.
type request struct {
	model, system, tools string
	messages             []string
	full                 bool // the window has no room for more
}

// markers are the markers for the cache, as agents write them.
var markers = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"(,"ttl":"1h")?\}`)

// received reads a body that the sandbox has received. It shares no code with what is tested.
func received(t testing.TB, body []byte) request {
	t.Helper()
	var b struct {
		Model           string
		System          []struct{ Text string }
		Tools, Messages json.RawMessage
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	out := request{model: b.Model, tools: string(b.Tools)}
	for _, s := range b.System {
		out.system += s.Text
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(b.Messages, &messages); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		out.messages = append(out.messages, markers.ReplaceAllString(string(m), ""))
	}
	return out
}

// begins reports whether a request begins with all that another one has, but for what stands behind its instructions.
func (r *request) begins(with *request) bool {
	if len(r.messages) <= len(with.messages) || !strings.HasPrefix(r.system, with.system) {
		return false
	}
	for i, m := range with.messages {
		if r.messages[i] != m {
			return false
		}
	}
	return true
}

// find returns the requests whose last message has a text, in their order.
func (w *world) find(text string) (out []sandbox.Entry) {
	w.Helper()
	for _, e := range w.server.Log.Entries() {
		if ms := received(w.TB, e.Body).messages; len(ms) > 0 && strings.Contains(ms[len(ms)-1], text) {
			out = append(out, e)
		}
	}
	return out
}
