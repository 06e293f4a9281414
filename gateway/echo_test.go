package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
)

// arrived is a request as the upstream saw it.
type arrived struct {
	method, target, body string
	header               http.Header
}

// echo notes what arrives and answers the same thing to everything.
func echo(seen chan<- arrived, status int, header http.Header, body string) http.Handler {
	return handler(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // what is missing shows in the comparison
		seen <- arrived{r.Method, r.RequestURI, string(b), r.Header.Clone()}
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// agentHeaders are what agents and SDKs send, and what proxies like to touch.
var agentHeaders = []string{
	"Accept: application/json", "Anthropic-Version: 2023-06-01",
	"anthropic-beta: claude-code-20250219,interleaved-thinking-2025-05-14", "anthropic-beta: context-management-2025-06-27",
	"anthropic-dangerous-direct-browser-access: true", "User-Agent: claude-cli/2.1.197 (external, sdk-cli)", "x-app: cli",
	"X-Claude-Code-Session-Id: 11111111-2222-3333-4444-555555555555", "X-Stainless-Retry-Count: 0", "X-Stainless-Timeout: 600",
	"X-Stainless-Lang: js", "x-session-affinity: ses_1", "x-api-key: sk-ant-secret", "authorization: Bearer token", "Cookie: a=b; c=d",
	"X-Forwarded-For: 10.0.0.1", "X-Forwarded-Host: example.org", "X-Forwarded-Proto: https", "Forwarded: for=10.0.0.1", "Via: 1.1 corp",
	"X-Unknown: kept", "X-Unknown: twice", "X-Empty:", "Origin: http://example.org", "Referer: http://example.org/x", "Idempotency-Key: k-1",
	"anthropic-workspace-id: wrkspc_1", "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Range: bytes=0-9",
}

// wrote writes a request as it stands and returns the answer.
func wrote(t *testing.T, base, method, target, body string, header []string) (*http.Response, string) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	length := ""
	if method == http.MethodPost || body != "" {
		length = fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n\r\n%s", method, target, u.Host, length, strings.Join(header, "\r\n"), body)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func TestEveryHeaderAndByteArrives(t *testing.T) {
	answer := http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "Request-Id": {"req_1"}, "Anthropic-Organization-Id": {"org"},
		"Anthropic-Ratelimit-Requests-Remaining": {"9"}, "Retry-After": {"7"}, "Set-Cookie": {"a=b", "c=d"}, "X-Should-Retry": {"false"},
		"Date": {"Thu, 01 Jan 2026 00:00:00 GMT"}, "Server": {"cloud"}, "Via": {"1.1 edge"}, "X-Empty": {""}, "Cf-Ray": {"8f"},
	}
	const odd = "{ \"model\" : \"claude-sonnet-4-5\",\t\"max_tokens\":1e2, \"unknown\":[1,{ }], \"messages\":[{\"role\":\"user\",\"content\":\"caf\\u00e9 \u2028 \\/ ok\"}] }\n"
	cases := []struct{ name, method, target, body string }{
		{"Messages", "POST", "/v1/messages", odd},
		{"MessagesWithQuery", "POST", "/v1/messages?beta=true&x=%2F;y&x=2", odd},
		{"CountTokens", "POST", "/v1/messages/count_tokens?beta=true", odd},
		{"Models", "GET", "/v1/models?limit=3&after_id=a%20b", ""},
		{"EscapedPath", "GET", "/v1/files/a%2Fb//c/d", ""},
		{"Batches", "POST", "/v1/messages/batches", `{"requests":[]}`},
		{"Delete", "DELETE", "/v1/messages/batches/b1", ""},
		{"Probe", "HEAD", "/", ""},
		{"Options", "OPTIONS", "/v1/messages", ""},
		{"Put", "PUT", "/v1/anything", "\x00\x01binary\xff"},
		{"NotJSON", "POST", "/v1/messages", "{not json"},
		{"NoBody", "POST", "/v1/messages", ""},
		{"QuestionMarkOnly", "GET", "/v1/models?", ""},
	}
	for _, status := range []int{200, 418} {
		seen := make(chan arrived, 1)
		w := newWorld(t, echo(seen, status, answer, "the answer\n"), gateway.Options{}, engine.Options{})
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s/%d", c.name, status), func(t *testing.T) {
				_, want := wrote(t, w.up, c.method, c.target, c.body, agentHeaders)
				direct := <-seen
				res, text := wrote(t, w.url, c.method, c.target, c.body, append([]string{"Accept-Encoding: gzip, br", "x-decant-session: s", "X-Decant-Anything: x"}, agentHeaders...))
				through := <-seen
				encodings := "gzip, br"
				if c.method == "POST" && c.body != "" && !strings.Contains(c.target, "batches") {
					encodings = "identity"
				}
				if got := through.header.Get("Accept-Encoding"); got != encodings {
					t.Errorf("accept-encoding %q, want %q", got, encodings)
				}
				through.header.Del("Accept-Encoding")
				if d := cmp.Diff(direct, through, cmp.AllowUnexported(arrived{})); d != "" {
					t.Errorf("the request changed (-direct +through):\n%s", d)
				}
				back := res.Header.Clone()
				back.Del("X-Decant-Conversation")
				if ids := back.Values("X-Decant-Request"); len(ids) != 1 || len(ids[0]) != 16 {
					t.Errorf("x-decant-request %q, want one", ids)
				}
				back.Del("X-Decant-Request")
				back.Del("X-Decant-Fault") // what is not JSON cannot be managed, and it says so
				back.Del("Content-Length")
				if d := cmp.Diff(answer, back); d != "" {
					t.Errorf("the answer's header changed (-sent +received):\n%s", d)
				}
				if res.StatusCode != status || text != want {
					t.Errorf("status %d and %q, want %d and %q", res.StatusCode, text, status, want)
				}
			})
		}
	}
}

func TestHeadersOfOursComeOnce(t *testing.T) {
	seen := make(chan arrived, 1)
	w := newWorld(t, echo(seen, 200, http.Header{"Content-Type": {"application/json"}, "X-Decant-Conversation": {"theirs"}}, `{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}`), gateway.Options{}, engine.Options{})
	w.post(w.url, "/v1/messages", hello)
	<-seen
	w.engine.Close() // the archive has been written
	res, _ := w.post(w.url, "/v1/messages", hello)
	<-seen
	got := res.Header.Values("X-Decant-Conversation")
	if len(got) != 1 || got[0] == "theirs" || got[0] == "" {
		t.Errorf("x-decant-conversation %q, want one of ours", got)
	}
	if f := res.Header.Values("X-Decant-Fault"); len(f) != 0 {
		t.Errorf("x-decant-fault %q without a fault", f)
	}
}

func TestUpstreamIsNeverChosenByTheClient(t *testing.T) {
	seen := make(chan arrived, 1)
	w := newWorld(t, echo(seen, 200, nil, "ok"), gateway.Options{}, engine.Options{})
	for _, target := range []string{"http://192.0.2.1/v1/messages", "//192.0.2.1/v1/messages", "/v1/messages@192.0.2.1"} {
		_, text := wrote(t, w.url, "GET", target, "", []string{"X-Forwarded-Host: 192.0.2.1", "X-Decant-Upstream: http://192.0.2.1"})
		if got := <-seen; text != "ok" || len(got.header["X-Decant-Upstream"]) > 0 {
			t.Errorf("%s: %q and %v", target, text, got)
		}
	}
	res, _ := wrote(t, w.url, "CONNECT", "192.0.2.1:443", "", nil)
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("CONNECT: status %d, want 405", res.StatusCode)
	}
}

func TestBasePathOfTheUpstreamStandsBeforeThePath(t *testing.T) {
	seen := make(chan arrived, 1)
	plain := newWorld(t, echo(seen, 200, nil, "ok"), gateway.Options{}, engine.Options{})
	w := worldAt(t, plain.up+"/proxy%2Fanthropic/", gateway.Options{}, engine.Options{})
	for target, want := range map[string]string{
		"/v1/models?x=1":  "/proxy%2Fanthropic/v1/models?x=1",
		"/v1/files/a%2Fb": "/proxy%2Fanthropic/v1/files/a%2Fb",
	} {
		wrote(t, w.url, "GET", target, "", nil)
		if got := (<-seen).target; got != want {
			t.Errorf("%s went to %s, want %s", target, got, want)
		}
	}
}
