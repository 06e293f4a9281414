package walkthrough

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/notice"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A seeker is an agent that searches for jobs.
type seeker struct {
	*testing.T
	search  *search
	session *agent.Session
	lines   bytes.Buffer // on standard error
	sent    []byte       // the newest request, before it is trimmed
	most    int          // tokens of a request
	pours   []agent.Pour
}

// newSeeker returns an agent with a preset. A trim is the number of bytes of history to which its client cuts every request; 0: it does not.
func newSeeker(t *testing.T, name string, trim int) *seeker {
	t.Helper()
	s := &seeker{T: t, search: newSearch()}
	set, err := preset.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{Preset: set, NoEarlyPours: true, Timeouts: sandboxtest.Patient, Watcher: &notice.Board{Lines: &s.lines, Log: slog.New(slog.DiscardHandler), Now: time.Now}}
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), &embedded.Options{Engine: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	client := newReader(t)
	if trim > 0 {
		client = &trimmer{client, trim}
	}
	keep := func(_ context.Context, body []byte) error { s.sent = bytes.Clone(body); return nil }
	a, err := agent.New(client, agent.Options{Model: "claude-sonnet-4-5", Engine: db.Engine(), Tools: s.search.tools(), Hooks: agent.Hooks{BeforeModel: keep}})
	if err != nil {
		t.Fatal(err)
	}
	s.session = a.Session("")
	return s
}

// say says something and returns what the model says last.
func (s *seeker) say(text string) string {
	s.Helper()
	var o agent.Outcome
	for e, err := range s.session.Run(s.Context(), text) {
		if err != nil {
			s.Fatal(err)
		}
		s.most = max(s.most, e.Size)
		if e.Pour != nil {
			s.pours = append(s.pours, *e.Pour)
			s.most = max(s.most, e.Pour.Before)
		}
		if e.Outcome != nil {
			o = *e.Outcome
		}
	}
	if o.Stop != agent.StopAnswered {
		s.Fatalf("outcome %+v", o)
	}
	return o.Text
}

// begin has the prompt read, and the first rounds searched. It returns what the model says of the last of them.
func (s *seeker) begin(rounds int) (scores string) {
	s.Helper()
	s.say("Execute the job search prompt from search-prompt.txt")
	for range rounds {
		scores = s.say("Search for remote Go jobs, open each result and score the jobs by the rubric.")
	}
	return scores
}

// A trimmer is an agent's client that cuts the oldest messages, as agents without compaction do. It keeps the turn under way whole.
type trimmer struct {
	provider.Speaker
	most int // bytes of messages
}

// Speak implements provider.Speaker.
func (c *trimmer) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	var body map[string]stdjson.RawMessage
	var messages []stdjson.RawMessage
	if err := json.Unmarshal(t.Body, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body["messages"], &messages); err != nil {
		return nil, err
	}
	from, size := -1, 0
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if size += len(m); size > c.most && from >= 0 {
			break
		}
		if bytes.HasPrefix(m, []byte(`{"role":"user","content":[{"type":"text"`)) {
			from = i
		}
	}
	var err error
	if body["messages"], err = json.Marshal(messages[max(from, 0):]); err != nil {
		return nil, err
	}
	cut, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.Speaker.Speak(ctx, &provider.Turn{Body: cut, Betas: t.Betas}, heard)
}

var (
	dueLine  = regexp.MustCompile(`^  Compaction: estimated ~[\d,]+ tokens, threshold 80,000 — compacting \d+ messages$`)
	doneLine = regexp.MustCompile(`^  Compaction: summarized \d+ messages into ~[\d,]+ tokens, freed ~[\d,]+ estimated tokens$`)
)

// A rubric in a file, three rounds of results, 85,000 tokens. A model in a process of
// its own that knows nothing but what it is sent scores the last round by the rubric and knows an address of the first one. With a client
// that trims in place of pouring it does neither.
func TestASearchOutgrowsItsThreshold(t *testing.T) {
	s := newSeeker(t, "agent-loop", 0)
	scores := s.begin(rounds)
	if len(s.pours) != 1 || s.most < 80_000 || s.most > 95_000 || s.pours[0].After > s.pours[0].Before/2 {
		t.Fatalf("at most %d tokens, pours %+v", s.most, s.pours)
	}
	for n := (rounds-1)*found + 1; n <= rounds*found; n++ {
		if !strings.Contains(scores, s.search.score(n)) {
			t.Errorf("no %q in %q", s.search.score(n), scores)
		}
	}
	const ask = "What is the URL of job 2?"
	if got := s.say(ask); !strings.Contains(got, s.search.jobs[1].url) {
		t.Errorf("the model says %q, want %s", got, s.search.jobs[1].url)
	}
	lines := strings.Split(strings.TrimRight(s.lines.String(), "\n"), "\n")
	if len(lines) != 2 || !dueLine.MatchString(lines[0]) || !doneLine.MatchString(lines[1]) {
		t.Errorf("on standard error: %q", lines)
	}

	control := newSeeker(t, "default", 4*s.pours[0].After)
	if scores = control.begin(rounds); len(control.pours) > 0 || !strings.HasPrefix(scores, "I do not know the rubric") {
		t.Errorf("trimmed, with %d pours, the model scores %q", len(control.pours), scores)
	}
	if got := control.say(ask); !strings.HasPrefix(got, "I do not know") {
		t.Errorf("trimmed, the model says %q", got)
	}
}

// One round of 25,000 to 30,000 tokens: nothing happens, and all that was said is sent in its own bytes.
func TestOneRoundOfASearch(t *testing.T) {
	s := newSeeker(t, "agent-loop", 0)
	scores := s.begin(1)
	if s.most < 25_000 || s.most > 30_000 || len(s.pours) > 0 || s.lines.Len() > 0 {
		t.Errorf("%d tokens, pours %+v, on standard error %q", s.most, s.pours, &s.lines)
	}
	if !strings.Contains(scores, s.search.score(found)) {
		t.Errorf("no %q in %q", s.search.score(found), scores)
	}
	ms := s.session.Messages()
	for i, m := range ms[:len(ms)-2] { // the last one that was sent has a cache marker, and the last was not
		if !bytes.Contains(s.sent, m) {
			t.Errorf("message %d was not sent as it is: %.200s", i+1, m)
		}
	}
}
