package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// instant is an upstream that answers at once.
func instant(tb testing.TB) *httptest.Server {
	answer := strings.Join([]string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":3000,\"output_tokens\":1}}}",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ok\"}}",
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":20}}",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}, "\n\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, answer)
	}))
	tb.Cleanup(srv.Close)
	return srv
}

// bare is what every gateway is measured against: the standard library's reverse proxy.
func bare(tb testing.TB, upstream string) string {
	u, err := url.Parse(upstream)
	if err != nil {
		tb.Fatal(err)
	}
	tr := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	srv := httptest.NewServer(&httputil.ReverseProxy{Transport: tr, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(u) }})
	tb.Cleanup(func() {
		srv.Close()
		tr.CloseIdleConnections()
	})
	return srv.URL
}

// managed is a gateway with a store, in front of upstream.
func managed(tb testing.TB, upstream string, eo engine.Options) string {
	u, err := url.Parse(upstream)
	if err != nil {
		tb.Fatal(err)
	}
	db, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	if eo.Logger == nil {
		eo.Logger = testkit.StrictLog(tb)
	}
	patient(&eo)
	e, err := engine.New(db, eo)
	if err != nil {
		tb.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Engine: e, Upstream: u})
	if err != nil {
		tb.Fatal(err)
	}
	srv := httptest.NewServer(g)
	tb.Cleanup(func() {
		srv.Close()
		e.Close()
		db.Close()
	})
	return srv.URL
}

// talk makes the requests of a conversation of an agent with a shell: the first has about size bytes,
// each one that follows brings one round more: of about 5 KB, as rounds of coding agents are, or less
// where the size would change too much.
func talk(id, size, requests int) [][]byte {
	var head, rounds bytes.Buffer
	fmt.Fprintf(&head, `{"model":"claude-sonnet-4-5","max_tokens":8000,"stream":true,"system":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],`,
		strings.Repeat("You are a careful agent. ", min(size/200, 400)))
	fmt.Fprintf(&head, `"tools":[{"name":"Bash","description":"Runs a command.","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}],`)
	fmt.Fprintf(&head, `"messages":[{"role":"user","content":[{"type":"text","text":"Carry out task %d."}]}`, id)
	var out [][]byte
	lines := max(4, min(80, size/1500))
	for n := 0; len(out) < requests; n++ {
		if head.Len()+rounds.Len() >= size-10*65*lines { // so that the size is met on average
			out = append(out, slices.Concat(head.Bytes(), rounds.Bytes(), []byte("]}")))
		}
		fmt.Fprintf(&rounds, `,{"role":"assistant","content":[{"type":"text","text":"Step %d."},{"type":"tool_use","id":"toolu_%d_%d","name":"Bash","input":{"command":"make step-%d"}}]}`, n, id, n, n)
		fmt.Fprintf(&rounds, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d_%d","content":"`, id, n)
		for i := range lines {
			fmt.Fprintf(&rounds, `\tresult, err := client.Request(ctx, \"%s\", options) // line %d\n`, words[(id+n*i)%len(words)], i)
		}
		rounds.WriteString(`"}]}`)
	}
	return out
}

var words = strings.Fields("north river table window garden letter market season winter bridge castle copper forest island marble orange pepper planet silver velvet")

// A caller sends requests as an SDK does, and reads the answers to their ends.
type caller struct {
	client *http.Client
	tb     testing.TB
}

func newCaller(tb testing.TB) *caller {
	tr := &http.Transport{MaxIdleConnsPerHost: 2000, DisableCompression: true}
	tb.Cleanup(tr.CloseIdleConnections)
	return &caller{client: &http.Client{Transport: tr}, tb: tb}
}

// call returns how long a request took.
func (c *caller) call(base, session string, body []byte) time.Duration {
	r, err := http.NewRequestWithContext(c.tb.Context(), "POST", base+"/v1/messages?beta=true", bytes.NewReader(body))
	if err != nil {
		c.tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "key")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Claude-Code-Session-Id", session)
	begin := time.Now()
	res, err := c.client.Do(r)
	if err != nil {
		c.tb.Error(err)
		return 0
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n == 0 || res.StatusCode != 200 || res.Header.Get("X-Decant-Fault") != "" {
		c.tb.Errorf("status %d, %d bytes, fault %q, error %v", res.StatusCode, n, res.Header.Get("X-Decant-Fault"), err)
	}
	return time.Since(begin)
}

func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// against measures requests through the bare proxy and through the gateway, conversation by
// conversation in turns, and reports both medians and their ratio. warm requests of each conversation
// are not counted.
func against(b *testing.B, size, length, warm int) {
	up := instant(b)
	floor, ours := bare(b, up.URL), managed(b, up.URL, engine.Options{Window: 1_000_000})
	c := newCaller(b)
	var at [2][]time.Duration
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; len(at[1]) < b.N; n++ {
		b.StopTimer()
		bodies := talk(n, size, length)
		b.StartTimer()
		for arm, base := range []string{floor, ours} {
			for i, body := range bodies {
				if d := c.call(base, fmt.Sprint("session-", n), body); i >= warm {
					at[arm] = append(at[arm], d)
				}
			}
		}
	}
	f, o := median(at[0]), median(at[1])
	b.ReportMetric(ms(f), "floor-p50-ms")
	b.ReportMetric(ms(o), "p50-ms")
	b.ReportMetric(float64(o)/float64(f), "times-floor")
}

var sizes = []struct {
	name  string
	bytes int
}{{"13.5KB", 13_500}, {"106KB", 106_000}, {"528KB", 528_000}}

// BenchmarkGrowing: a conversation that grows by one round per request. To reach: 1.5, 1.8 and 2.0
// times the floor.
func BenchmarkGrowing(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) { against(b, s.bytes, 20, 1) })
	}
}

// BenchmarkNew: every request begins a conversation. To reach: 2.0, 2.5 and 3.0 times the floor.
func BenchmarkNew(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) { against(b, s.bytes, 1, 0) })
	}
}

// BenchmarkThroughput: eight clients at once, each with a conversation that grows. To reach: 45 % of
// the floor.
func BenchmarkThroughput(b *testing.B) {
	up := instant(b)
	floor, ours := bare(b, up.URL), managed(b, up.URL, engine.Options{Window: 1_000_000})
	c := newCaller(b)
	const clients, length = 8, 20
	var took [2]time.Duration
	total := 0
	for n := 0; total < b.N; n++ {
		var talks [clients][][]byte
		for i := range talks {
			talks[i] = talk(n*clients+i, 13_500, length)
		}
		for arm, base := range []string{floor, ours} {
			begin := time.Now()
			var wg sync.WaitGroup
			for i := range talks {
				wg.Go(func() {
					for _, body := range talks[i] {
						c.call(base, fmt.Sprint("session-", n, "-", i), body)
					}
				})
			}
			wg.Wait()
			took[arm] += time.Since(begin)
		}
		total += clients * length
	}
	rate := func(d time.Duration) float64 { return float64(total) / d.Seconds() }
	b.ReportMetric(rate(took[0]), "floor-requests/s")
	b.ReportMetric(rate(took[1]), "requests/s")
	b.ReportMetric(100*rate(took[1])/rate(took[0]), "percent-of-floor")
}

// BenchmarkFirstByte: a stream of events that come one by one. To reach: less than a millisecond more
// than the floor.
func BenchmarkFirstByte(b *testing.B) {
	var waiting atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		waiting.Add(1)
		for i := range 10 {
			fmt.Fprintf(w, "event: ping\ndata: {\"type\":\"ping\",\"n\":%d}\n\n", i)
			http.NewResponseController(w).Flush()
			select { // the pace of a model
			case <-r.Context().Done():
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}))
	b.Cleanup(up.Close)
	floor, ours := bare(b, up.URL), managed(b, up.URL, engine.Options{Window: 1_000_000})
	c := newCaller(b)
	var at [2][]time.Duration
	for n := 0; len(at[1]) < b.N; n++ {
		for arm, base := range []string{floor, ours} {
			for _, body := range talk(n, 13_500, 5) {
				at[arm] = append(at[arm], c.first(base, body))
			}
		}
	}
	b.ReportMetric(ms(median(at[0])), "floor-p50-ms")
	b.ReportMetric(ms(median(at[1])), "p50-ms")
	b.ReportMetric(ms(median(at[1])-median(at[0])), "over-floor-ms")
}

// first returns how long it took until the first byte of the answer's body.
func (c *caller) first(base string, body []byte) time.Duration {
	begin := time.Now()
	res, err := c.client.Post(base+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		c.tb.Fatal(err)
	}
	defer res.Body.Close()
	var one [1]byte
	if _, err := io.ReadFull(res.Body, one[:]); err != nil {
		c.tb.Fatal(err)
	}
	took := time.Since(begin)
	io.Copy(io.Discard, res.Body)
	return took
}
