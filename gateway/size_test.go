package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// endless is a reader of n bytes that takes no memory.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	k := int(min(int64(len(p)), e.n))
	for i := range p[:k] {
		p[i] = ' '
	}
	e.n -= int64(k)
	return k, nil
}

// sink is an upstream that counts what it gets.
func sink(got *int64) http.Handler {
	return handler(func(w http.ResponseWriter, r *http.Request) {
		*got, _ = io.Copy(io.Discard, r.Body) // a broken body shows in the number
		io.WriteString(w, `{"ok":true}`)
	})
}

// heap returns the memory that is in use, after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A large file or batch passes without being kept; so does one whose length is not known before.
func TestLargeBodiesPassWithoutBeingKept(t *testing.T) {
	size := testkit.Depth[int64](32, 256) << 20
	var got int64
	w := newWorld(t, sink(&got), gateway.Options{}, engine.Options{})
	for _, known := range []bool{true, false} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/messages/batches", &endless{size})
		if err != nil {
			t.Fatal(err)
		}
		if r.ContentLength = -1; known {
			r.ContentLength = size
		}
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		runtime.ReadMemStats(&after)
		if got != size || res.StatusCode != 200 {
			t.Errorf("known length %t: status %d, %d bytes arrived", known, res.StatusCode, got)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("known length %t: %d MB were allocated", known, n>>20)
		}
	}
}

// What is larger than the limit is not managed: it passes as it comes, for the provider to answer, and is not
// kept. Of a body whose length is not said as much is read as could be managed.
func TestTooLargeBodiesOfMessagesPassWithoutBeingKept(t *testing.T) {
	const limit = 1 << 20
	size := testkit.Depth[int64](32, 256) << 20
	head, tail := strings.TrimSuffix(hello, `Hello."}]}`), `"}]}`
	var got int64
	w := newWorld(t, sink(&got), gateway.Options{MaxBody: limit}, engine.Options{})
	for _, c := range []struct {
		size    int64
		known   bool
		managed bool
	}{{limit, true, true}, {limit, false, true}, {limit + 1, true, false}, {limit + 1, false, false}, {size, true, false}, {size, false, false}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body := io.MultiReader(strings.NewReader(head), &endless{c.size - int64(len(head)+len(tail))}, strings.NewReader(tail))
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/messages", body)
		if err != nil {
			t.Fatal(err)
		}
		if r.ContentLength = -1; c.known {
			r.ContentLength = c.size
		}
		r.Header.Set("X-Decant-Session", fmt.Sprint(c))
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		runtime.ReadMemStats(&after)
		if res.StatusCode != 200 || got != c.size {
			t.Errorf("%+v: status %d, %d bytes arrived", c, res.StatusCode, got)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 20*limit {
			t.Errorf("%+v: %d MB were allocated", c, n>>20)
		}
	}
	w.server.Close() // now every answer has ended
	w.engine.Close() // and is archived
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 2 {
		t.Errorf("conversations %+v, want those of the two bodies that are small enough: %v", cs, err)
	}
}

// A thousand agents, two hundred at quick depth, wait for their answers, each with 100 KB of history.
func TestThousandOpenStreams(t *testing.T) {
	streams := testkit.Depth(100, 1000)
	limit := int64(streams) * 400 << 10
	release := make(chan struct{})
	up := handler(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n")
		http.NewResponseController(w).Flush()
		<-release
		io.WriteString(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	w.client.Transport.(*http.Transport).MaxIdleConnsPerHost = streams
	before := heap()
	bodies := make([]io.ReadCloser, streams)
	var wg sync.WaitGroup
	limiter := make(chan struct{}, 32)
	for i := range streams {
		wg.Go(func() {
			limiter <- struct{}{}
			defer func() { <-limiter }()
			body := talk(i, 100_000, 1)[0]
			r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/messages", strings.NewReader(string(body)))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("X-Decant-Session", fmt.Sprint(i))
			res, err := w.client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			bodies[i] = res.Body
			var first [16]byte
			if _, err := io.ReadFull(res.Body, first[:]); err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	used := heap() - before
	t.Logf("%d MB of heap for %d open streams, with client and upstream in the same process", used>>20, streams)
	if used > limit {
		t.Errorf("%d MB in use, want at most %d", used>>20, limit>>20)
	}
	close(release)
	for i, b := range bodies {
		rest, err := io.ReadAll(b)
		b.Close()
		if err != nil || !strings.HasSuffix(string(rest), "message_stop\"}\n\n") {
			t.Errorf("stream %d was dropped: %q, %v", i, rest, err)
		}
	}
}
