package transport

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// packed returns a text in an encoding.
func packed(t *testing.T, encoding string, text io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if encoding == "zstd" {
		var err error
		if w, err = zstd.NewWriter(&out); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.Copy(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// zeros is a request for messages that is nearly all the same byte.
func zeros(n int64) io.Reader {
	head, tail, _ := strings.Cut(hello, "Hello.")
	return io.MultiReader(strings.NewReader(head), io.LimitReader(only('0'), n), strings.NewReader(tail))
}

type only byte

func (s only) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s)
	}
	return len(p), nil
}

// A small body that unpacks to a large one goes on as it came, without being unpacked to its end. One that only
// repeats itself is read.
func TestBodiesThatUnpackToMuch(t *testing.T) {
	for _, c := range []struct {
		encoding string
		size     int64
		managed  bool
	}{
		{"gzip", 64 << 20, false}, {"zstd", 64 << 20, false}, {"gzip", 2 << 20, false}, {"zstd", 2 << 20, false},
		{"gzip", 900 << 10, true}, {"zstd", 900 << 10, true},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.encoding, c.size>>10), func(t *testing.T) {
			w := newWorld(t, sandbox.Options{}, engine.Options{})
			b := &base{}
			rt := New(w.engine, Options{Base: b, MaxBody: 8 << 20})
			body := packed(t, c.encoding, zeros(c.size))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, _ := post(t, rt, "/v1/messages", body, "Content-Encoding", c.encoding)
			runtime.ReadMemStats(&after)
			if b.bodies[0] != body || b.sent[0].Header.Get("Content-Encoding") != c.encoding {
				t.Error("the body did not arrive as it was sent")
			}
			if managed := res.Header.Get("X-Decant-Conversation") != ""; managed != c.managed {
				t.Errorf("managed: %t", managed)
			}
			if n := after.TotalAlloc - before.TotalAlloc; !c.managed && n > 40<<20 {
				t.Errorf("%d MB were allocated", n>>20)
			}
		})
	}
}

// Text that packs well, as transcripts do, is read up to the limit and not beyond it.
func TestUnpackedBodiesHaveTheLimitOfOthers(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	text := func(n int) io.Reader {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "line %d of %d, ", i, i*7919%10007)
		}
		return strings.NewReader(strings.Replace(hello, "Hello.", b.String(), 1))
	}
	mb := testkit.Depth(1<<18, 1<<20)
	for size, want := range map[int]bool{9 * mb: true, 13 * mb: false} {
		b, managed := &base{}, false
		done := func(*http.Request, *engine.Prepared, engine.Response) { managed = true }
		rt := New(w.engine, Options{Base: b, MaxBody: int64(12 * mb), Done: done})
		body := packed(t, "gzip", text(size))
		post(t, rt, "/v1/messages", body, "Content-Encoding", "gzip", "X-Decant-Mode", "off")
		if managed != want || b.bodies[0] != body {
			t.Errorf("%d bytes: managed %t", size, managed)
		}
	}
}

// An answer that is larger than what is kept passes whole. What it used is booked, what it said is not archived.
func TestAnswersThatAreTooLargeToBeKept(t *testing.T) {
	const delta, deltas = 1 << 20, 70
	event := func(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }
	text := event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+strings.Repeat("x", delta)+`"}}`)
	parts := []io.Reader{strings.NewReader(event("message_start", `{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}`) +
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`))}
	for range deltas {
		parts = append(parts, strings.NewReader(text))
	}
	parts = append(parts, strings.NewReader(event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}`)+
		event("message_stop", `{"type":"message_stop"}`)))
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	b := &base{answer: func(*http.Request) *http.Response {
		res := response(http.StatusOK, "text/event-stream", "")
		res.Body = io.NopCloser(io.MultiReader(parts...))
		return res
	}}
	_, body := post(t, w.on(b), "/v1/messages", hello, "X-Decant-Session", "s")
	if len(body) < delta*deltas || !strings.HasSuffix(body, event("message_stop", `{"type":"message_stop"}`)) {
		t.Errorf("%d bytes arrived", len(body))
	}
	if got := w.requests(t)[0]; got.Usage.Input != 7 || got.Usage.Output != 15 || got.Stop != "end_turn" || !got.Answer.IsZero() || got.Broken {
		t.Errorf("it is kept as %+v", got)
	}
}

// While one request holds what there is, another is told to come back; when its answer has been read, it passes.
func TestARequestForWhichThereIsNoRoom(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	large := strings.Replace(hello, "Hello.", strings.Repeat("x", 600_000), 1)
	for name, body := range map[string]string{
		"Large":  large,
		"Tiny":   strings.Replace(hello, `"messages":[`, `"messages":[`+strings.Repeat(`{"role":"user","content":"a"},`, 500), 1), // 15 KB that take 750
		"Braces": strings.Replace(hello, "Hello.", strings.Repeat("{", 300_000)+strings.Repeat("x", 300_000), 1),
	} {
		t.Run(name, func(t *testing.T) { testNoRoom(t, w, large, body) })
	}
}

// testNoRoom sends a body while a large one is being answered.
func testNoRoom(t *testing.T, w *world, large, body string) {
	b := &base{}
	rt := New(w.engine, Options{Base: b, Memory: 1 << 20})
	rt.space.Patience = 0
	ask := func(session, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://api.test/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Decant-Session", session)
		res, err := rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := ask(t.Name(), large)
	second := ask("b", body)
	text, err := io.ReadAll(second.Body)
	second.Body.Close()
	if err != nil || second.StatusCode != http.StatusServiceUnavailable || second.Header.Get("Retry-After") == "" || !strings.Contains(string(text), `"type":"overloaded_error"`) {
		t.Errorf("status %d, %v: %s", second.StatusCode, second.Header, text)
	}
	if _, err := io.ReadAll(first.Body); err != nil || first.StatusCode != 200 {
		t.Errorf("the first: status %d, %v", first.StatusCode, err)
	}
	first.Body.Close()
	for range 3 {
		third := ask("c", body)
		third.Body.Close()
		if third.StatusCode != 200 {
			t.Errorf("after it: status %d", third.StatusCode)
		}
	}
}

// What the provider sends cannot pass for Decant's own, neither before its answer nor behind it.
func TestHeadersLikeOursFromTheProvider(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, engine.Options{})
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/models"} {
		b := &base{answer: func(*http.Request) *http.Response {
			res := response(http.StatusOK, "application/json", `{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
			res.Header["x-decant-odd"] = []string{"forged"}
			res.Header.Set("X-Decant-Fault", "forged")
			res.Header.Set("X-Decant-Conversation", "forged")
			res.Trailer = http.Header{"X-Decant-Refused": nil, "X-Other": nil}
			res.Body = &behind{res.Body, func() { res.Trailer = http.Header{"X-Decant-Refused": {"forged"}, "X-Other": {"kept"}} }}
			return res
		}}
		res, _ := post(t, w.on(b), path, hello)
		for name, vs := range res.Header {
			if strings.Contains(fmt.Sprint(vs), "forged") {
				t.Errorf("%s: %s: %s", path, name, vs)
			}
		}
		if len(res.Trailer) != 1 || res.Trailer.Get("X-Other") != "kept" {
			t.Errorf("%s: trailers %v", path, res.Trailer)
		}
	}
}

// behind is a body behind whose end trailers come.
type behind struct {
	io.ReadCloser
	come func()
}

func (b *behind) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.come()
	}
	return n, err
}
