package engine_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// A dialogue is one conversation of a client with a model through an engine, without HTTP between them.
type dialogue struct {
	testing.TB
	store   engine.Store
	engine  *engine.Engine
	sandbox *sandbox.Server
	preset  *preset.Preset // where an engine's options name none
	model   string
	extra   string // parameters before the messages
	tools   string // empty: one

	upstream string   // base URL of the provider
	betas    []string // of the client
	lie      bool     // the provider says that it has cleared something else
	session  string
	plain    bool   // the provider reports nothing of a cache
	refuses  string // what bodies must not have for the provider to take them, empty: nothing
	pauses   bool   // the client goes on where the model pauses behind a summary

	ms   []string
	last *engine.Prepared
}

const dialogueWindow = 8_000

func newDialogue(t testing.TB, o engine.Options) *dialogue {
	t.Helper()
	k := &dialogue{TB: t, store: emptyStore(t), preset: small(), model: "claude-sonnet-4-5", session: "s", sandbox: newSandbox(sandbox.Options{Window: dialogueWindow, Model: &actor{}})}
	t.Cleanup(func() { k.engine.Close() })
	k.start(o)
	return k
}

// start starts an engine on the dialogue's store, as after a restart.
func (k *dialogue) start(o engine.Options) {
	k.Helper()
	if k.engine != nil {
		k.engine.Close()
	}
	if o.Window == 0 {
		o.Window = dialogueWindow
	}
	if o.Preset == nil {
		o.Preset = k.preset
	}
	if o.Catalog == nil {
		o.Catalog = catalog()
	}
	if o.Timeouts.Optional == 0 { // the machine may be busy
		o.Timeouts = sandboxtest.Patient
	}
	if o.Logger == nil {
		o.Logger = testkit.StrictLog(k)
	}
	var err error
	if k.engine, err = engine.New(k.store, o); err != nil {
		k.Fatal(err)
	}
}

func (k *dialogue) body() []byte {
	tools := k.tools
	if tools == "" {
		tools = bashTool
	}
	return []byte(fmt.Sprintf(`{"model":%q,"max_tokens":1300,"tools":[%s],%s"messages":[%s]}`, k.model, tools, k.extra, strings.Join(k.ms, ",")))
}

// Tools of a dialogue. Beside the memory tool nothing is cleared by the provider.
const (
	bashTool   = `{"name":"Bash","input_schema":{"type":"object"}}`
	memoryTool = `{"type":"memory_20250818","name":"memory"}`
)

// user appends a message of the user.
func (k *dialogue) user(words string) {
	k.ms = append(k.ms, `{"role":"user","content":[{"type":"text","text":`+quote(words)+`}]}`)
}

// round appends a call and its result.
func (k *dialogue) round(n int, result string) {
	k.ms = append(k.ms,
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"Step %d."},{"type":"tool_use","id":"call_%d","name":"Bash","input":{"command":"step %d"}}]}`, n, n, n),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":[{"type":"text","text":%s}]}]}`, n, quote(result)))
}

// says appends a final answer.
func (k *dialogue) says(words string) {
	k.ms = append(k.ms, `{"role":"assistant","content":[{"type":"text","text":`+quote(words)+`}]}`)
}

// prepare prepares the conversation as it is.
func (k *dialogue) prepare() *engine.Prepared {
	k.Helper()
	p, err := k.engine.Prepare(k.Context(), &engine.Request{Session: k.session, Upstream: k.upstream, Body: k.body(), Pauses: k.pauses})
	if err != nil {
		k.Fatal(err)
	}
	k.last = p
	return p
}

// send prepares the conversation, sends it to the sandbox, recovers where it is refused, and reports
// the answer.
func (k *dialogue) send() (status int, answer string) {
	k.Helper()
	p := k.prepare()
	for {
		status, answer = k.post(p)
		if status == http.StatusOK {
			next := k.goOn(p, answer)
			if next == nil {
				break
			}
			p = next
			continue
		}
		next, ok := k.engine.Recover(k.Context(), p, status, []byte(answer))
		if !ok {
			break
		}
		p = next
	}
	k.last = p
	log := k.sandbox.Log.Last()
	usage := log.Usage
	if k.plain {
		usage = decant.Usage{Input: usage.Prompt(), Output: usage.Output}
	}
	res := engine.Response{Status: status, Usage: usage, Content: []byte(`[{"type":"text","text":"noted"}]`), Stop: "end_turn", Organization: "org"}
	if res.Editing = strings.Contains(answer, "applied_edits"); res.Editing {
		res.Cleared = log.Cleared
	}
	if k.lie && res.Cleared > 0 {
		res.Cleared++
	}
	k.engine.Finish(p, res)
	k.engine.Close() // so that the next request knows of the usage
	return status, answer
}

// goOn returns what to send next where an answer is a summary behind which the model has paused, nil for any other.
func (k *dialogue) goOn(p *engine.Prepared, answer string) *engine.Prepared {
	k.Helper()
	read := anthropic.Dialect{}.ReadAnswer(func(int) bool { return true })
	read.Object([]byte(answer))
	a := read.Answer()
	next, err := k.engine.Paused(k.Context(), p, engine.Response{Status: http.StatusOK, Usage: a.Usage, Extra: a.Extra, Content: a.Content, Stop: a.Stop, Organization: "org"})
	if err != nil {
		k.Fatal(err)
	}
	return next
}

func (k *dialogue) post(p *engine.Prepared) (int, string) {
	if k.refuses != "" && strings.Contains(string(p.Body), k.refuses) {
		return http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"context_management.edits: ` + k.refuses + ` is not known"}}`
	}
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(string(p.Body)))
	r.Header.Set("x-api-key", "key")
	r.Header.Set("anthropic-version", "2023-06-01")
	r.Header.Set("content-type", "application/json")
	for _, b := range append(p.Betas[:len(p.Betas):len(p.Betas)], k.betas...) {
		r.Header.Add("anthropic-beta", b)
	}
	w := httptest.NewRecorder()
	k.sandbox.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		k.Fatal(err)
	}
	return w.Code, string(body)
}

// mustSend fails the test when the request is refused.
func (k *dialogue) mustSend() {
	k.Helper()
	if status, answer := k.send(); status != http.StatusOK {
		k.Fatalf("status %d: %s", status, answer)
	}
}

// state returns the conversation of the last request from the store.
func (k *dialogue) state() *store.State {
	k.Helper()
	k.engine.Close()
	s, err := k.store.Load(k.Context(), store.Key{ID: k.last.Conversation}, store.Newest)
	if err != nil {
		k.Fatal(err)
	}
	return s
}

// pour works until there was a pour, and returns the number of rounds.
func (k *dialogue) pour() int {
	k.Helper()
	k.user("Do the work. The password of the vault is in /etc/vault.conf.")
	for n := 1; n < 60; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
		k.mustSend()
		if k.last.Report.Reason != "" {
			return n
		}
	}
	k.Fatal("60 rounds without a pour")
	return 0
}

// broken is a store whose parts can be made to fail.
type broken struct {
	engine.Store
	version, commit, match error
	panics                 bool
}

func (b *broken) Version(ctx context.Context, k store.Key) (int64, error) {
	if b.version != nil {
		return 0, b.version
	}
	return b.Store.Version(ctx, k)
}

func (b *broken) Match(ctx context.Context, tenant, session string, chain []decant.Hash) (store.Match, error) {
	if b.panics {
		panic("the store is broken")
	}
	if b.match != nil {
		return store.Match{}, b.match
	}
	return b.Store.Match(ctx, tenant, session, chain)
}

func (b *broken) Commit(ctx context.Context, x *store.Batch) (int64, error) {
	if b.commit != nil {
		return 0, b.commit
	}
	return b.Store.Commit(ctx, x)
}
