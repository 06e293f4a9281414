package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/testing/sandbox"
)

// dialog writes bytes to the gateway and returns its first answer, with the body read.
func (w *world) dialog(text string) (*http.Response, string) {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatalf("%q: %v", text, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, string(body)
}

// A page in a browser that has its own name resolve to this machine does not reach what listens there.
func TestALocalGatewayIsCalledByItsNames(t *testing.T) {
	calls := []struct {
		host   string
		passes string // with which of the gateways below
	}{
		{"127.0.0.1:4141", "any local named"}, {"localhost", "any local named"}, {"LocalHost.:80", "any local named"}, {"app.localhost:4141", "any local named"},
		{"[::1]:4141", "any local named"}, {"::1", "any local named"}, {"127.9.9.9", "any local named"}, {"host.docker.internal:4141", "any local named"},
		{"evil.test", "any"}, {"evil.test:4141", "any"}, {"localhost.evil.test", "any"}, {"127.0.0.1.evil.test", "any"}, {"169.254.169.254", "any"},
		{"decant.corp:4141", "any named"}, {"DECANT.corp", "any named"},
	}
	for name, o := range map[string]gateway.Options{
		"any": {}, "local": {Local: true}, "named": {Hosts: []string{"decant.corp"}},
	} {
		w := newWorld(t, strict(sandbox.Options{}), o, engine.Options{})
		for _, c := range calls {
			want := strings.Contains(c.passes, name)
			for _, path := range []string{"/v1/models", "/metrics"} {
				res, text := w.dialog("GET " + path + " HTTP/1.1\r\nHost: " + c.host + "\r\nX-Api-Key: k\r\nAnthropic-Version: 2023-06-01\r\nConnection: close\r\n\r\n")
				if got := res.StatusCode == 200; got != want || !got && (res.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(text, "hosts in the settings")) {
					t.Errorf("%s calls %s at a gateway for %s names: status %d, %.200s", c.host, path, name, res.StatusCode, text)
				}
			}
			if res, _ := w.dialog("GET /healthz HTTP/1.1\r\nHost: " + c.host + "\r\nConnection: close\r\n\r\n"); res.StatusCode != 200 {
				t.Errorf("%s: /healthz has status %d", c.host, res.StatusCode)
			}
		}
	}
}

func TestWhatNoUpstreamShouldSee(t *testing.T) {
	arrived := 0
	w := newWorld(t, handler(func(w http.ResponseWriter, r *http.Request) { arrived++ }), gateway.Options{}, engine.Options{})
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/v1/../../admin", 400}, {"GET", "/v1/..%2f..%2fadmin", 400}, {"GET", "/v1/%2e%2e/admin", 400}, {"GET", "/v1/..;a=1/admin", 400},
		{"GET", `/v1/..%5cadmin`, 400}, {"POST", "/../v1/messages", 400}, {"GET", "/v1/files/..", 400},
		{"TRACE", "/v1/models", 405}, {"TRACK", "/v1/models", 405},
		{"GET", "/v1/files/a..b", 200}, {"GET", "/v1/files/...", 200}, {"GET", "/v1/files/.hidden", 200},
	} {
		arrived = 0
		res, text := w.dialog(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", c.method, c.target))
		if res.StatusCode != c.status || (arrived == 1) != (c.status == 200) || c.status != 200 && res.Header.Get("X-Decant-Refused") == "" {
			t.Errorf("%s %s: status %d, %d arrived, %s", c.method, c.target, res.StatusCode, arrived, text)
		}
	}
}

// A client that promises a body and does not send it is told so, and its connection ends; on either way through the
// gateway. One that sends it at once is not troubled by how long the answer takes.
func TestABodyThatDoesNotCome(t *testing.T) {
	arrived := make(chan int64, 9)
	up := handler(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err == nil {
			arrived <- n
		}
	})
	w := newWorld(t, up, gateway.Options{BodyTimeout: 50 * time.Millisecond}, engine.Options{})
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/files"} {
		for _, length := range []string{"Content-Length: 33554432\r\n\r\n{", "Content-Length: 268435456\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
			res, text := w.dialog("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + length)
			if res.StatusCode != http.StatusRequestTimeout || !strings.Contains(text, "has not come on") || !res.Close {
				t.Errorf("%s, %q: status %d, close %t, %s", path, length, res.StatusCode, res.Close, text)
			}
		}
	}
	if len(arrived) > 0 {
		t.Errorf("%d requests arrived", len(arrived))
	}
}

// Where the upstream is stands in the log and in no answer.
func TestAnswersDoNotSayWhereTheUpstreamIs(t *testing.T) {
	w := worldAt(t, "http://127.0.0.1:1", gateway.Options{}, engine.Options{})
	for _, path := range []string{"/v1/messages", "/v1/models"} {
		res, text := w.post(w.url, path, hello)
		if res.StatusCode != http.StatusBadGateway || strings.Contains(text+res.Header.Get("X-Decant-Fault"), "127.0.0.1") || !strings.Contains(text, "connection refused") {
			t.Errorf("%s: status %d, %s, %v", path, res.StatusCode, text, res.Header)
		}
	}
	if log := w.logged(); !strings.Contains(log, "127.0.0.1:1") {
		t.Errorf("the log does not say it: %s", log)
	}
}

// Hints before an answer cannot say what only Decant says.
func TestHeadersLikeOursBeforeTheAnswer(t *testing.T) {
	up := handler(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Decant-Fault", "forged")
		w.Header().Set("Link", "</x>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "X-Decant-Record")
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, "ok")
		w.Header().Set("X-Decant-Record", "forged")
	})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /v1/models HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: close\r\n\r\n")
	all, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(all), "103 Early Hints") || !strings.Contains(string(all), "rel=preload") || strings.Contains(string(all), "forged") {
		t.Errorf("%v: %s", err, all)
	}
}

// Where keys or budgets are configured a client's header does not switch off what the operator has switched on.
func TestModeIsTheOperatorsWhereKeysOrBudgetsAre(t *testing.T) {
	budgets := []budget.Budget{{Per: "day", Tokens: 1_000_000}}
	for name, c := range map[string]struct {
		o      gateway.Options
		eo     engine.Options
		status int
	}{
		"alone":   {gateway.Options{}, engine.Options{}, 200},
		"keys":    {gateway.Options{Keys: keys}, engine.Options{}, 400},
		"budgets": {gateway.Options{}, engine.Options{Budgets: budgets}, 400},
	} {
		w := newWorld(t, strict(sandbox.Options{}), c.o, c.eo)
		res, text := w.post(w.url, "/v1/messages", hello, "X-Decant-Mode", "off", "X-Decant-Key", aliceKey)
		if res.StatusCode != c.status || c.status != 200 && !strings.Contains(text, "x-decant-mode: off is not for clients to choose") {
			t.Errorf("%s: status %d, %s", name, res.StatusCode, text)
		}
		if res, text := w.post(w.url, "/v1/messages", hello, "X-Decant-Key", aliceKey); res.StatusCode != 200 {
			t.Errorf("%s: without the header status %d, %s", name, res.StatusCode, text)
		}
	}
}
