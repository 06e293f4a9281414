package gateway_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"go.uber.org/goleak"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a gateway with everything around it, on loopback.
type world struct {
	t       testing.TB
	url     string // of the gateway
	up      string // of the upstream
	gateway *gateway.Gateway
	engine  *engine.Engine
	store   store.Store
	log     *record
	client  *http.Client
	server  *httptest.Server
}

// logged ends the gateway's server, so that every request has been logged, and returns the log.
func (w *world) logged() string {
	w.server.Close()
	return w.log.String()
}

// newWorld starts a gateway in front of an upstream. The zero options will do.
func newWorld(t testing.TB, upstream http.Handler, o gateway.Options, eo engine.Options) *world {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	return worldAt(t, up.URL, o, eo)
}

func worldAt(t testing.TB, upstream string, o gateway.Options, eo engine.Options) *world {
	t.Helper()
	w := &world{t: t, up: upstream, log: &record{}}
	var err error
	if w.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	patient(&eo)
	if w.engine, err = engine.New(o.Tracing.Store(w.store), eo); err != nil {
		t.Fatal(err)
	}
	if o.Upstream, err = url.Parse(upstream); err != nil {
		t.Fatal(err)
	}
	allow := []*url.URL{o.Upstream}
	if o.OpenAI != nil {
		allow = append(allow, o.OpenAI)
	}
	for i := range o.Routes {
		allow = append(allow, o.Routes[i].URL)
	}
	out, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	o.Engine, o.Outbound = w.engine, out
	o.Logger = slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if w.gateway, err = gateway.New(o); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(w.gateway)
	tr := &http.Transport{DisableCompression: true}
	w.server, w.url, w.client = srv, srv.URL, &http.Client{Transport: tr}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		out.CloseIdleConnections()
		w.engine.Close()
		w.store.Close()
	})
	return w
}

// patient gives an engine the time that it needs on a busy machine, unless the test is about time.
func patient(o *engine.Options) {
	if o.Timeouts.Optional == 0 {
		o.Timeouts = sandboxtest.Patient
	}
}

// sdk returns the official client on the gateway.
func (w *world) sdk(opts ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{
		option.WithBaseURL(w.url), option.WithAPIKey("sk-ant-secret"), option.WithMaxRetries(0), option.WithHTTPClient(w.client),
	}, opts...)...)
}

// post sends a body and returns the response with its body read.
func (w *world) post(base, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	res, text, err := w.try(base, path, body, header...)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, text
}

func (w *world) try(base, path, body string, header ...string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "sk-ant-secret")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if r.Header.Get("Authorization") != "" { // a client has one key
		r.Header.Del("X-Api-Key")
	}
	res, err := w.client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res, string(text), err
}

// record is a log that can be read while it is written.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// hello is the smallest request for a message.
const hello = `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`

// handler is an upstream of a few lines.
func handler(f func(w http.ResponseWriter, r *http.Request)) http.Handler { return http.HandlerFunc(f) }

// strict is an upstream that knows the API's rules.
func strict(o sandbox.Options) *sandbox.Server { return sandbox.New(o) }
