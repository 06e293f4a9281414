package owncalls_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/openai"
)

// keys are credentials of 20 kinds; some look like none.
var keys = []string{
	"sk-ant-api03-" + strings.Repeat("aB3", 31), "sk-ant-oat01-" + strings.Repeat("xY9", 31), "sk-proj-" + strings.Repeat("Qw7", 20),
	"sk-" + strings.Repeat("Zz4", 16), "gsk_" + strings.Repeat("Tt1", 17), "xai-" + strings.Repeat("Rr8", 20), "hf_" + strings.Repeat("kL", 17),
	"AKIA" + "IOSFODNN7ABCDEFG", "AIza" + strings.Repeat("Sy5", 12), "ghp_" + strings.Repeat("n6P", 12), "glpat-" + strings.Repeat("v2D", 7),
	"xoxb-123456789012-" + strings.Repeat("e4K", 8), "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + strings.Repeat("dQ_", 14),
	"0123456789abcdef0123456789abcdef", "hunter2-correct-horse", "p/q+r=s" + strings.Repeat("8", 20), "local-key", "Token mit Umlaut ä", "a.b.c.d.e.f", "${NOT_EXPANDED}",
}

// echo refuses everything with an error that repeats what it was sent.
func echo(status int, kind string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		var all strings.Builder
		for name, vs := range r.Header {
			if strings.Contains("Authorization X-Api-Key Api-Key", name) {
				fmt.Fprint(&all, name, ": ", strings.Join(vs, ", "), "\n")
			}
		}
		said, _ := json.Marshal(all.String())
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(status)
		if kind == "text/event-stream" {
			fmt.Fprint(w, "event: error\ndata: ")
		}
		fmt.Fprintf(w, `{"type":"error","error":{"type":%s,"code":%s,"message":%s},"choices":%s,"content":%s}`+"\n\n", said, said, said, said, said)
	})
}

// Whatever a provider repeats of what it was sent, no key is in an error, a line of the log, a metric or the ledger.
func TestNoKeyIsRepeated(t *testing.T) {
	var account *provider.Account
	w := newWorld(t, func(_ *world, o *owncalls.Options) {
		o.Account, o.Cap.Calls = nil, -1
		o.Accounts = func(owncalls.Cause) *provider.Account { return account }
	})
	var out strings.Builder
	n := 0
	for _, h := range []http.Handler{
		echo(401, "application/json"), echo(500, "application/json"), echo(200, "application/json"), echo(200, "text/event-stream"), echo(400, "text/plain"),
	} {
		srv := httptest.NewServer(h)
		defer srv.Close()
		for _, key := range keys {
			for _, c := range []provider.Credential{provider.Key("x-api-key", key), provider.Bearer(key), provider.Key("api-key", key)} {
				for _, account = range echoing(t, srv.URL, c) {
					_, err := w.Ask(t.Context(), about("c"), prompt())
					if err == nil {
						t.Fatal("no error")
					}
					n++
					fmt.Fprintf(&out, "%v %+v %#v %v\n", err, err, err, c)
				}
			}
		}
	}
	fmt.Fprintf(&out, "%v %+v %+v", w.lines, w.made, w.spent("c"))
	for _, key := range keys {
		if i := strings.Index(out.String(), key); i >= 0 {
			t.Errorf("%s", out.String()[max(0, i-200):i+len(key)])
		}
	}
	if n != 600 || len(w.lines) != n || len(w.made) != n {
		t.Errorf("%d calls, %d lines", n, len(w.lines))
	}
}

// echoing returns accounts at a server, over both APIs.
func echoing(t *testing.T, base string, c provider.Credential) []*provider.Account {
	a, err := anthropic.New(anthropic.Options{Base: base, Credential: c})
	if err != nil {
		t.Fatal(err)
	}
	o, err := openai.New(openai.Options{Base: base, Credential: c})
	if err != nil {
		t.Fatal(err)
	}
	return []*provider.Account{{Client: a, Model: "m"}, {Client: o, Model: "m"}}
}

// A credential prints as redacted, whatever prints it.
func TestACredentialDoesNotPrint(t *testing.T) {
	c := provider.Bearer("hunter2-correct-horse")
	enc, err := json.Marshal(map[string]any{"c": c, "o": anthropic.Options{Credential: c}.Credential})
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %+v %#v %s", c, c, c, c, c, c, c, &c, anthropic.Options{Credential: c}, []provider.Credential{c}, enc)
	if strings.Contains(out, "hunter2") || strings.Contains(out, "68756e74657232") || !strings.Contains(out, "[redacted]") {
		t.Error(out)
	}
}

// Of a client's request the headers that say whose it is are taken, and no others.
func TestWhatIsTakenOfARequest(t *testing.T) {
	h := http.Header{"Authorization": {"Bearer x"}, "Cookie": {"y"}, "X-Decant-Key": {"z"}, "Anthropic-Workspace-Id": {"w"}}
	c, known := provider.Taken(h)
	out := http.Header{}
	c.Set(out)
	if !known || len(out) != 2 || out.Get("Authorization") != "Bearer x" || out.Get("Anthropic-Workspace-Id") != "w" {
		t.Errorf("%v %v", known, out)
	}
	if _, known := provider.Taken(http.Header{"Openai-Organization": {"o"}}); known {
		t.Error("an organization alone is a credential")
	}
}
