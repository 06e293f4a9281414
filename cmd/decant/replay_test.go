package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/replay"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/costtest"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A recital is a recorded session, played through Decant against the sandbox on recorded time, request
// by request, as an agent does that asks for caching behind its system prompt and at the end of the
// last message of the user.
type recital struct {
	t      *testing.T
	conv   *decant.Conversation
	est    *token.Estimator // counts for the sandbox as well
	clock  time.Time
	api    *sandbox.Server
	decant *embedded.DB
	url    string

	cache     *cost.Cache
	predicted decant.Usage // by the model of the cache, of what left the engine
	reported  decant.Usage // by the sandbox
	usd       float64
	bodies    []*decant.Conversation
}

// instructions are a system prompt of some thousand tokens.
var instructions = strings.Repeat("You are a coding agent in a terminal: prefer small, verified steps. ", 300)

const recitalModel = "claude-sonnet-4-5" // keeps any thinking, caches from 1,024 tokens on

func newRecital(t *testing.T, conv *decant.Conversation, early string) *recital {
	t.Helper()
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := models.Lookup(recitalModel)
	conv, err = withTools(conv)
	if err != nil {
		t.Fatal(err)
	}
	r := &recital{t: t, conv: conv, est: token.For(m), cache: cost.NewCache(m)}
	now := func() time.Time { return r.clock }
	r.api = sandbox.New(sandbox.Options{Model: sandbox.NewScript(conv), Counter: toolCounter(r.est, conv), Now: now})
	server := httptest.NewServer(r.api)
	t.Cleanup(server.Close)
	preset, err := setup.Preset("default", config.Level(early))
	if err != nil {
		t.Fatal(err)
	}
	r.decant, err = embedded.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), &embedded.Options{
		Engine: engine.Options{Preset: preset, Now: now, Timeouts: sandboxtest.Patient}, Store: sqlite.Options{Now: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.decant.Close() })
	r.url = server.URL
	return r
}

// A toolset counts as an estimator does, and counts with the first tool what it takes that there are tools at all. The
// sandbox leaves that out.
type toolset struct {
	*token.Estimator
	first string // the name of the tool
	extra int
}

func toolCounter(e *token.Estimator, conv *decant.Conversation) decant.Counter {
	one := conv.Fixed.Tools[:1]
	return toolset{e, fmt.Sprintf("\"name\":%q", one[0].Name), e.Fixed(&decant.Fixed{Tools: one}) - e.Tool(&one[0])}
}

// Count implements decant.Counter.
func (c toolset) Count(text string) int {
	if strings.Contains(text, c.first) && strings.Contains(text, `"input_schema"`) && len(text) < 200 {
		return c.Estimator.Count(text) + c.extra
	}
	return c.Estimator.Count(text)
}

// play sends all requests.
func (r *recital) play() {
	r.t.Helper()
	p := player{conv: r.conv}
	for _, n := range p.requests() {
		r.clock = p.at(n)
		r.send(marked(r.t, r.conv.With(r.conv.Messages[:n])))
		if err := r.decant.Engine().Close(); err != nil { // it waits for the archive, whose time is this request's
			r.t.Fatal(err)
		}
		r.account()
	}
}

func (r *recital) send(body []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Anthropic-Version": "2023-06-01", "X-Api-Key": "none", "X-Decant-Session": "s",
	} {
		req.Header.Set(name, value)
	}
	res, err := r.decant.Client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		r.t.Fatalf("status %d: %s, %v", res.StatusCode, answer, err)
	}
}

// marked returns the request with the messages of conv and the markers.
func marked(t *testing.T, conv *decant.Conversation) []byte {
	t.Helper()
	conv.Fixed.System = []decant.Block{{Kind: decant.KindText, Content: decant.Text(instructions)}}
	body, err := wire.Encode(conv, wire.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	var q map[string]any
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	mark(q["system"])
	ms := q["messages"].([]any)
	for i := len(ms) - 1; i >= 0; i-- {
		if m := ms[i].(map[string]any); m["role"] == "user" {
			mark(m["content"])
			break
		}
	}
	body, err = json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// mark puts a cache marker on the last of blocks.
func mark(blocks any) {
	bs := blocks.([]any)
	bs[len(bs)-1].(map[string]any)["cache_control"] = map[string]any{"type": "ephemeral"}
}

// account adds up what the newest request was predicted and reported to use.
func (r *recital) account() {
	r.t.Helper()
	last := r.api.Log.Last()
	doc, err := wire.ParseAs(wire.Anthropic, last.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	view := doc.Conversation
	blocks := costtest.Lay(view, r.est)
	r.predicted = r.predicted.Add(r.cache.Send(cost.Request{At: r.clock, Blocks: blocks}))
	u := last.Usage
	u.Output = 0
	r.reported = r.reported.Add(u)
	usd, _ := cost.Of(r.est.Model(), u, cost.Terms{At: r.clock}).Total()
	r.usd += usd
	r.bodies = append(r.bodies, view)
}

// busts returns how many requests changed something that the one before had sent.
func (r *recital) busts() (n int) {
	for i := 1; i < len(r.bodies); i++ {
		before, now := costtest.Lay(r.bodies[i-1], r.est), costtest.Lay(r.bodies[i], r.est)
		if !slices.EqualFunc(before, now[:min(len(before), len(now))], func(a, b cost.Block) bool { return a.ID == b.ID }) {
			n++
		}
	}
	return n
}

// sendable returns a session of testdata as it can be sent to the sandbox: without thinking, which is
// signed by somebody else.
func sendable(t *testing.T, name string) *decant.Conversation {
	t.Helper()
	var s process.Process
	doc, err := sessionfile.Read(&s, filepath.Join("..", "..", "testdata", name), "")
	if err != nil {
		t.Fatal(err)
	}
	// The sandbox reads it as a request does.
	out := doc.Conversation.With(nil)
	for _, m := range doc.Conversation.Messages {
		m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b decant.Block) bool {
			return b.Kind != decant.KindText && b.Kind != decant.KindUse && b.Kind != decant.KindResult
		})
		m.Usage = nil // it is another model's, and of other prompts
		if len(m.Blocks) > 0 && m.Role != decant.RoleSystem {
			out.Messages = append(out.Messages, m)
		}
	}
	out.Model = recitalModel
	return out
}

// generated returns a session of an agent that reads files, with so many pauses in a hundred rounds, after
// most of which the cache has gone cold.
func generated(seed uint64, rounds, pauses int) *decant.Conversation {
	r := rand.New(rand.NewPCG(seed, 5))
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	c := &decant.Conversation{Model: recitalModel}
	add := func(role decant.Role, blocks ...decant.Block) {
		m := decant.Message{Number: len(c.Messages) + 1, Role: role, Time: at, Blocks: blocks}
		for k := range m.Blocks {
			m.Blocks[k].Ref = decant.Ref{Message: m.Number, Block: k}
		}
		c.Messages = append(c.Messages, m)
	}
	add(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("Make pkg/server faster and keep its tests green.")})
	for i := range rounds {
		var calls, results []decant.Block
		for k := range 1 + r.IntN(3)*r.IntN(2) {
			id := fmt.Sprintf("toolu_%d_%d_%d", seed, i, k)
			file := fmt.Sprintf("pkg/server/part%d.go", r.IntN(20))
			calls = append(calls, decant.Block{Kind: decant.KindUse, CallID: id, Name: "Read", Content: decant.Text(fmt.Sprintf(`{"file_path":%q}`, file))})
			results = append(results, decant.Block{Kind: decant.KindResult, CallID: id, Name: "Read", Content: decant.Text(sourceFor(r, file))})
		}
		at = at.Add(time.Duration(5+r.IntN(60)) * time.Second)
		if r.IntN(100) < pauses {
			at = at.Add(time.Duration(4+r.IntN(30)) * time.Minute)
		}
		add(decant.RoleAssistant, calls...)
		add(decant.RoleUser, results...)
	}
	at = at.Add(time.Second)
	add(decant.RoleAssistant, decant.Block{Kind: decant.KindText, Content: decant.Text("Done.")})
	return c
}

// sourceFor returns a file of some hundred lines.
func sourceFor(r *rand.Rand, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// file %s\n", name)
	for i := range 10 + r.IntN(250) {
		fmt.Fprintf(&b, "func handle%d(w *writer, limit int) error { return w.put(%d, limit+%d) }\n", r.IntN(5000), i, r.IntN(100000))
	}
	return b.String()
}

// sessions are those that the tests below play; at quick depth one.
func sessions(t *testing.T) map[string]*decant.Conversation {
	if !testkit.Full() {
		return map[string]*decant.Conversation{"claude": sendable(t, "claude-code-session.jsonl.gz")}
	}
	out := map[string]*decant.Conversation{
		"claude": sendable(t, "claude-code-session.jsonl.gz"), "codex": sendable(t, "codex-session.jsonl.gz"),
	}
	for i, pauses := range []int{0, 2, 8} {
		out[fmt.Sprintf("generated%d", i)] = generated(uint64(i), 45, pauses)
	}
	return out
}

// What the model of the cache predicts for the requests that leave the engine is what the sandbox finds in
// its cache, pours and pauses included; and what a replay promises is what the gateway does: the same
// session costs the same.
func TestReplayPredictsWhatTheSandboxReports(t *testing.T) {
	t.Parallel()
	var predicted, reported decant.Usage
	pours := 0
	for name, conv := range sessions(t) {
		levels := []string{"default", "high"}
		if strings.HasPrefix(name, "generated") { // they are long
			levels = levels[:1]
		}
		for _, early := range levels {
			t.Run(name+":"+early, func(t *testing.T) {
				r := newRecital(t, conv, early)
				r.play()
				// Both count the frames of blocks in their own way: what is compared here is how prompts divide.
				scale := float64(r.reported.Prompt()) / float64(r.predicted.Prompt())
				near(t, "tokens read from the cache", scale*float64(r.predicted.CacheRead), r.reported.CacheRead, 0.002)
				near(t, "tokens written to the cache", scale*float64(r.predicted.CacheWrite), r.reported.CacheWrite, 0.002)
				agrees(t, r, early)
				booked(t, r)
				predicted, reported, pours = predicted.Add(r.predicted), reported.Add(r.reported), pours+r.busts()
			})
		}
	}
	t.Logf("predicted %+v, reported %+v, %d pours", predicted, reported, pours)
	near(t, "all tokens read from the cache", float64(predicted.CacheRead), reported.CacheRead, 0.01)
	near(t, "all tokens written to the cache", float64(predicted.CacheWrite), reported.CacheWrite, 0.01)
	if pours < testkit.Depth(4, 10) {
		t.Errorf("there were %d pours: nothing is proved", pours)
	}
}

// near checks that a prediction is within a share of what was reported.
func near(t *testing.T, what string, predicted float64, reported int, within float64) {
	t.Helper()
	if math.Abs(predicted-float64(reported)) > within*float64(reported) {
		t.Errorf("%s: %.0f predicted, %d reported", what, predicted, reported)
	}
}

// agrees checks that a replay of the session costs within two hundredths of what was sent, with as many
// pours.
func agrees(t *testing.T, r *recital, early string) {
	t.Helper()
	p, err := replay.Parse("default", early)
	if err != nil {
		t.Fatal(err)
	}
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	fixed := r.est.Fixed(&r.bodies[0].Fixed)
	played, err := replay.Play("", r.conv, replay.Options{Policies: []replay.Policy{p}, Catalog: models, Model: r.conv.Model, Fixed: fixed})
	if err != nil {
		t.Fatal(err)
	}
	want := &played.Results[0]
	answers, _ := cost.Of(r.est.Model(), decant.Usage{Output: want.Usage.Output}, cost.Terms{At: r.clock}).Total()
	usd := want.USD - answers
	t.Logf("$%.4f with %d rewrites, the replay says $%.4f with %d", r.usd, r.busts(), usd, want.Busts)
	if math.Abs(r.usd-usd) > 0.02*usd || r.busts() != want.Busts {
		t.Errorf("sent for $%.4f with %d rewrites, the replay says $%.4f with %d", r.usd, r.busts(), usd, want.Busts)
	}
}

// booked checks that what was stored for the conversation adds up to what was sent.
func booked(t *testing.T, r *recital) {
	t.Helper()
	totals, err := r.decant.Store().Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var spent, bare store.Money
	output := 0
	for _, x := range totals {
		spent, bare, output = spent+x.Cost, bare+x.Bare, output+x.Usage.Output
		if x.Rewrite > x.Cost {
			t.Errorf("%s: more was rewritten than spent: %+v", x.Day, x)
		}
	}
	answers, _ := cost.Of(r.est.Model(), decant.Usage{Output: output}, cost.Terms{At: r.clock}).Total()
	if math.Abs(spent.USD()-answers-r.usd) > 1e-6 {
		t.Errorf("booked $%.6f, sent $%.6f", spent.USD()-answers, r.usd)
	}
	if bare < spent {
		t.Errorf("without Decant it would have cost $%.4f, with it $%.4f", bare.USD(), spent.USD())
	}
}
