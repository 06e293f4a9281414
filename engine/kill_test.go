package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/transport"
)

// The test binary starts itself as a child process: a gateway that is killed.
const (
	childPath     = "DECANT_TEST_GATEWAY_DB"       // the child's database
	childUpstream = "DECANT_TEST_GATEWAY_UPSTREAM" // where it forwards to
)

// gateway serves an engine on a database until it is killed. It says where it listens, and then which
// commits have returned: "conversation version".
func gateway(path string) error {
	upstream, err := url.Parse(os.Getenv(childUpstream))
	if err != nil {
		return err
	}
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	e, err := engine.New(&acknowledging{Store: db}, killedOptions())
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport: transport.New(e, transport.Options{Base: &http.Transport{DisableKeepAlives: true}}),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	})
}

func killedOptions() engine.Options {
	return engine.Options{
		Window: worldWindow, Preset: small(), Timeouts: sandboxtest.Patient,
		Logger: testkit.Log(func(level slog.Level, line string) {
			if level >= slog.LevelError {
				fmt.Fprintln(os.Stderr, "fault:", line)
			}
		}),
	}
}

// An acknowledging store says what it has committed. One write is one line: it is there whole or not at
// all.
type acknowledging struct{ engine.Store }

func (a *acknowledging) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	v, err := a.Store.Commit(ctx, b)
	if err == nil {
		fmt.Printf("%s %d\n", b.ID, v)
	}
	return v, err
}

// An agent is a client of the gateway with one conversation. It knows what it said, what it was
// answered, and, from the provider, what was sent for it.
type agent struct {
	caller
	name   string
	random *rand.Rand
	known  map[string]bool // ids of decisions that were in the store
	fresh  bool            // some of them were made in the last life of the gateway

	mu      sync.Mutex
	asked   []byte // its newest request
	left    []byte // the newest one of which something reached the provider
	sent    []byte // what reached the provider of that
	refused bool   // and was refused
	when    int64  // in which life of the gateway
}

// A siege is everything that survives the gateway: the provider, the clients, the database file.
type siege struct {
	*testing.T
	random  *rand.Rand
	sandbox *sandbox.Server
	path    string
	agents  []*agent
	byKey   map[string]*agent

	lives  atomic.Int64 // of the gateway
	events atomic.Int64 // of this life of the gateway: requests that left, answers, commits
	fatal  int64        // after so many events the gateway dies
	die    chan struct{}
	once   *sync.Once

	answers                          atomic.Int64 // counted over all lives, as are
	kept, anew, handles, acks, pours int
}

// TestKill kills a gateway under load at random moments, again and again. What was acknowledged must
// be in the store, every request that had left must leave as the same bytes from another engine on
// the file, every original must be there, and the next request of every client must be accepted.
func TestKill(t *testing.T) {
	n := testkit.Depth(2, 40)
	s := newSiege(t)
	upstream := httptest.NewServer(s)
	defer upstream.Close()
	for i := range n {
		if i%8 == 0 { // checking a database reads all of it
			s.settle()
		}
		s.live(upstream.URL)
	}
	t.Logf("%d kills: %d commits acknowledged, %d requests answered, %d pours, %d views as they had left and %d poured anew, %d handles expanded, %d refusals recovered",
		n, s.acks, s.answers.Load(), s.pours, s.kept, s.anew, s.handles, len(s.sandbox.Log.Refused()))
	if s.answers.Load() == 0 || s.kept == 0 || s.acks == 0 || s.handles == 0 {
		t.Error("nothing happened: the test shows nothing")
	}
}

func newSiege(t *testing.T) *siege {
	return &siege{T: t, random: rand.New(rand.NewPCG(3, 4)), sandbox: newSandbox(sandbox.Options{Window: worldWindow, Model: &actor{}})}
}

// settle begins anew: another database, other conversations.
func (s *siege) settle() {
	var err error
	if s.path, err = emptyFile(s.TempDir()); err != nil {
		s.Fatal(err)
	}
	s.agents, s.byKey = nil, map[string]*agent{}
	for i, m := range modes {
		a := &agent{known: map[string]bool{}, name: fmt.Sprintf("agent%d", i), random: rand.New(rand.NewPCG(s.random.Uint64(), 0))}
		a.session, a.model, a.thinking = a.name, m.model, m.thinking
		s.agents, s.byKey[a.name] = append(s.agents, a), a
	}
}

// ServeHTTP is the provider: it notes what was sent for whom, and answers.
func (s *siege) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the gateway died while it was sending
	}
	a := s.byKey[r.Header.Get("X-Api-Key")]
	a.mu.Lock()
	a.left, a.sent, a.refused, a.when = a.asked, body, false, s.lives.Load()
	a.mu.Unlock()
	s.event()
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	s.sandbox.ServeHTTP(answer, r)
	a.mu.Lock()
	a.refused = answer.Code != http.StatusOK
	a.mu.Unlock()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

// event counts something that happened; at the fatal one the gateway dies.
func (s *siege) event() {
	if s.events.Add(1) >= s.fatal {
		s.once.Do(func() { close(s.die) })
	}
}

// live starts a gateway, lets all clients work with it, and kills it at a random moment.
func (s *siege) live(upstream string) {
	s.Helper()
	s.lives.Add(1)
	s.events.Store(0)
	s.fatal, s.die, s.once = 1+s.random.Int64N(120), make(chan struct{}), &sync.Once{}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childPath+"="+s.path, childUpstream+"="+upstream)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		s.Fatalf("start gateway: %v", err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		s.Fatalf("the gateway does not start: %s", stderr.String())
	}
	base := "http://" + lines.Text()
	var wg sync.WaitGroup
	for _, a := range s.agents {
		wg.Go(func() { a.work(s, base) })
	}
	acks := map[string]int64{}
	wg.Go(func() { s.listen(lines, acks) })
	<-s.die
	<-time.After(time.Duration(s.random.Int64N(int64(4 * time.Millisecond)))) // between two events
	if err := c.Process.Kill(); err != nil {
		s.Fatal(err)
	}
	wg.Wait()
	c.Wait()
	if stderr.Len() > 0 {
		s.Errorf("gateway: %s", stderr.String())
	}
	s.survived(acks)
}

// listen reads what the gateway says about its commits until it is dead.
func (s *siege) listen(lines *bufio.Scanner, acks map[string]int64) {
	for lines.Scan() {
		id, version, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			s.Errorf("the gateway said %q", lines.Text())
			continue
		}
		acks[id] = max(acks[id], v)
		s.acks++
		s.event()
	}
}

// work sends requests until the gateway is dead. A client has no state but its conversation: after a
// restart it sends what it would have sent anyway.
func (a *agent) work(s *siege, base string) {
	for {
		a.speak()
		status, answer, err := a.post(base)
		switch {
		case err != nil || status == http.StatusBadGateway:
			return // killed
		case status != http.StatusOK:
			s.Errorf("%s (%s): status %d: %s", a.name, a.model, status, answer)
			s.once.Do(func() { close(s.die) })
			return
		}
		if err := a.hear(answer); err != nil {
			s.Error(err)
		}
		s.answers.Add(1)
		s.event()
	}
}

// speak appends what the client says next, unless it still waits for an answer, and makes the request.
func (a *agent) speak() {
	if len(a.ms) == 0 || a.answered {
		a.ms, a.answered = append(a.ms, a.next()), false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = a.style.write(a.model, a.thinking, a.ms)
}

// next returns the results of all calls, of any size, or words of the user's.
func (a *agent) next() saying {
	m := saying{role: "user"}
	for _, call := range a.calls() {
		size := []int{0, 0, 3, 7, 13, 27, 80}[a.random.IntN(7)]
		m.parts = append(m.parts, part{kind: "tool_result", id: call.id, text: output(call.id, size)})
	}
	if len(m.parts) == 0 {
		n := a.random.IntN(30)
		m.parts = []part{{kind: "text", text: fmt.Sprintf("%s: please do part %d of file_%d.go. ", a.name, n, n) + strings.Repeat("Mind the details. ", n)}}
	}
	return m
}

// post sends the newest request.
func (a *agent) post(base string) (int, []byte, error) {
	r, err := http.NewRequest(http.MethodPost, base+"/v1/messages", bytes.NewReader(a.asked))
	if err != nil {
		return 0, nil, err
	}
	for name, v := range map[string]string{
		"X-Api-Key": a.name, "Anthropic-Version": "2023-06-01", "Content-Type": "application/json", "X-Decant-Session": a.session,
	} {
		r.Header.Set(name, v)
	}
	t := &http.Transport{DisableKeepAlives: true}
	res, err := t.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// survived looks at what the dead gateway has left behind.
func (s *siege) survived(acks map[string]int64) {
	s.Helper()
	ctx := s.Context()
	db, err := sqlite.Open(ctx, s.path, sqlite.Options{})
	if err != nil {
		s.Fatalf("open after the kill: %v", err)
	}
	defer db.Close()
	if problems, err := db.Check(ctx); err != nil || len(problems) > 0 {
		s.Fatalf("check after the kill: %v, %v", problems, err)
	}
	for id, v := range acks {
		if got, err := db.Version(ctx, store.Key{ID: id}); err != nil || got < v {
			s.Errorf("conversation %s: version %d was acknowledged, the store has %d, %v", id, v, got, err)
		}
	}
	e, err := engine.New(db, killedOptions())
	if err != nil {
		s.Fatal(err)
	}
	defer e.Close()
	for _, a := range s.agents {
		s.whole(db, a)
		s.replayed(e, a)
	}
	s.goOn()
	if s.Failed() {
		s.FailNow()
	}
}

// whole checks that the store has a beginning of what a client said, all decisions that it ever had
// about it, and the exact original of each.
func (s *siege) whole(db store.Store, a *agent) {
	s.Helper()
	a.fresh = false
	cs, err := db.Conversations(s.Context(), store.Filter{Session: a.session})
	if err != nil || len(cs) > 1 || len(cs) == 0 && len(a.known) > 0 {
		s.Fatalf("%s has %d conversations, %v; want one", a.name, len(cs), err)
	}
	if len(cs) == 0 {
		return // it was killed before anything was archived
	}
	tr := read(s.T, db, cs[0].Key, cs[0].Version)
	has := map[string]bool{}
	for _, d := range tr.State.Decisions {
		if has[d.ID] = true; !a.known[d.ID] {
			a.fresh = true
			if d.Kind == decant.Cover {
				s.pours++
			}
		}
		if d.Handle != "" {
			s.expands(db, a, cs[0].Key, &d)
		}
	}
	for id := range a.known {
		if !has[id] {
			s.Errorf("%s: decision %s was lost", a.name, id)
		}
	}
	a.known = has
	if got, want := saidBy(tr.Conversation), a.said(); !strings.HasPrefix(want, got) {
		s.Errorf("%s: the store has\n%.2000s\nthe client said\n%.2000s", a.name, got, want)
	}
}

// expands checks that a handle leads to what the client said.
func (s *siege) expands(db store.Store, a *agent, k store.Key, d *decant.Decision) {
	s.Helper()
	o, err := db.Resolve(s.Context(), k, d.Handle)
	if err != nil {
		s.Fatalf("%s: expand %s: %v", a.name, d.Handle, err)
	}
	tr, err := archive.ReadEntries(s.Context(), db, k, o.Entries)
	if err != nil {
		s.Fatalf("%s: read %s: %v", a.name, d.Handle, err)
	}
	s.handles++
	original := saidBy(tr.Conversation)
	if d.Kind == decant.DropThinking {
		return // not part of what is said; that it can be read is enough
	}
	if original == "" || !strings.Contains(a.said(), original) {
		s.Errorf("%s: %s expands to\n%.2000s\nwhich the client never said", a.name, d.Handle, original)
	}
	if cp := d.Checkpoint; cp != nil && len(tr.Conversation.Messages) != cp.To-cp.From+1 {
		s.Errorf("%s: %s expands to %d messages, it covers m%d to m%d", a.name, d.Handle, len(tr.Conversation.Messages), cp.From, cp.To)
	}
}

// saidBy returns a conversation as caller.said does.
func saidBy(c *decant.Conversation) string {
	var b strings.Builder
	for _, m := range c.Messages {
		for i := range m.Blocks {
			if p := &m.Blocks[i]; p.Kind != decant.KindThinking {
				fmt.Fprintf(&b, "%s %s %s\n", m.Role, p.CallID, p.Text())
			}
		}
	}
	return b.String()
}

// replayed checks that what left last leaves again as the same bytes: what was decided about it was
// committed before, and nothing of it is decided anew. A pour that became due because the provider's
// report was not archived in time is not excluded, and neither is one that was committed for a later
// request, which then did not leave: the next one, or, in a life of the gateway that it did not leave
// in, the same one once more. What the provider has refused may have been decided otherwise, too.
func (s *siege) replayed(e *engine.Engine, a *agent) {
	s.Helper()
	if a.left == nil {
		return
	}
	p, err := e.Prepare(s.Context(), &engine.Request{Session: a.session, Body: a.left, Count: true})
	switch {
	case err != nil || p.Fault != nil:
		s.Errorf("%s: prepare what had left: %v, %v", a.name, err, p)
	case p.Report.Reason != "" || p.Report.Relation == "returns" || a.fresh && (a.refused || a.when < s.lives.Load()):
		s.anew++
	case len(p.Report.Decisions) > 0:
		s.Errorf("%s: decided anew: %+v", a.name, p.Report.Decisions)
	case !bytes.Equal(p.Body, a.sent):
		s.Errorf("%s (%s): what left before the kill as\n%.3000s\n\nleaves after it as\n%.3000s", a.name, p.Report.Relation, a.sent, p.Body)
	default:
		s.kept++
	}
}

// goOn checks that the next request of every client is accepted, by a gateway on a copy of what the dead one has
// left behind: it may have died before it could take back what the provider has refused.
func (s *siege) goOn() {
	s.Helper()
	path := filepath.Join(s.TempDir(), "copy.db")
	for _, part := range []string{"", "-wal"} {
		data, err := os.ReadFile(s.path + part)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(path+part, data, 0o600)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	db, err := sqlite.Open(s.Context(), path, sqlite.Options{})
	if err != nil {
		s.Fatalf("open a copy: %v", err)
	}
	defer db.Close()
	e, err := engine.New(db, killedOptions())
	if err != nil {
		s.Fatal(err)
	}
	defer e.Close()
	for _, a := range s.agents {
		s.goesOn(e, a)
	}
}

// goesOn checks that the next request of a client is accepted, at the second try at the latest.
func (s *siege) goesOn(e *engine.Engine, a *agent) {
	s.Helper()
	a.speak()
	p, err := e.Prepare(s.Context(), &engine.Request{Session: a.session, Body: a.asked})
	for tries := 1; ; tries++ {
		if err != nil || p.Fault != nil {
			s.Errorf("%s: prepare the next request: %v, %v", a.name, err, p)
			return
		}
		status, answer := s.ask(a, p)
		if status == http.StatusOK {
			e.Finish(p, engine.Response{Status: status})
			return
		}
		next, ok := e.Recover(s.Context(), p, status, answer)
		if !ok || tries > 1 {
			s.Errorf("%s (%s): the next request after the kill is refused: %s", a.name, a.model, answer)
			return
		}
		p = next
	}
}

// ask sends a prepared request of a client to the provider, past its gateway.
func (s *siege) ask(a *agent, p *engine.Prepared) (status int, answer []byte) {
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", bytes.NewReader(p.Body))
	r.Header["Anthropic-Beta"] = p.Betas
	for name, v := range map[string]string{"X-Api-Key": a.name, "Anthropic-Version": "2023-06-01", "Content-Type": "application/json"} {
		r.Header.Set(name, v)
	}
	w := httptest.NewRecorder()
	s.sandbox.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}
