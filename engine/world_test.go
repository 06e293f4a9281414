package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/transport"
)

// A part is a content block as a client holds it.
type part struct {
	kind, text, id, name, signature string
	reminder                        bool // a note of the client's that it may take away again
}

// A saying is a message as a client holds it.
type saying struct {
	role  string
	parts []part
}

// A style is how a client writes its requests down; none of it changes what they say.
type style struct {
	strings  bool // a lone text as a string
	spaces   bool
	reorder  bool // keys in another order
	thinking bool // left out where the API allows it
	marker   bool // a cache marker on the last block

	tools string // empty: a shell
	extra string // further members of a request, each with its comma behind
}

// write returns a request body.
func (s style) write(model, thinking string, ms []saying) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"max_tokens":1300,"system":"You are careful.","tools":[%s],%s`, model, cmp.Or(s.tools, bashTool), s.extra)
	if thinking != "" {
		fmt.Fprintf(&b, `"thinking":%s,`, thinking)
	}
	b.WriteString(`"messages":[`)
	for i, m := range ms {
		if i > 0 {
			b.WriteByte(',')
		}
		s.message(&b, m, i == len(ms)-1)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func (s style) message(b *strings.Builder, m saying, last bool) {
	space := ""
	if s.spaces {
		space = " \n"
	}
	if s.strings && len(m.parts) == 1 && m.parts[0].kind == "text" && !(last && s.marker) {
		fmt.Fprintf(b, `{"role":%q,%s"content":%s}`, m.role, space, quote(m.parts[0].text))
		return
	}
	var parts []string
	for k, p := range m.parts {
		if p.kind == "thinking" && s.thinking {
			continue
		}
		parts = append(parts, s.part(p, last && s.marker && k == len(m.parts)-1))
	}
	fmt.Fprintf(b, `{"role":%q,%s"content":[%s]}`, m.role, space, strings.Join(parts, ","+space))
}

func (s style) part(p part, marked bool) string {
	var f []string
	switch p.kind {
	case "text":
		f = []string{`"type":"text"`, `"text":` + quote(p.text)}
	case "thinking":
		f = []string{`"type":"thinking"`, `"thinking":` + quote(p.text), `"signature":` + quote(p.signature)}
	case "tool_use":
		f = []string{`"type":"tool_use"`, `"id":` + quote(p.id), `"name":` + quote(p.name), `"input":` + p.text}
	case "tool_result":
		content := quote(p.text)
		if !s.strings {
			content = `[{"type":"text","text":` + content + `}]`
		}
		f = []string{`"type":"tool_result"`, `"tool_use_id":` + quote(p.id), `"content":` + content}
	}
	if s.reorder {
		slices.Reverse(f)
	}
	if marked {
		f = append(f, `"cache_control":{"type":"ephemeral"}`)
	}
	return "{" + strings.Join(f, ",") + "}"
}

func quote(s string) string { return string(jsonspan.AppendQuote(nil, s)) }

// A world is everything around some clients: the provider, a store, and an engine that may be
// restarted.
type world struct {
	t       *rapid.T
	dir     string
	early   bool           // the schedule may pour early
	drop    bool           // the engine may ask for drop_block
	asks    bool           // the engine may have the provider write summaries
	preset  *preset.Preset // nil: default
	window  int            // of every model, in tokens
	sandbox *sandbox.Server
	between func(http.Handler) http.Handler // what stands before the sandbox, nil: nothing
	db      store.Store
	engine  *engine.Engine
	client  http.RoundTripper

	mu      sync.Mutex
	forward [][]byte // bodies that left since the last step
	inspect func(sent []byte, h http.Header)
}

const worldWindow = 6_000

func newWorld(t *rapid.T) *world {
	w := &world{t: t, dir: newDir(t), early: rapid.Bool().Draw(t, "schedule"), window: worldWindow, sandbox: newSandbox(sandbox.Options{Window: worldWindow, Model: &actor{}})}
	w.start()
	return w
}

// newDir returns a folder for a world, with a database that holds nothing.
func newDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "decant-world")
	if err == nil {
		_, err = emptyFile(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// start opens the store and starts an engine on it.
func (w *world) start() {
	var err error
	if w.db, err = sqlite.Open(context.Background(), filepath.Join(w.dir, "decant.db"), sqlite.Options{}); err != nil {
		w.t.Fatal(err)
	}
	w.engine = w.newEngine()
	w.client = w.transport(w.engine)
}

func (w *world) newEngine() *engine.Engine {
	o := engine.Options{Catalog: catalog(), Preset: cmp.Or(w.preset, small()), Window: w.window, NoEarlyPours: !w.early, Adds: engine.Adds{DropBlock: w.drop}, Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(w.t)}
	if w.asks {
		o.Models.Asker = &inquirer{post: w.ask}
	}
	e, err := engine.New(w.db, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) transport(e *engine.Engine) http.RoundTripper {
	return transport.New(e, transport.Options{
		Base:   upstream{w},
		Tenant: func(r *http.Request) (string, error) { return r.Header.Get("X-Decant-Key"), nil },
	})
}

// restart stops everything that has memory and starts it anew on the same file.
func (w *world) restart() {
	w.engine.Close()
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.start()
}

func (w *world) close() {
	w.engine.Close()
	w.db.Close()
	os.RemoveAll(w.dir)
}

// ask makes an own call.
func (w *world) ask(r *provider.Request) (status int, answer string) {
	req := httptest.NewRequest("POST", "http://api/v1/messages", bytes.NewReader(r.Body))
	for name, v := range map[string]string{"X-Api-Key": "key", "Anthropic-Version": "2023-06-01", "Content-Type": "application/json", "Anthropic-Beta": strings.Join(r.Betas, ",")} {
		req.Header.Set(name, v)
	}
	res, err := upstream{w}.RoundTrip(req)
	if err != nil {
		return 0, err.Error()
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(body)
}

// upstream is the provider without a network.
type upstream struct{ w *world }

func (u upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	u.w.mu.Lock()
	u.w.forward = append(u.w.forward, body)
	inspect := u.w.inspect
	u.w.mu.Unlock()
	if inspect != nil {
		inspect(body, r.Header)
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	h := http.Handler(u.w.sandbox)
	if u.w.between != nil {
		h = u.w.between(h)
	}
	h.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// A caller is one client program with one conversation.
type caller struct {
	w        *world
	tenant   string
	session  string
	model    string
	thinking string
	style    style
	betas    string
	ms       []saying
	answered bool // the last message is the assistant's
	last     []byte
	decided  map[string]bool // ids of the decisions that were in the store when it was looked last
}

// An exchange is what a client sent and what came of it.
type exchange struct {
	body   []byte
	sent   []byte // last body that reached the provider
	tries  int
	status int
	header http.Header
	answer []byte
}

// send sends the conversation as it is and returns what came back. It does not change it.
func (c *caller) send(rt http.RoundTripper) exchange {
	x := exchange{body: c.style.write(c.model, c.thinking, c.ms)}
	req := httptest.NewRequest("POST", "http://api/v1/messages", bytes.NewReader(x.body))
	req.RequestURI = ""
	for name, v := range map[string]string{
		"X-Api-Key": "key", "Anthropic-Version": "2023-06-01", "Content-Type": "application/json",
		"X-Decant-Session": c.session, "X-Decant-Key": c.tenant,
	} {
		req.Header.Set(name, v)
	}
	if c.betas != "" {
		req.Header.Set("Anthropic-Beta", c.betas)
	}
	c.w.mu.Lock()
	c.w.forward = nil
	c.w.mu.Unlock()
	res, err := rt.RoundTrip(req)
	if err != nil {
		c.w.t.Fatal(err)
	}
	defer res.Body.Close()
	if x.answer, err = io.ReadAll(res.Body); err != nil {
		c.w.t.Fatal(err)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	x.tries = len(c.w.forward)
	if x.tries > 0 {
		x.sent = c.w.forward[x.tries-1]
	}
	x.status, x.header = res.StatusCode, res.Header
	return x
}

// accept appends the answer of an exchange to the conversation.
func (c *caller) accept(x exchange) {
	if err := c.hear(x.answer); err != nil {
		c.w.t.Fatal(err)
	}
}

// hear appends an answer to the conversation.
func (c *caller) hear(answer []byte) error {
	var m struct {
		Content []struct {
			Type      string         `json:"type"`
			Text      string         `json:"text"`
			Thinking  string         `json:"thinking"`
			Signature string         `json:"signature"`
			ID        string         `json:"id"`
			Name      string         `json:"name"`
			Input     jsontext.Value `json:"input"`
		} `json:"content"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return fmt.Errorf("answer %s: %w", answer, err)
	}
	s := saying{role: "assistant"}
	for _, b := range m.Content {
		p := part{kind: b.Type, text: b.Text + b.Thinking, id: b.ID, name: b.Name, signature: b.Signature}
		if b.Type == "tool_use" {
			p.text = string(b.Input)
		}
		s.parts = append(s.parts, p)
	}
	c.ms = append(c.ms, s)
	c.answered = true
	return nil
}

// calls returns the calls of the last message that wait for results.
func (c *caller) calls() (out []part) {
	if !c.answered || len(c.ms) == 0 {
		return nil
	}
	for _, p := range c.ms[len(c.ms)-1].parts {
		if p.kind == "tool_use" {
			out = append(out, p)
		}
	}
	return out
}

// An actor is a model that calls tools in three answers of four, up to three at once.
type actor struct {
	mu sync.Mutex
	n  int
}

func (a *actor) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	a.mu.Lock()
	a.n++
	n := a.n
	a.mu.Unlock()
	var bs []sandbox.Block
	if p.Thinking.On() {
		bs = append(bs, sandbox.Block{Kind: decant.KindThinking, Text: fmt.Sprintf("I think about step %d.", n)})
	}
	bs = append(bs, sandbox.Block{Kind: decant.KindText, Text: fmt.Sprintf("This is answer %d.", n)})
	if n%4 == 0 || len(p.Tools) == 0 {
		return sandbox.Answer{Blocks: bs}, nil
	}
	for k := range n%3 + 1 {
		bs = append(bs, sandbox.Block{Kind: decant.KindUse, Name: "Bash", Input: fmt.Appendf(nil, `{"command":"step %d.%d"}`, n, k)})
	}
	return sandbox.Answer{Blocks: bs}, nil
}

// conversations returns all states of a tenant, by id.
func (w *world) conversations(tenant string) map[string]*store.State {
	w.engine.Close()
	cs, err := w.db.Conversations(context.Background(), store.Filter{Tenant: tenant})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]*store.State{}
	for _, c := range cs {
		s, err := w.db.Load(context.Background(), c.Key, store.Newest)
		if err != nil {
			w.t.Fatal(err)
		}
		out[c.ID] = s
	}
	return out
}

// String keeps the report of a failed play readable.
func (c *caller) String() string { return fmt.Sprintf("%s/%s %s", c.tenant, c.session, c.model) }

// GoString does the same where values are printed as Go.
func (c *caller) GoString() string { return c.String() }
