package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/testing/sandbox"
)

// outcome is what a client gets.
type outcome struct {
	Status int
	Retry  string
	Type   string
	Body   string
	Broken bool // the connection ended before the answer did
}

// volatile is what differs from one answer of the sandbox to the next.
var volatile = regexp.MustCompile(`(req|msg|toolu)_[A-Za-z0-9_]+`)

func outcomeOf(res *http.Response, text string, err error) outcome {
	o := outcome{Broken: err != nil, Body: volatile.ReplaceAllString(text, "$1")}
	if res != nil {
		o.Status, o.Retry, o.Type = res.StatusCode, res.Header.Get("Retry-After"), res.Header.Get("Content-Type")
	}
	return o
}

func TestFaultsLookAsWithoutDecant(t *testing.T) {
	stream := strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	for _, c := range []struct {
		name  string
		body  string
		fault sandbox.Fault
	}{
		{"RateLimit", hello, sandbox.Fault{Kind: sandbox.FaultRateLimit, Wait: 17e9}},
		{"Overloaded", hello, sandbox.Fault{Kind: sandbox.FaultOverloaded}},
		{"Internal", hello, sandbox.Fault{Kind: sandbox.FaultInternal}},
		{"OverloadedStream", stream, sandbox.Fault{Kind: sandbox.FaultOverloaded}},
		{"ErrorAtOnce", stream, sandbox.Fault{Kind: sandbox.FaultStreamError}},
		{"ErrorInStream", stream, sandbox.Fault{Kind: sandbox.FaultStreamError, After: 3}},
		{"CutStream", stream, sandbox.Fault{Kind: sandbox.FaultCut, After: 3}},
		{"Slow", stream, sandbox.Fault{Kind: sandbox.FaultSlow, Wait: 1e6}},
		{"Fine", stream, sandbox.Fault{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := strict(sandbox.Options{})
			w := newWorld(t, up, gateway.Options{}, engine.Options{})
			up.Inject(c.fault, c.fault)
			want := outcomeOf(w.try(w.up, "/v1/messages", c.body))
			got := outcomeOf(w.try(w.url, "/v1/messages", c.body))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-direct +through):\n%s", d)
			}
		})
	}
}

// A reset loses what was on its way, directly and through the gateway; what arrives is a beginning of
// the answer, and it must not look like a whole one.
func TestResetInAStreamBreaksTheAnswerOff(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	up.Inject(sandbox.Fault{Kind: sandbox.FaultReset, After: 3})
	res, text, err := w.try(w.url, "/v1/messages", strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1))
	if err == nil || strings.Contains(text, "message_stop") {
		t.Errorf("got a whole answer: %v %q", res.Status, text)
	}
}

func TestNoAnswerIsABadGateway(t *testing.T) {
	reset := strict(sandbox.Options{})
	reset.Inject(sandbox.Fault{Kind: sandbox.FaultReset})
	for name, w := range map[string]*world{
		"UpstreamDown": worldAt(t, "http://127.0.0.1:1", gateway.Options{}, engine.Options{}),
		"Reset":        newWorld(t, reset, gateway.Options{}, engine.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			res, text := w.post(w.url, "/v1/messages", hello)
			if res.StatusCode != http.StatusBadGateway || !strings.HasPrefix(text, `{"type":"error","error":{"type":"api_error","message":"decant: no answer from the upstream: `) {
				t.Errorf("status %d, %s", res.StatusCode, text)
			}
			if res.Header.Get("X-Decant-Fault") == "" {
				t.Error("no x-decant-fault")
			}
			client := w.sdk()
			_, err := client.Messages.New(t.Context(), anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello."))}})
			if api := (*anthropic.Error)(nil); name == "UpstreamDown" && (!errors.As(err, &api) || api.StatusCode != http.StatusBadGateway) {
				t.Errorf("the SDK got %v, want its error for status 502", err)
			}
		})
	}
}

func TestMalformedRequestsGetTheUpstreamsAnswer(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	for _, body := range []string{
		`{`, `[]`, `null`, `"x"`, "\xff\xfe", `{"model":1}`, `{"messages":{}}`, `{"model":"claude-sonnet-4-5","max_tokens":1,"messages":[]}`,
		`{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]}`,
		strings.Repeat("[", 100_000), `{"model":"nobody","max_tokens":10,"messages":[{"role":"user","content":"x"}]}`,
	} {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			want := outcomeOf(w.try(w.up, path, body))
			got := outcomeOf(w.try(w.url, path, body))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %.60q (-direct +through):\n%s", path, body, d)
			}
		}
	}
}

// paced is an upstream that sends one event for each value it is given, and says when its request ends.
type paced struct {
	send  chan string
	ended chan error
}

func newPaced() *paced { return &paced{make(chan string), make(chan error, 1)} }

func (p *paced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			p.ended <- r.Context().Err()
			return
		case s, ok := <-p.send:
			if !ok {
				p.ended <- nil
				return
			}
			io.WriteString(w, s)
			http.NewResponseController(w).Flush()
		}
	}
}

func TestStreamPassesEventByEvent(t *testing.T) {
	up := newPaced()
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	res, err := w.client.Post(w.url+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for i := range 5 { // each is read before the next one is sent
		want := fmt.Sprintf("data: {\"n\":%d}\n", i)
		up.send <- want
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
	}
	close(up.send)
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("after the stream: %q, %v", rest, err)
	}
	<-up.ended
}

func TestClientThatLeavesEndsTheUpstreamRequest(t *testing.T) {
	for _, phase := range []string{"BeforeTheAnswer", "WithinTheStream"} {
		t.Run(phase, func(t *testing.T) {
			ended := make(chan error, 1)
			up := newPaced()
			up.ended = ended
			var h http.Handler = up
			arrived := make(chan bool, 1)
			if phase == "BeforeTheAnswer" {
				h = handler(func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					arrived <- true
					<-r.Context().Done()
					ended <- r.Context().Err()
				})
			}
			w := newWorld(t, h, gateway.Options{}, engine.Options{})
			ctx, leave := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/v1/messages", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				if phase == "BeforeTheAnswer" {
					<-arrived
				} else {
					up.send <- "event: ping\ndata: {}\n\n"
				}
				leave()
			}()
			if res, err := w.client.Do(r); err == nil {
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the upstream request ended with %v, want that it was cancelled", err)
			}
		})
	}
}

// A reader that is slow holds the upstream back instead of filling memory, and gets everything.
func TestSlowReaderGetsEverything(t *testing.T) {
	const events = 20_000
	up := handler(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range events {
			fmt.Fprintf(w, "event: ping\ndata: {\"n\":%d,\"pad\":\"%0200d\"}\n\n", i, i)
		}
	})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	res, err := w.client.Post(w.url+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	n := 0
	lines := bufio.NewScanner(iotest.HalfReader(res.Body))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			n++
		}
	}
	if err := lines.Err(); err != nil || n != events {
		t.Errorf("%d events, want %d: %v", n, events, err)
	}
}
