package chatcmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/chat"
	chatserver "github.com/decantdev/decant/apps/chat/internal/server"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// settingsOf are settings that are not the defaults, by their keys.
var settingsOf = map[string]string{
	"listen": "127.0.0.1:4999", "tls": "{cert: a, key: b}", "plain_http": "true", "anthropic_upstream": "http://127.0.0.1:1", "db": "other.db",
	"encryption": "{key_file: k}", "preset": "chat", "mode": "observe", "window": "30000", "project": "shop", "early_pours": "off", "drop_block": "true",
	"keep_warm": "true\nsummary: {use_client_credential: true}", "add_markers": "true", "drain": "1s", "log": "warn", "log_format": "json", "ca": "[a.pem]",
	"allow": "[http://127.0.0.1:1]", "keys": "[{tenant: ann, key: a-secret-key}]", "hosts": "[chat.example]", "body_limit": "1MB", "body_memory": "1GB",
	"metrics_listen": "127.0.0.1:9141", "metrics_token": "secret", "tracing": "{endpoint: http://127.0.0.1:4318}", "budgets": "[{per: day, usd: 1}]",
	"summary": "{use_client_credential: true}", "flush": "on", "recall": "true", "presets": "[{model: x, preset: chat}]", "hooks": "{on_pour: {command: [true]}}",
	"tools": "{fetch: true}", "openai_upstream": "http://127.0.0.1:1/v1", "upstreams": "[{url: 'http://127.0.0.1:1', prefix: /x}]",
}

// The service heeds each key of the settings, or refuses to start and names it.
func TestEachSettingIsHeededOrRefused(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "decant.yaml")
	s := &process.Process{Environ: []string{"DECANT_CONFIG=" + file}}
	for i := range reflect.TypeFor[config.Config]().NumField() {
		key := reflect.TypeFor[config.Config]().Field(i).Tag.Get("yaml")
		if key == "-" {
			continue // it is no setting, but what is known of them
		}
		text, ok := settingsOf[key]
		if !ok {
			t.Errorf("%s: what does decant chat --serve do about it? Add it to settingsOf, and to heededByChat if it is heeded", key)
			continue
		}
		if err := os.WriteFile(file, []byte(key+": "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := (&Command{OutputFormat: "text"}).served(s, &project.Project{})
		if slices.Contains(heededByChat, key) {
			if err != nil {
				t.Errorf("%s is heeded, and refused: %v", key, err)
			} else if was := reflect.ValueOf(*cfg).Field(i); was.IsZero() {
				t.Errorf("%s does not arrive", key)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s is neither heeded nor refused: %v", key, err)
		}
	}
}

// It listens where the flag says, else where the settings say, else beside the gateway.
func TestWhereTheServiceListens(t *testing.T) {
	for _, c := range []struct{ flag, set, want string }{{"", "", chatListen}, {"", "127.0.0.1:1", "127.0.0.1:1"}, {"127.0.0.1:2", "127.0.0.1:1", "127.0.0.1:2"}} {
		s := &process.Process{Environ: []string{"DECANT_LISTEN=" + c.set}}
		cfg, err := (&Command{OutputFormat: "text", Listen: c.flag}).served(s, &project.Project{})
		if err != nil || cfg.Listen != c.want {
			t.Errorf("flag %q, settings %q: %+v, %v; want %s", c.flag, c.set, cfg, err, c.want)
		}
	}
}

// servedFlags are the flags that the service heeds.
var servedFlags = []string{
	"Model", "MaxBudgetUSD", "Window", "Serve", "Listen", "PlainHTTP", "Workspaces", "WorkspaceShell", "Sandbox", "DB", "EncryptionKeyFile", "Catalog",
}

// The service heeds each flag of the command, or refuses to start and names it. Of the settings of a project it is the same.
func TestEachFlagIsHeededOrRefused(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Command]()) {
		if f.Anonymous || f.Tag == "" {
			continue
		}
		c := &Command{OutputFormat: "text"}
		fill(reflect.ValueOf(c).Elem().FieldByIndex(f.Index))
		if got := len(c.unserved()) == 0; got != slices.Contains(servedFlags, f.Name) {
			t.Errorf("%s passes: %t", f.Name, got)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[project.Settings]()) {
		p := &project.Project{}
		fill(reflect.ValueOf(&p.Settings).Elem().FieldByIndex(f.Index))
		key := f.Tag.Get("yaml")
		_, err := (&Command{OutputFormat: "text"}).served(new(process.Process), p)
		if heeded := key == "model" || key == "max_budget_usd"; heeded != (err == nil) || err != nil && !strings.Contains(err.Error(), key) {
			t.Errorf("%s of a project: %v", key, err)
		}
	}
}

// fill makes a field something else than its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("json")
	case reflect.Int:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		v.Set(reflect.ValueOf(command.Amount{Tokens: 30_000, Given: true}))
	}
}

// A servedWorld is the service of agents as the command serves it.
type servedWorld struct {
	testing.TB
	base   string
	client *http.Client
}

// serveAgents serves agents with settings and flags until the test ends.
func serveAgents(t *testing.T, settings string, c Command) *servedWorld {
	t.Helper()
	file := filepath.Join(t.TempDir(), "decant.yaml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	c.OutputFormat, c.Listen, c.DB = "text", "127.0.0.1:0", filepath.Join(t.TempDir(), "chat.db")
	cfg, err := c.served(&process.Process{Environ: []string{"DECANT_CONFIG=" + file}}, &project.Project{})
	if err != nil {
		t.Fatal(err)
	}
	o := chat.Options{DB: c.DB, USD: c.MaxBudgetUSD}
	rt, end := sandbox.New(sandbox.Options{Model: sandbox.Reader{}}).Pipe()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "sandbox")})
	o.Model, o.Client, o.Account = "claude-haiku-4-5", client, &provider.Account{Client: client, Upstream: "http://sandbox", Model: "claude-haiku-4-5"}
	if err == nil {
		o.Catalog, err = token.Builtin()
	}
	if err != nil {
		t.Fatal(err)
	}
	v, ended := &chatService{}, make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	if err := v.open(ctx, cfg, &o, chatserver.Workspaces{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- v.server.Serve(ctx, v.edge.Listener(), 0) }()
	w := &servedWorld{t, "http://" + v.edge.Listener().Addr().String(), &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}}}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := errors.Join(v.edge.Close(), v.close()); err != nil {
			t.Error(err)
		}
		end()
	})
	return w
}

// post sends a request and returns the answer with its body read.
func (w *servedWorld) post(base, path, body string) (*http.Response, string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), "POST", base+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	res, err := w.client.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res, string(text)
}

// With a certificate the service speaks TLS and nothing else, and its cookie is sent over TLS alone.
func TestTheServiceSpeaksTLS(t *testing.T) {
	cert, key := testkit.Certificate(t, t.TempDir(), 1)
	w := serveAgents(t, fmt.Sprintf("tls: {cert: %s, key: %s}\nkeys: [{tenant: ann, key: a-secret-key}]\n", cert, key), Command{})
	res, _ := w.post(strings.Replace(w.base, "http:", "https:", 1), "/v1/login", `{"key":"a-secret-key"}`)
	if cs := res.Cookies(); res.StatusCode != 200 || res.ProtoMajor != 2 || len(cs) != 1 || !cs[0].Secure {
		t.Errorf("status %d, %s, cookies %v", res.StatusCode, res.Proto, cs)
	}
	if res, text := w.post(w.base, "/v1/login", `{"key":"a-secret-key"}`); res.StatusCode != 400 || strings.Contains(text, "tenant") {
		t.Errorf("without TLS: %d %s", res.StatusCode, text)
	}
}

// Budgets of the settings and of the command line reach the engine, and so does the window.
func TestTheServiceKeepsToBudgets(t *testing.T) {
	for settings, c := range map[string]Command{"budgets: [{per: day, usd: 0.001}]\n": {}, "log: warn\n": {MaxBudgetUSD: 0.001}} {
		w := serveAgents(t, settings, c)
		if res, text := w.post(w.base, "/v1/chat/completions", `{"model":"default","messages":[{"role":"user","content":"hello"}]}`); res.StatusCode != 402 {
			t.Errorf("%s%v: %d %s", settings, c.MaxBudgetUSD, res.StatusCode, text)
		}
	}
	w := serveAgents(t, "log: warn\n", Command{Window: command.Amount{Tokens: 30_000, Given: true}})
	_, session := w.post(w.base, "/v1/sessions", "{}")
	_, id, _ := strings.Cut(session, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	w.post(w.base, "/v1/sessions/"+id+"/messages", `{"text":"hello"}`)
	res, err := w.client.Get(w.base + "/v1/sessions/" + id + "/context")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), `"window":30000`) {
		t.Errorf("context %s, %v", text, err)
	}
}
