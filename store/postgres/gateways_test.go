package postgres

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// Two gateways get every request of a conversation at the same moment, with presets that decide differently. Where both are about
// to commit decisions before either may, one wins, and the other one sends the winner's bytes. Where only one is, the other one
// may have been first.
func TestTwoGatewaysSendTheSameBytes(t *testing.T) {
	address := server.Database(t)
	meeting := &meeting{}
	one, other := newNode(t, address, "agent-loop", meeting), newNode(t, address, "coding-session-50", meeting)
	messages := []message{{"user", "Do the work."}}
	poured := 0
	for n := range testkit.Depth(24, 80) {
		body, err := json.Marshal(map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		races := meeting.met
		sent := meeting.hold(t, body, one, other)
		if raced := meeting.met > races; raced && !bytes.Equal(sent[0], sent[1]) {
			t.Fatalf("request %d: one gateway sent %d bytes, the other one other %d", n+1, len(sent[0]), len(sent[1]))
		}
		if len(sent[0]) < len(body)*9/10 {
			poured++
		}
		messages = append(messages, message{"assistant", fmt.Sprint("step ", n)}, message{"user", lines(n)})
	}
	list, err := one.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d conversations, %v; want one", len(list), err)
	}
	if poured == 0 || meeting.met == 0 {
		t.Errorf("%d requests were poured, and %d times both gateways were about to commit; want some", poured, meeting.met)
	}
	t.Logf("%d requests poured, %d races", poured, meeting.met)
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// lines returns what a step of work has said, 6 KB.
func lines(n int) string {
	var s strings.Builder
	for i := 0; s.Len() < 6<<10; i++ {
		fmt.Fprintf(&s, "step %d line %d value_%d_%d = compute(alpha, beta_%d)\n", n, i, n, i, i)
	}
	return s.String()
}

// A node is a gateway with a database and an upstream of its own.
type node struct {
	store store.Store
	url   string
	mu    sync.Mutex
	sent  []byte // the newest request to the upstream
}

func newNode(t *testing.T, address, name string, m *meeting) *node {
	t.Helper()
	n := &node{}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		n.sent = body
		n.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"noted"}],
			"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":5}}`, len(body)/4)
	}))
	t.Cleanup(up.Close)
	n.store = &meetingStore{store.Complete(openTest(t, address)), m}
	p, err := preset.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(n.store, engine.Options{Preset: p, Window: 20_000, NoEarlyPours: true, Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	upstream, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Engine: e, Upstream: upstream})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	n.url = srv.URL
	return n
}

// ask sends a request and returns what the gateway sent.
func (n *node) ask(t *testing.T, body []byte) []byte {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s", res.StatusCode, answer)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sent
}

// A meeting has the first commits of two requests wait for each other, or for the end of the other request.
type meeting struct {
	mu    sync.Mutex
	here  int           // that wait, or need not be waited for
	waits bool          // the first one waits
	both  chan struct{} // closed once both are here
	met   int
}

// hold sends a request through both nodes and returns what each has sent.
func (m *meeting) hold(t *testing.T, body []byte, nodes ...*node) [2][]byte {
	m.mu.Lock()
	m.here, m.waits, m.both = 0, false, make(chan struct{})
	m.mu.Unlock()
	var sent [2][]byte
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			sent[i] = n.ask(t, body)
			m.arrive(false)
		})
	}
	wg.Wait()
	return sent
}

// arrive counts one that is here and waits for the other one if it has to.
func (m *meeting) arrive(wait bool) {
	m.mu.Lock()
	m.here++
	if wait && m.here == 1 {
		m.waits = true
	}
	if m.here == 2 {
		close(m.both)
		if wait && m.waits {
			m.met++
		}
	}
	both := m.both
	m.mu.Unlock()
	if wait {
		<-both
	}
}

// A meetingStore has commits of decisions or of new entries meet.
type meetingStore struct {
	store.Store
	meeting *meeting
}

// Commit implements store.Committer.
func (s *meetingStore) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	if len(b.Decisions) > 0 {
		s.meeting.arrive(true)
	}
	return s.Store.Commit(ctx, b)
}
