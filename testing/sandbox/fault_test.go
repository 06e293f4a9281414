package sandbox_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/sse"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

// names returns the names of the events in a stream.
func names(stream string) []string {
	var out []string
	r := &sse.Reader{Handle: func(name, _ []byte) { out = append(out, string(name)) }}
	r.Write([]byte(stream))
	return out
}

func streamed(r rule) string { r.fields += `"stream":true,`; return r.body() }

func TestFaultsBeforeTheAnswer(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	for _, tt := range []struct {
		fault  sandbox.Fault
		status int
		retry  string
	}{
		{sandbox.Fault{Kind: sandbox.FaultRateLimit}, 429, "1"},
		{sandbox.Fault{Kind: sandbox.FaultRateLimit, Wait: 1500 * time.Millisecond}, 429, "2"},
		{sandbox.Fault{Kind: sandbox.FaultOverloaded}, 529, ""},
		{sandbox.Fault{Kind: sandbox.FaultInternal}, 500, ""},
	} {
		for _, body := range []string{rule{}.body(), streamed(rule{})} {
			s.Inject(tt.fault)
			got := do(t, "POST", url+"/v1/messages", body)
			checkError(t, got, tt.status, "")
			if retry := got.header.Get("retry-after"); retry != tt.retry {
				t.Errorf("%s: retry-after %q, want %q", tt.fault.Kind, retry, tt.retry)
			}
			if e := s.Log.Last(); e.Fault != tt.fault.Kind || e.Status != tt.status {
				t.Errorf("log: %+v", e)
			}
		}
	}
	if got := do(t, "POST", url+"/v1/messages", rule{}.body()); got.status != 200 {
		t.Errorf("after the faults: %d", got.status)
	}
}

func TestStreamGrammar(t *testing.T) {
	_, url := start(t, sandbox.Options{Chunk: 1 << 20})
	got := do(t, "POST", url+"/v1/messages", streamed(rule{fields: adaptive + bash}))
	want := []string{
		"message_start", "ping",
		"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", // thinking and its signature
		"content_block_start", "content_block_delta", "content_block_stop", // text
		"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", // tool_use
		"message_delta", "message_stop",
	}
	if d := cmp.Diff(want, names(got.body)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if ct := got.header.Get("content-type"); ct != sse.ContentType {
		t.Errorf("content type %q", ct)
	}
}

func TestErrorInTheStream(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultStreamError, After: 3})
	got := do(t, "POST", url+"/v1/messages", streamed(rule{}))
	want := []string{"message_start", "ping", "content_block_start", "error"}
	if d := cmp.Diff(want, names(got.body)); d != "" || got.status != 200 {
		t.Errorf("status %d (-want +got):\n%s", got.status, d)
	}
	if !strings.Contains(got.body, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}`) {
		t.Errorf("stream %s", got.body)
	}
}

// waits records what was slept, and never sleeps.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
	return ctx.Err()
}

func TestSlowStreamPausesBeforeEveryEvent(t *testing.T) {
	var w waits
	s, url := start(t, sandbox.Options{Sleep: w.sleep})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultSlow, Wait: time.Second})
	got := do(t, "POST", url+"/v1/messages", streamed(rule{}))
	if n := len(names(got.body)); n == 0 || len(w.all) != n {
		t.Errorf("%d pauses, %d events", len(w.all), n)
	}
}

func TestStallGoesOnAfterItsWait(t *testing.T) {
	var w waits
	s, url := start(t, sandbox.Options{Sleep: w.sleep})
	for after, body := range []string{rule{}.body(), streamed(rule{}), streamed(rule{})} {
		s.Inject(sandbox.Fault{Kind: sandbox.FaultStall, After: after, Wait: time.Minute})
		if got := do(t, "POST", url+"/v1/messages", body); got.status != 200 || len(w.all) != after+1 {
			t.Errorf("after %d events: status %d, %v waited", after, got.status, w.all)
		}
	}
}

// TestStallEndsWithTheClient checks that a client can leave a stall that has no end.
func TestStallEndsWithTheClient(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultStall, After: 2})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", url+"/v1/messages", strings.NewReader(streamed(rule{})))
	req.Header = http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"ping"`) {
	}
	cancel()
	for lines.Scan() {
	}
	if !errors.Is(lines.Err(), context.Canceled) {
		t.Errorf("read ended with %v", lines.Err())
	}
}

func TestFaultsByNumber(t *testing.T) {
	_, url := start(t, sandbox.Options{Faults: func(n int, _ *http.Request) sandbox.Fault {
		if n%2 == 0 {
			return sandbox.Fault{Kind: sandbox.FaultOverloaded}
		}
		return sandbox.Fault{}
	}})
	for i, want := range []int{200, 529, 200, 529} {
		if got := do(t, "POST", url+"/v1/messages", rule{}.body()); got.status != want {
			t.Errorf("request %d: %d, want %d", i+1, got.status, want)
		}
	}
}

// A broken model fails in some way.
type broken struct{ how string }

func (b broken) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	switch b.how {
	case "panic":
		panic("broken")
	case "error":
		return sandbox.Answer{}, errors.New("broken")
	case "kind":
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: "poem"}}}, nil
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: "use", Name: "Bash", Input: []byte("[1]")}}}, nil
}

func TestInternalErrorsAreNeverAnswers(t *testing.T) {
	for _, how := range []string{"panic", "error", "kind", "input"} {
		_, url := start(t, sandbox.Options{Model: broken{how}})
		for _, body := range []string{rule{}.body(), streamed(rule{})} {
			checkError(t, do(t, "POST", url+"/v1/messages", body), 500, "model")
		}
	}
}

func TestCompressedBodies(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte(rule{}.body()))
	z.Close()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{"gzip": gz.String(), "zstd": string(e.EncodeAll([]byte(rule{}.body()), nil))}
	for enc, body := range bodies {
		got := do(t, "POST", url+"/v1/messages", body, "content-encoding", enc)
		if got.status != 200 || string(s.Log.Last().Body) != (rule{}).body() {
			t.Errorf("%s: %d %s, logged %q", enc, got.status, got.body, s.Log.Last().Body)
		}
		checkError(t, do(t, "POST", url+"/v1/messages", body[:len(body)-9], "content-encoding", enc), 400, "could not be read")
	}
	bomb := e.EncodeAll(make([]byte, 33<<20), nil)
	checkError(t, do(t, "POST", url+"/v1/messages", string(bomb), "content-encoding", "zstd"), 413, "exceeds the maximum size")
}

func TestLog(t *testing.T) {
	s, url := start(t, sandbox.Options{LogSize: 3})
	for range 5 {
		do(t, "POST", url+"/v1/messages", rule{}.body(), "authorization", "Bearer topsecret")
	}
	do(t, "POST", url+"/v1/messages", "{}")
	es := s.Log.Entries()
	if len(es) != 3 || es[2].Number != 6 || es[2].Status != 400 || es[1].Status != 200 || es[1].Stop != "end_turn" || es[1].Usage.Output == 0 {
		t.Errorf("entries %+v", es)
	}
	for _, name := range []string{"X-Api-Key", "Authorization"} {
		if got := es[1].Header.Get(name); got != "[redacted]" {
			t.Errorf("%s is logged as %q", name, got)
		}
	}
	if refused := s.Log.Refused(); len(refused) != 1 || refused[0].Number != 6 {
		t.Errorf("refused %+v", refused)
	}
	s.Log.Reset()
	if got := s.Log.Last(); got.Number != 0 || len(s.Log.Entries()) != 0 {
		t.Errorf("after a reset: %+v", got)
	}
}

func TestLogMakesRoom(t *testing.T) {
	size := len(rule{}.body())
	s, url := start(t, sandbox.Options{LogSize: 4, LogBytes: 2*size + 1})
	for range 9 {
		do(t, "POST", url+"/v1/messages", rule{}.body())
	}
	var got []int
	for _, e := range s.Log.Entries() {
		got = append(got, len(e.Body))
	}
	if d := cmp.Diff([]int{0, 0, size, size}, got); d != "" {
		t.Errorf("sizes of the bodies (-want +got):\n%s", d)
	}
}

func TestListenAndServe(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	addr := make(chan net.Addr, 1)
	done := make(chan error, 1)
	go func() {
		done <- sandbox.ListenAndServe(ctx, "127.0.0.1:0", sandbox.Options{}, func(a net.Addr) { addr <- a })
	}()
	url := "http://" + (<-addr).String()
	if got := do(t, "POST", url+"/v1/messages", rule{}.body()); got.status != 200 {
		t.Errorf("status %d", got.status)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
	if err := sandbox.ListenAndServe(t.Context(), "127.0.0.1:-1", sandbox.Options{}, nil); err == nil {
		t.Error("no error for an impossible address")
	}
}
