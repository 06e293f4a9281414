package chatserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

func TestMain(m *testing.M) {
	tools.MainIfConfined()
	goleak.VerifyTestMain(m)
}

// A world is a service on loopback, with a real engine on a real file, before a strict stand-in for the Messages API.
type world struct {
	testing.TB
	path    string
	model   *sandbox.Server
	tools   []agent.Tool
	rules   permission.Rules
	keys    *keyring.Ring
	hosts   []string
	client  provider.Speaker // in place of one before the stand-in
	spaces  Workspaces
	recall  bool // sessions that begin are told what is remembered
	budgets []budget.Budget
	usd     float64 // of a session

	timeouts engine.Timeouts // zero: what a busy machine needs
	db       *embedded.DB
	service  *Server
	http     *httptest.Server
	end      []func()
}

// newWorld begins a service whose model is m.
func newWorld(t testing.TB, m sandbox.Model, change ...func(*world)) *world {
	t.Helper()
	w := &world{TB: t, path: filepath.Join(t.TempDir(), "chat.db"), model: sandbox.New(sandbox.Options{Model: m, Chunk: 8})}
	for _, f := range change {
		f(w)
	}
	w.begin()
	t.Cleanup(w.close)
	return w
}

// begin begins the service.
func (w *world) begin() {
	w.Helper()
	rt, stop := w.model.Pipe()
	w.end = append(w.end, stop)
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err == nil {
		w.db, err = embedded.Open(w.Context(), w.path, &embedded.Options{Engine: engine.Options{Timeouts: cmp.Or(w.timeouts, sandboxtest.Patient), Budgets: w.budgets}, Recall: w.recall, Account: &provider.Account{Client: client}})
	}
	speaker := w.client
	if speaker == nil {
		speaker = client
	}
	if err == nil {
		w.service, err = New(Options{
			Store: w.db.Store(), Engine: w.db.Engine(), Client: speaker, Default: Agent{Name: "default", Model: "claude-sonnet-4-5", Tools: append(names(w.tools), "save_memory", "recall")},
			Tools: func(string) ([]agent.Tool, error) { return w.tools, nil }, Keys: w.keys, Rules: w.rules, Hosts: w.hosts, Workspaces: w.spaces, SessionUSD: w.usd,
		})
	}
	if err != nil {
		w.Fatal(err)
	}
	w.http = httptest.NewServer(w.service)
}

func names(tools []agent.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// close ends the service, at once.
func (w *world) close() {
	if w.service == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := w.service.Close(ctx)
	w.http.CloseClientConnections()
	w.http.Close()
	if err = errors.Join(err, w.db.Close()); err != nil {
		w.Error(err)
	}
	for _, f := range w.end {
		f()
	}
	w.service, w.end = nil, nil
}

// goOn has the service go on with the runs that others have left.
func (w *world) goOn() {
	w.Helper()
	if err := w.service.Continue(); err != nil {
		w.Fatal(err)
	}
	w.service.rooms.resumed()
}

// resumed waits until a service has gone on with the runs that others have left.
func (s *rooms) resumed() {
	s.resuming.Lock()
	defer s.resuming.Unlock()
}

// restart ends the service and begins it anew on the same file.
func (w *world) restart() {
	w.Helper()
	w.close()
	w.begin()
}

// legal says that the API has refused nothing.
func (w *world) legal() {
	w.Helper()
	for _, e := range w.model.Log.Refused() {
		w.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
	}
}

// An httpCall is a request to the service.
type httpCall struct {
	method, path, body string
	header             map[string]string
}

// do makes a request and holds the answer against the description of the service.
func (w *world) do(c httpCall) *http.Response {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), c.method, w.http.URL+c.path, strings.NewReader(c.body))
	if err != nil {
		w.Fatal(err)
	}
	for k, v := range c.header {
		if k == "Host" {
			r.Host = v
		}
		r.Header.Set(k, v)
	}
	res, err := w.http.Client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	described(w.TB, c.method, c.path, res)
	return res
}

// get makes a request and reads the answer, whose status must be the one that is wanted.
func get[T any](w *world, want int, c httpCall) (out T) {
	w.Helper()
	if c.header == nil {
		c.header = map[string]string{}
	}
	if c.header["Accept"] == "" {
		c.header["Accept"] = "application/json"
	}
	res := w.do(c)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	if res.StatusCode != want {
		w.Fatalf("%s %s: %d %s, want %d", c.method, c.path, res.StatusCode, data, want)
	}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &out); err != nil {
			w.Fatalf("%s %s: %v in %s", c.method, c.path, err, data)
		}
	}
	return out
}

// object writes a body.
func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// session begins a session and returns its id.
func (w *world) session() string {
	w.Helper()
	return get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions"}).ID
}

// say says something and waits for the end.
func (w *world) say(id, text string) outcome {
	w.Helper()
	return get[outcome](w, 200, httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: object(map[string]any{"text": text})})
}

// An arrived event is one with its id.
type arrived struct {
	id string
	event
}

// events calls do with each event of a stream until it returns false or the stream ends.
func events(t testing.TB, res *http.Response, do func(arrived) bool) {
	t.Helper()
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("a stream: %d", res.StatusCode)
		return
	}
	lines := bufio.NewReader(res.Body)
	var e arrived
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			e = arrived{id: id}
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			heldAgainst(t, []byte(data), "components", "schemas", "Event")
			if err := json.Unmarshal([]byte(data), &e.event); err != nil {
				t.Errorf("event %s: %v", data, err)
				return
			}
			if !do(e) {
				return
			}
		}
	}
}

// slowly is a model that answers when it is let.
type slowly struct {
	sandboxtest.Model
	let chan struct{}
}

func (f slowly) Answer(ctx context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	select {
	case <-f.let:
		return f.Model(p), nil
	case <-ctx.Done():
		return sandbox.Answer{}, ctx.Err()
	}
}

func says(s string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: s}}}
}

func uses(id, name, input string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, ID: id, Name: name, Input: stdjson.RawMessage(input)}}}
}

// last returns the texts and results of the last message of a prompt.
func last(p *sandbox.Prompt) string {
	var texts []string
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, " ")
}

// echo is a model that says what it heard.
var echo = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(fmt.Sprintf("%d: %s", len(p.Messages), last(p))) })

// readAll reads a body and puts it back.
func readAll(t testing.TB, res *http.Response) []byte {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body = io.NopCloser(bytes.NewReader(data))
	return data
}

// sent returns the newest request for an answer.
func (w *world) sent() string { return string(w.model.Log.Last().Body) }
