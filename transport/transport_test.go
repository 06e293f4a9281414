package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

const hello = `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`

// base is a provider that keeps what it was sent and answers what it is told to.
type base struct {
	sent   []*http.Request
	bodies []string
	answer func(r *http.Request) *http.Response
}

func (b *base) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.sent, b.bodies = append(b.sent, r), append(b.bodies, string(body))
	if b.answer != nil {
		return b.answer(r), nil
	}
	return response(http.StatusOK, "application/json", `{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":2}}`), nil
}

func response(status int, kind, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}, "X-Upstream": {"yes"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// on returns a transport over b on the world's engine.
func (w *world) on(b *base) *Transport {
	return New(w.engine, Options{Base: b})
}

func post(t *testing.T, rt http.RoundTripper, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return roundTrip(t, rt, r)
}

// roundTrip returns the response to a request, with its body read.
func roundTrip(t *testing.T, rt http.RoundTripper, r *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(out)
}

// Headers, path, query and body arrive as they were sent, except for what is Decant's.
func TestBytesArriveUnchanged(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	b := &base{}
	res, body := post(t, w.on(b), "/v1/messages?beta=true", hello,
		"X-Api-Key", "secret", "Authorization", "Bearer token", "Anthropic-Beta", "a,b", "X-Decant-Session", "s", "X-Decant-Anything", "x",
		"X-Stainless-Retry-Count", "0", "Accept-Encoding", "gzip, br")
	r := b.sent[0]
	if b.bodies[0] != hello || r.URL.RequestURI() != "/v1/messages?beta=true" || r.ContentLength != int64(len(hello)) {
		t.Errorf("%s arrived as %s, %d bytes", b.bodies[0], r.URL, r.ContentLength)
	}
	for name, want := range map[string]string{
		"X-Api-Key": "secret", "Authorization": "Bearer token", "Anthropic-Beta": "a,b", "X-Stainless-Retry-Count": "0",
		"X-Decant-Session": "", "X-Decant-Anything": "", "Accept-Encoding": "identity",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("header %s arrived as %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(body, "Hi.") || res.Header.Get("X-Upstream") != "yes" || res.Header.Get("X-Decant-Conversation") == "" || res.Header.Get("X-Decant-Fault") != "" {
		t.Errorf("the answer is %s with %v", body, res.Header)
	}
}

func TestEverythingElsePasses(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	for _, c := range []struct{ name, path, body string }{
		{"Batches", "/v1/messages/batches", `{"requests":[]}`},
		{"MalformedJSON", "/v1/messages", `{"model":`},
		{"AnotherShape", "/v1/messages", `[1,2,3]`},
		{"Empty", "/v1/messages", ``},
		{"UnknownFieldsAndSpacing", "/v1/messages", `{ "future" : {"x":[1 ,2]},"model":"claude-sonnet-4-5","messages":[ {"content":"Hello.","role":"user","later":true} ] }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &base{}
			post(t, w.on(b), c.path, c.body)
			if b.bodies[0] != c.body {
				t.Errorf("%s arrived as %s", c.body, b.bodies[0])
			}
		})
	}
}

func TestCompressedBodies(t *testing.T) {
	var gz bytes.Buffer
	zw := gzip.NewWriter(&gz)
	if _, err := zw.Write([]byte(hello)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	for encoding, body := range map[string]string{"gzip": gz.String(), "zstd": string(enc.EncodeAll([]byte(hello), nil)), "br": "not read"} {
		t.Run(encoding, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{}, engine.Options{})
			b := &base{}
			res, _ := post(t, w.on(b), "/v1/messages", body, "Content-Encoding", encoding)
			if b.bodies[0] != body || b.sent[0].Header.Get("Content-Encoding") != encoding {
				t.Errorf("the body arrived as other bytes, encoding %q", b.sent[0].Header.Get("Content-Encoding"))
			}
			if known := res.Header.Get("X-Decant-Conversation") != ""; known != (encoding != "br") {
				t.Errorf("read: %t", known)
			}
		})
	}
}

// A streamed answer passes byte for byte, and what passed is put together as the answer.
func TestStreamIsReadAlong(t *testing.T) {
	events := []string{
		`event: message_start` + "\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":100,"output_tokens":1}}}`,
		`event: ping` + "\n" + `data: {"type":"ping"}`,
		`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`,
		`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"\u00e9\"}"}}`,
		`event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":15,"input_tokens":null}}`,
		`event: from_the_future` + "\n" + `data: {"type":"from_the_future"}`,
		`event: message_stop` + "\n" + `data: {"type":"message_stop"}`,
	}
	stream := strings.Join(events, "\n\n") + "\n\n"
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	b := &base{answer: func(*http.Request) *http.Response {
		return response(http.StatusOK, "text/event-stream; charset=utf-8", stream)
	}}
	_, body := post(t, w.on(b), "/v1/messages", hello, "X-Decant-Session", "s")
	if body != stream {
		t.Errorf("the stream arrived as\n%s", body)
	}
	got := w.requests(t)[0]
	if u := got.Usage; u.Input != 7 || u.CacheRead != 100 || u.Output != 15 || got.Stop != "tool_use" {
		t.Errorf("usage %+v, stop %q", u, got.Stop)
	}
	blobs, err := w.store.Blobs(t.Context(), "", got.Answer)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"type":"thinking","thinking":"Hm.","signature":"sig"},{"type":"tool_use","id":"t1","name":"Bash","input":{"a":"é"}}]`
	if string(blobs[0]) != want {
		t.Errorf("the answer is kept as\n%s\nwant\n%s", blobs[0], want)
	}
}

// requests returns the requests of the world's only conversation.
func (w *world) requests(t *testing.T) []store.Request {
	t.Helper()
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 1 {
		t.Fatalf("%d conversations, %v", len(cs), err)
	}
	rs, err := w.store.Requests(t.Context(), cs[0].Key)
	if err != nil || len(rs) == 0 {
		t.Fatalf("%d requests, %v", len(rs), err)
	}
	return rs
}

// Errors of the provider arrive as they are.
func TestErrorsPass(t *testing.T) {
	for _, status := range []int{400, 401, 413, 429, 500, 529} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			w := newWorld(t, sandbox.Options{}, engine.Options{Logger: slog.New(slog.DiscardHandler)}) // it cannot make "Hello." smaller
			const text = `{"type":"error","error":{"type":"some_error","message":"Something else."}}`
			b := &base{answer: func(*http.Request) *http.Response {
				res := response(status, "application/json", text)
				res.Header.Set("Retry-After", "7")
				return res
			}}
			res, body := post(t, w.on(b), "/v1/messages", hello)
			if res.StatusCode != status || body != text || res.Header.Get("Retry-After") != "7" || status != 413 && len(b.bodies) != 1 {
				t.Errorf("%d %s %v after %d requests", res.StatusCode, body, res.Header, len(b.bodies))
			}
		})
	}
}

// A client that goes away ends the request to the provider at once.
func TestAbortCancelsUpstream(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	started, gone := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(rw, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n")
		http.NewResponseController(rw).Flush()
		close(started)
		<-r.Context().Done()
		close(gone)
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/v1/messages", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	<-started
	cancel()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("the stream ended with %v, want the cancellation", err)
	}
	res.Body.Close()
	testkit.Received(t, "the provider ends its work for a client that is gone", gone)
	if got := w.requests(t)[0]; got.Usage.Input != 7 || got.Usage.Output != 0 || !got.Answer.IsZero() {
		t.Errorf("an answer that broke off is kept as %+v", got)
	}
}

// The size is asked for of what would be sent, and asking commits nothing.
func TestCountTokensIsOfTheView(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	b := &base{answer: func(*http.Request) *http.Response {
		return response(http.StatusOK, "application/json", `{"input_tokens":12}`)
	}}
	long := quoteJSON(strings.Repeat("\x1b[32mok\x1b[0m\n", 2000))
	body := `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Go."},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":` + long + `}]}]}`
	post(t, w.on(b), "/v1/messages/count_tokens", body, "X-Decant-Session", "s")
	if len(b.bodies[0]) > len(body)/2 {
		t.Errorf("%d bytes of %d were counted", len(b.bodies[0]), len(body))
	}
	w.engine.Close()
	if cs, err := w.store.Conversations(t.Context(), store.Filter{}); err != nil || len(cs) != 0 {
		t.Errorf("%d conversations in the store, %v", len(cs), err)
	}
}

func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}

// The beta for a window of a million tokens counts, in whichever of several headers it stands.
func TestBetasReachTheEngine(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	for want, betas := range map[int]string{200_000: "claude-code-20250219", 1_000_000: "claude-code-20250219, context-1m-2025-08-07"} {
		got := 0
		rt := New(w.engine, Options{Base: &base{}, Done: func(_ *http.Request, p *engine.Prepared, _ engine.Response) { got = p.Report.Window }})
		if post(t, rt, "/v1/messages", hello, "Anthropic-Beta", betas); got != want {
			t.Errorf("with %q the window is %d, want %d", betas, got, want)
		}
	}
}

// Of two members of one name the last counts, for the provider, for the engine and for whoever chooses a preset
// by the model.
func TestPresetsSeeTheModelThatTheProviderSees(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	var seen string
	var prepared *engine.Prepared
	rt := New(w.engine, Options{
		Base: &base{},
		Presets: func(_ string, model func() string, _ *http.Request) (*preset.Preset, error) {
			seen = model()
			return nil, nil
		},
		Done: func(_ *http.Request, p *engine.Prepared, _ engine.Response) { prepared = p },
	})
	body := strings.Replace(hello, `"max_tokens"`, `"model":"claude-opus-4-5","max_tokens"`, 1)
	post(t, rt, "/v1/messages", body)
	if got := prepared.View().Model; seen != "claude-opus-4-5" || got != seen {
		t.Errorf("the preset is chosen for %q, the engine has %q", seen, got)
	}
	if post(t, rt, "/v1/messages", hello[:40]); seen != "" {
		t.Errorf("a body that is no request asks for %q", seen)
	}
}
