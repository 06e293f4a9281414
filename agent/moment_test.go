package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A pastWorld is an agent with a small window whose requests are remembered: for each answer, by where it stands, what came to the API.
type pastWorld struct {
	*rapid.T
	t        *testing.T
	path     string
	server   *sandbox.Server
	client   provider.Speaker
	db       *embedded.DB
	agent    *Agent
	sessions []*Session
	got      []map[int]string // of each session: hash of what was received for the answer at an index
	system   int
	pours    int
}

// hashOf returns the hash of instructions and messages as they came to the API, counted here and not by what is tested.
func hashOf(t *testing.T, body []byte) string {
	t.Helper()
	var request struct {
		System []struct{ Text string }
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	system := ""
	for _, b := range request.System {
		system += b.Text
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s", len(system), system)
	for _, m := range received(t, body) {
		fmt.Fprintf(h, "%d\n%s", len(m), m)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// open opens the database, as another process would. The instructions are others each time.
func (w *pastWorld) open() {
	var err error
	if w.db, err = embedded.Open(w.t.Context(), w.path, &embedded.Options{Engine: engine.Options{Window: 24_000, Timeouts: sandboxtest.Patient}}); err != nil {
		w.Fatal(err)
	}
	w.system++
	w.agent, err = New(w.client, Options{
		Model: "claude-sonnet-4-5", System: fmt.Sprintf("You work. Day %d.", w.system), Engine: w.db.Engine(), Journals: w.db.Store(), Tools: []Tool{readsMuch(9_000)},
		Remind: func([]json.RawMessage) string { return "Remember the rules." }, MaxTokens: 2000, Turns: 3,
	})
	if err != nil {
		w.Fatal(err)
	}
}

// restart ends the process and begins another one.
func (w *pastWorld) restart() {
	if err := w.db.Close(); err != nil {
		w.Fatal(err)
	}
	w.open()
	for i, s := range w.sessions {
		n, err := w.agent.Open(w.t.Context(), s.ID())
		switch {
		case err == nil:
			w.sessions[i] = n
		case len(s.Messages()) == 0:
			w.sessions[i] = w.agent.Session(s.ID())
		default:
			w.Fatal(err)
		}
	}
}

// say says something in a session, and notes what came to the API for each answer.
func (w *pastWorld) say(k int, text string) {
	s, before := w.sessions[k], len(w.server.Log.Entries())
	from := len(s.Messages())
	all, _, err := finished(w.t, s.Run(w.t.Context(), text))
	if err != nil {
		w.Fatal(err)
	}
	w.pours += count(all, EventPour)
	var bodies [][]byte
	for _, e := range w.server.Log.Entries()[before:] {
		if e.Status == 200 {
			bodies = append(bodies, e.Body)
		}
	}
	for _, i := range s.Answers() {
		if i < from {
			continue
		}
		w.got[k][i], bodies = hashOf(w.t, bodies[0]), bodies[1:]
	}
	if len(bodies) > 0 {
		w.Fatalf("%d answers are not in the history", len(bodies))
	}
}

// change pours, or takes a pour back.
func (w *pastWorld) change(k int, undo bool) {
	e, key := w.db.Engine(), w.sessions[k].Conversation()
	if key.ID == "" {
		return
	}
	if err := e.Flush(w.t.Context()); err != nil {
		w.Fatal(err)
	}
	plan := func() (*engine.Change, error) { return e.Pour(w.t.Context(), key, "") }
	if undo {
		plan = func() (*engine.Change, error) { return e.Undo(w.t.Context(), key) }
	}
	c, err := plan()
	if errors.Is(err, decant.ErrNothing) {
		return
	}
	if err == nil {
		err = e.Apply(w.t.Context(), c)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.pours++
}

// rewind takes a session back to before one of its turns.
func (w *pastWorld) rewind(k int) {
	turns := w.sessions[k].Turns()
	if len(turns) == 0 {
		return
	}
	first := turns[rapid.IntRange(0, len(turns)-1).Draw(w.T, "turn")].First
	if err := w.sessions[k].Rewind(first); err != nil {
		w.Fatal(err)
	}
	for i := range w.got[k] {
		if i >= first {
			delete(w.got[k], i)
		}
	}
}

// fork begins another session with all that was said in one.
func (w *pastWorld) fork(k int) {
	f, err := w.sessions[k].Fork("")
	if err != nil {
		w.Fatal(err)
	}
	w.sessions, w.got = append(w.sessions, f), append(w.got, map[int]string{})
	for i, h := range w.got[k] {
		w.got[len(w.got)-1][i] = h
	}
}

// check holds all moments against what came to the API.
func (w *pastWorld) check() (n int) {
	for k, s := range w.sessions {
		for i, want := range w.got[k] {
			m, err := s.Moment(w.t.Context(), w.db.Store(), i)
			if err != nil {
				w.Fatalf("session %d, answer %d of %d messages: %v", k, i, len(s.Messages()), err)
			}
			if m.Hash != want || len(m.Transcript.Messages) != i {
				w.Fatalf("session %d, answer %d: %d messages, hash %s; %s came to the API", k, i, len(m.Transcript.Messages), m.Hash, want)
			}
			n++
		}
	}
	return n
}

// What is said to have been sent is what came to the API, for every answer, whatever has happened since: pours, undone pours, other
// instructions, another process, forks, and what was taken back and said otherwise.
func TestAMomentIsWhatCameToTheAPI(t *testing.T) {
	runs, pours, moments := 0, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		w := &pastWorld{T: r, t: t, path: filepath.Join(t.TempDir(), "past.db"), got: []map[int]string{{}}}
		w.server = sandbox.New(sandbox.Options{Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			if said := heardLast(p); strings.HasPrefix(said, "Read") && len(sandboxtest.Results(p)) == 0 {
				return says(text("I look."), use(fmt.Sprintf("toolu_%d", len(p.Messages)), "read", `{}`))
			}
			return says(text(fmt.Sprintf("I read %d messages.", len(p.Messages))))
		})})
		rt, stop := w.server.Pipe()
		defer stop()
		var err error
		if w.client, err = anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")}); err != nil {
			r.Fatal(err)
		}
		w.open()
		defer func() { w.db.Close() }()
		w.sessions = []*Session{w.agent.Session("")}
		for i := range rapid.IntRange(10, 30).Draw(r, "steps") {
			k := rapid.IntRange(0, len(w.sessions)-1).Draw(r, "session")
			switch rapid.SampledFrom([]string{"say", "say", "read", "read", "read", "read", "pour", "undo", "rewind", "fork", "restart"}).Draw(r, "what") {
			case "say":
				w.say(k, fmt.Sprintf("Thing %d.", i))
			case "read":
				w.say(k, fmt.Sprintf("Read file %d.", i))
			case "pour":
				w.change(k, false)
			case "undo":
				w.change(k, true)
			case "rewind":
				w.rewind(k)
			case "fork":
				if len(w.sessions) < 4 {
					w.fork(k)
				}
			case "restart":
				w.restart()
			}
		}
		moments += w.check()
		pours += w.pours
		runs++
	})
	if runs >= 8 && (pours < 5 || moments < 50) { // at quick depth there are fewer
		t.Errorf("%d pours and %d moments: the test is about less than it says", pours, moments)
	}
}

// What is no answer of the model, or none of this session's, has no moment.
func TestWhatHasNoMoment(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("Yes.")) }))
	a := w.agent(Options{})
	s, err := a.Load("", []json.RawMessage{json.RawMessage(`{"role":"user","content":"Hello."}`), json.RawMessage(`{"role":"assistant","content":"Hello!"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := finished(t, s.Run(t.Context(), "Really?")); err != nil {
		t.Fatal(err)
	}
	if got := s.Answers(); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("the answers are %v", got)
	}
	for message, want := range map[int]error{-1: ErrNoAnswer, 0: ErrNoAnswer, 1: ErrNotNoted, 2: ErrNoAnswer, 3: nil, 4: ErrNoAnswer} {
		if _, err := s.Moment(t.Context(), w.db.Store(), message); !errors.Is(err, want) {
			t.Errorf("message %d: %v, want %v", message, err, want)
		}
	}
}
