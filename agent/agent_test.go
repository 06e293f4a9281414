package agent

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// The properties are about whole sessions on real databases: -rapid.checks asks for more than what a run of all tests can afford.
func TestMain(m *testing.M) {
	testkit.Checks(4, 8)
	goleak.VerifyTestMain(m)
}

// A world is an agent, with a real engine on a real file, before a strict stand-in for the Messages API.
type world struct {
	*testing.T
	server *sandbox.Server
	path   string
	db     *embedded.DB
	client provider.Speaker
}

func newWorld(t *testing.T, m sandbox.Model) *world {
	t.Helper()
	w := &world{T: t, server: sandbox.New(sandbox.Options{Model: m})}
	w.client = sandboxtest.Client(t, w.server)
	w.path = filepath.Join(t.TempDir(), "agent.db")
	empty, err := empty()
	if err == nil {
		err = os.WriteFile(w.path, empty, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if w.db, err = embedded.Open(t.Context(), w.path, &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	return w
}

// empty returns a database without anything in it. Making its tables takes longer than many a test, so it is done once.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "empty.db")
	db, err := embedded.Open(context.Background(), path, nil)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// agent returns an agent with options.
func (w *world) agent(o Options) *Agent {
	w.Helper()
	o.Engine = w.db.Engine()
	if o.Model == "" {
		o.Model = "claude-sonnet-4-5"
	}
	a, err := New(w.client, o)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// legal says that the API has refused nothing.
func (w *world) legal() {
	w.Helper()
	for _, e := range w.server.Log.Refused() {
		w.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
	}
}

// finished reads a run to its end.
func finished(t *testing.T, events iter.Seq2[Event, error]) (all []Event, o Outcome, err error) {
	t.Helper()
	for e, fault := range events {
		all = append(all, e)
		err = errors.Join(err, fault)
	}
	if len(all) == 0 || all[len(all)-1].Kind != EventDone {
		t.Fatalf("the run ends with %v, not with %s", all, EventDone)
	}
	return all, *all[len(all)-1].Outcome, err
}

func text(s string) sandbox.Block { return sandbox.Block{Kind: decant.KindText, Text: s} }

func use(id, name, input string) sandbox.Block {
	return sandbox.Block{Kind: decant.KindUse, ID: id, Name: name, Input: stdjson.RawMessage(input)}
}

func says(blocks ...sandbox.Block) sandbox.Answer { return sandbox.Answer{Blocks: blocks} }

// What the model asks for is made, and what came of it goes back: failures, panics and unknown names, too.
func TestARunMakesTheCallsOfTheModel(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(text("I look."), use("toolu_1", "add", `{"a":2,"b":3}`), use("toolu_2", "fail", `{}`), use("toolu_3", "panics", `{}`),
				use("toolu_4", "none", `{}`), use("toolu_5", "add", `{"a":2}`))
		}
		return says(text(strings.Join(sandboxtest.Results(p), "\n")))
	}))
	type sum struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	add := Func("add", "Adds.", func(_ context.Context, _ *Call, s sum) (Result, error) {
		return Result{Text: fmt.Sprint("it is ", s.A+s.B)}, nil
	})
	fail := Tool{Name: "fail", Run: func(context.Context, *Call) (Result, error) {
		return Result{}, errors.New("it does not work")
	}}
	panics := Tool{Name: "panics", Run: func(context.Context, *Call) (Result, error) { panic("oops") }}
	a := w.agent(Options{System: "You add.", Tools: []Tool{add, fail, panics}})
	all, o, err := finished(t, a.Run(t.Context(), "What is 2 and 3?"))
	if err != nil || o.Stop != StopAnswered || o.Spent.Turns != 2 || o.Spent.Money == 0 {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	for _, want := range []string{"it is 5", "it does not work", "oops", `no tool "none"`, "add fail panics", "missing: b"} {
		if !strings.Contains(o.Text, want) {
			t.Errorf("the model was not told %q:\n%s", want, o.Text)
		}
	}
	var kinds []EventKind
	for _, e := range all {
		if e.Kind != EventText {
			kinds = append(kinds, e.Kind)
		}
	}
	calls := slices.Repeat([]EventKind{EventCall, EventResult}, 5)
	want := append(append([]EventKind{EventUser, EventMessage}, calls...), EventMessage, EventDone)
	if !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
	w.legal()
}

// Calls that change nothing are made side by side: each waits for the other one here.
func TestReadsAreMadeSideBySide(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("toolu_1", "meet", `{}`), use("toolu_2", "meet", `{}`))
		}
		return says(text(strings.Join(sandboxtest.Results(p), ", ")))
	}))
	both := make(chan bool)
	meet := Tool{Name: "meet", ReadOnly: true, Run: func(ctx context.Context, c *Call) (Result, error) {
		c.Progress("waiting")
		select {
		case both <- true:
		case <-both:
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
		return Result{Text: "met"}, nil
	}}
	all, o, err := finished(t, w.agent(Options{Tools: []Tool{meet}}).Run(t.Context(), "Meet."))
	if err != nil || o.Text != "met, met" {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	if n := count(all, EventProgress); n != 2 {
		t.Errorf("%d reports of progress, want 2", n)
	}
	w.legal()
}

func count(all []Event, k EventKind) (n int) {
	for _, e := range all {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// A long result is cut in one place, and the model is told what is missing and how to get it.
func TestALongResultIsCut(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("toolu_1", "long", `{}`))
		}
		return says(text(sandboxtest.Results(p)[0]))
	}))
	long := Tool{Name: "long", Most: 500, Run: func(context.Context, *Call) (Result, error) {
		return Result{Text: "BEGIN" + strings.Repeat("é", 5000) + "END", Rest: "read it with offset 9"}, nil
	}}
	_, o, err := finished(t, w.agent(Options{Tools: []Tool{long}}).Run(t.Context(), "Go."))
	n := len([]rune(o.Text))
	if err != nil || n > 500 || n < 480 || !strings.HasPrefix(o.Text, "BEGIN") || !strings.HasSuffix(o.Text, "END") || !strings.Contains(o.Text, "of 5008 characters are left out here. To get the rest: read it with offset 9") {
		t.Errorf("%d characters, error %v: %s", n, err, o.Text)
	}
	w.legal()
}

// A call that somebody must allow ends the run. Each of them gets its verdict; the run goes on when all have one.
func TestCallsWaitToBeAllowed(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("toolu_1", "write", `{"n":1}`), use("toolu_2", "write", `{"n":2}`), use("toolu_3", "write", `{"n":3}`))
		}
		return says(text(strings.Join(sandboxtest.Results(p), "; ")))
	}))
	var wrote []string
	write := Tool{Name: "write", Ask: true,
		Run: func(_ context.Context, c *Call) (Result, error) {
			wrote = append(wrote, string(c.Arguments))
			return Result{Text: "wrote " + string(c.Arguments)}, nil
		},
		Preview: func(_ context.Context, c *Call) (string, error) { return "+" + string(c.Arguments), nil },
	}
	s := w.agent(Options{Tools: []Tool{write}}).Session("")
	all, o, err := finished(t, s.Run(t.Context(), "Write."))
	if err != nil || o.Stop != StopApproval || count(all, EventApproval) != 3 || len(wrote) != 0 {
		t.Fatalf("outcome %+v, error %v, wrote %q", o, err, wrote)
	}
	if ws := s.Waiting(); len(ws) != 3 || ws[0].Preview != `+{"n":1}` {
		t.Errorf("waiting: %+v", ws)
	}
	if _, _, err := finished(t, s.Run(t.Context(), "And?")); !errors.Is(err, ErrWaiting) {
		t.Errorf("a new run: %v, want ErrWaiting", err)
	}
	for call, v := range map[string]Verdict{
		"toolu_1": {Kind: Allow}, "toolu_2": {Kind: Deny, Reason: "not this one"}, "toolu_3": {Kind: Edit, Arguments: stdjson.RawMessage(`{"n":30}`)},
	} {
		if _, o, err = finished(t, s.Resume(t.Context(), call, v)); err != nil {
			t.Fatal(err)
		}
	}
	if o.Spent.Turns != 2 {
		t.Errorf("%d turns, want those before and after the verdicts", o.Spent.Turns)
	}
	if want := `wrote {"n":1}; The user does not allow this call: not this one; wrote {"n":30}`; o.Text != want {
		t.Errorf("the model was told %q, want %q", o.Text, want)
	}
	if _, _, err := finished(t, s.Resume(t.Context(), "toolu_1", Verdict{Kind: Allow})); !errors.Is(err, ErrUnknown) || len(wrote) != 2 {
		t.Errorf("a second verdict: %v, want ErrUnknown; wrote %q", err, wrote)
	}
	w.legal()
}

// Wherever whoever reads the events leaves, the history is one that the API takes, and nothing that was heard is lost.
func TestLeavingAnywhereLeavesALegalHistory(t *testing.T) {
	model := sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if n := p.Answers(); n < 3 && len(sandboxtest.Results(p)) > 0 || n == 0 {
			return says(text("Step "+fmt.Sprint(n)+" of the work."), use(fmt.Sprintf("toolu_%d_%d", n, len(p.Messages)), "read", `{}`), use(fmt.Sprintf("toolu_b%d_%d", n, len(p.Messages)), "read", `{}`))
		}
		return says(text("Done."))
	})
	read := Tool{Name: "read", Run: func(context.Context, *Call) (Result, error) { return Result{Text: "x"}, nil }}
	for leave := 1; ; leave++ {
		w := newWorld(t, model)
		s := w.agent(Options{Tools: []Tool{read}}).Session("")
		n, heard := 0, ""
		for e, err := range s.Run(t.Context(), "Work.") {
			if err != nil {
				t.Fatal(err)
			}
			heard += map[bool]string{true: e.Text}[e.Kind == EventText]
			if n++; n == leave {
				break
			}
		}
		if _, o, err := finished(t, s.Run(t.Context(), "Go on.")); err != nil || o.Stop != StopAnswered {
			t.Fatalf("left at event %d: %+v, %v", leave, o, err)
		}
		w.legal()
		history := ""
		for _, m := range s.Messages() {
			history += string(m)
		}
		for _, line := range strings.SplitAfter(heard, ".") {
			if !strings.Contains(history, line) {
				t.Errorf("left at event %d: %q was heard and is lost", leave, line)
			}
		}
		if n < leave {
			return
		}
	}
}

// A call whose time is over is given up, also one that does not return.
func TestACallIsGivenUpWhenItsTimeIsOver(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("toolu_1", "slow", `{}`))
		}
		return says(text(sandboxtest.Results(p)[0]))
	}))
	slow := Tool{Name: "slow", Timeout: time.Millisecond, Run: func(ctx context.Context, _ *Call) (Result, error) {
		<-ctx.Done()
		return Result{Text: "half of it"}, ctx.Err()
	}}
	_, o, err := finished(t, w.agent(Options{Tools: []Tool{slow}}).Run(t.Context(), "Go."))
	if err != nil || !strings.HasPrefix(o.Text, "half of it\n") {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	w.legal()
}

// What is said to a run under way reaches the model with the next results, and what comes too late is answered all the same.
func TestARunCanBeSteered(t *testing.T) {
	var s *Session
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch p.Answers() {
		case 0:
			return says(use("toolu_1", "work", `{}`))
		case 1:
			s.Steer("And blue.")
		}
		last := p.Messages[len(p.Messages)-1].Blocks
		return says(text("I heard: " + last[len(last)-1].Text))
	}))
	work := Tool{Name: "work", Run: func(context.Context, *Call) (Result, error) {
		s.Steer("Make it red.")
		return Result{Text: "ok"}, nil
	}}
	s = w.agent(Options{Tools: []Tool{work}}).Session("")
	all, o, err := finished(t, s.Run(t.Context(), "Paint."))
	var said []string
	for _, e := range all {
		if e.Kind == EventMessage && e.Text != "" {
			said = append(said, e.Text)
		}
	}
	if err != nil || o.Text != "I heard: And blue." || !slices.Contains(said, "I heard: Make it red.") {
		t.Errorf("said %q, outcome %+v, error %v", said, o, err)
	}
	if s.Steer("Anybody?") {
		t.Error("a session at rest can be steered")
	}
	w.legal()
}

// A provider that is overloaded is asked again; one that stays so is the error of the run, and the session goes on afterwards.
func TestARunOutlivesItsProvider(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("Here I am.")) }))
	s := w.agent(Options{}).Session("")
	w.server.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded})
	if _, o, err := finished(t, s.Run(t.Context(), "Hello?")); err != nil || o.Text != "Here I am." {
		t.Errorf("overloaded once: %+v, %v", o, err)
	}
	w.server.Inject(sandbox.Fault{Kind: sandbox.FaultStreamError, After: 3})
	if _, o, err := finished(t, s.Run(t.Context(), "Hello?")); err == nil || o.Stop != StopFailed {
		t.Errorf("an error in the stream: %+v, %v", o, err)
	}
	if _, o, err := finished(t, s.Run(t.Context(), "Hello?")); err != nil || o.Text != "Here I am." {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
	for _, e := range w.server.Log.Refused() {
		t.Errorf("refused: %d %s", e.Status, e.Error)
	}
}

// The conversation outgrows the window of its model many times over, and no request is refused.
func TestASessionOutgrowsTheWindow(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() > 0 && len(sandboxtest.Results(p)) > 0 {
			return says(text("Read."))
		}
		return says(use(fmt.Sprintf("toolu_%d", len(p.Messages)), "read", `{}`))
	}))
	var n atomic.Int64
	read := Tool{Name: "read", Run: func(context.Context, *Call) (Result, error) {
		return Result{Text: strings.Repeat(fmt.Sprintf("line of file %d with words\n", n.Add(1)), 1400)}, nil
	}}
	s := w.agent(Options{Tools: []Tool{read}, Project: "p", Preset: narrow(t)}).Session("")
	pours, window, rounds := 0, 0, testkit.Depth(13, 20)
	for i := range rounds {
		all, o, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i)))
		if err != nil || o.Stop != StopAnswered {
			t.Fatalf("turn %d: %+v, %v", i, o, err)
		}
		pours += count(all, EventPour)
		for _, e := range all {
			window = max(window, e.Window)
			if e.Size > e.Window {
				t.Fatalf("turn %d: %d tokens in a window of %d", i, e.Size, e.Window)
			}
		}
	}
	if pours == 0 || window == 0 {
		t.Errorf("there was no pour, or nothing is known of the window (%d)", window)
	}
	if got := len(s.Messages()); got != 4*rounds {
		t.Errorf("%d messages are kept, want all %d", got, 4*rounds)
	}
	f, err := s.Fork("")
	if err != nil {
		t.Fatal(err)
	}
	// The fork may be poured once more, where that pays. All that was said is twice the window: what it begins with is not that.
	for e := range f.Run(t.Context(), "What was it about?") {
		if e.Kind == EventPour && e.Pour.Before > window || e.Size > e.Window {
			t.Errorf("a fork does not begin with what was poured: %+v %+v", e, e.Pour)
		}
	}
	w.legal()
}

// A fork begins with what was said, and goes its own way.
func TestAForkGoesItsOwnWay(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text(fmt.Sprint(len(p.Messages)))) }))
	s := w.agent(Options{}).Session("first")
	if _, _, err := finished(t, s.Run(t.Context(), "One.")); err != nil {
		t.Fatal(err)
	}
	f, err := s.Fork("second")
	if err != nil || f.ID() != "second" {
		t.Fatal(f, err)
	}
	_, here, err1 := finished(t, s.Run(t.Context(), "Two."))
	_, there, err2 := finished(t, f.Run(t.Context(), "Other two."))
	if here.Text != "3" || there.Text != "3" || err1 != nil || err2 != nil {
		t.Errorf("here %+v %v, there %+v %v", here, err1, there, err2)
	}
	w.legal()
}

// What is asked for as a type comes as one, if the second answer fits.
func TestAnAnswerOfAType(t *testing.T) {
	type verdict struct {
		Cause      string  `json:"cause"`
		Confidence float64 `json:"confidence"`
	}
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(text(`It is {"cause": "a nil map"}, I think.`))
		}
		return says(text("```json\n{\"cause\": \"a nil map\", \"confidence\": 0.9}\n```"))
	}))
	got, o, err := RunAs[verdict](t.Context(), w.agent(Options{}).Session(""), "Why?", nil)
	if err != nil || got != (verdict{"a nil map", 0.9}) || o.Stop != StopAnswered {
		t.Errorf("got %+v, %+v, %v", got, o, err)
	}
	never := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("no")) }))
	if _, _, err := RunAs[verdict](t.Context(), never.agent(Options{}).Session(""), "Why?", nil); !errors.Is(err, ErrUntyped) {
		t.Errorf("error %v, want ErrUntyped", err)
	}
	w.legal()
}

// Whoever was interrupted while a type was asked for goes on in another process: with the run, with an answer that does not fit, and without
// asking again where the answer is there.
func TestAnAnswerOfATypeGoesOn(t *testing.T) {
	type verdict struct {
		Cause string `json:"cause"`
	}
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(text("a nil map"))
		}
		return says(text(`{"cause": "a nil map"}`))
	}))
	dead := errors.New("gone")
	for _, at := range []int{1, 2} { // before the first answer, and before the second one
		n := 0
		dying := w.agent(Options{Journals: w.db.Store(), Hooks: Hooks{BeforeModel: func(context.Context, []byte) error {
			if n++; n == at {
				return dead
			}
			return nil
		}}})
		id := fmt.Sprint("s", at)
		if _, _, err := RunAs[verdict](t.Context(), dying.Session(id), "Why?", nil); !errors.Is(err, dead) {
			t.Fatalf("%d: %v", at, err)
		}
		a := w.agent(Options{Journals: w.db.Store()})
		if got, o, err := ContinueAs[verdict](t.Context(), opened(t, a, id), nil); err != nil || got.Cause != "a nil map" {
			t.Errorf("%d: %+v, %+v, %v", at, got, o, err)
		}
		requests := len(w.server.Log.Entries())
		if got, o, err := ContinueAs[verdict](t.Context(), opened(t, a, id), nil); err != nil || got.Cause != "a nil map" || o.Spent.Turns == 0 {
			t.Errorf("%d: once more: %+v, %+v, %v", at, got, o, err)
		}
		if more := len(w.server.Log.Entries()) - requests; more != 0 {
			t.Errorf("%d: %d requests for an answer that is there", at, more)
		}
	}
	w.legal()
}

// An option that is wrong is named.
func TestOptionsAreChecked(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("x")) }))
	run := func(context.Context, *Call) (Result, error) { return Result{}, nil }
	for want, o := range map[string]Options{
		"Options.Model":   {Engine: w.db.Engine()},
		"Options.Engine":  {Model: "m"},
		"the name of a":   {Engine: w.db.Engine(), Model: "m", Tools: []Tool{{Name: "a b", Run: run}}},
		"has no Run":      {Engine: w.db.Engine(), Model: "m", Tools: []Tool{{Name: "a"}}},
		"two tools":       {Engine: w.db.Engine(), Model: "m", Tools: []Tool{{Name: "a", Run: run}, {Name: "a", Run: run}}},
		"schema of tool":  {Engine: w.db.Engine(), Model: "m", Tools: []Tool{{Name: "a", Run: run, Schema: stdjson.RawMessage(`[1]`)}}},
		"Options.Turns":   {Engine: w.db.Engine(), Model: "m", Turns: -1},
		"MostResult must": {Engine: w.db.Engine(), Model: "m", MostResult: 10},
	} {
		if _, err := New(w.client, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// An agent asks a local model over Chat Completions, and outgrows its window all the same.
func TestAnAgentOfALocalModel(t *testing.T) {
	w := newWorld(t, nil)
	w.server = sandbox.New(sandbox.Options{Local: []string{"qwen"}, Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if len(sandboxtest.Results(p)) > 0 {
			return says(text("Read."))
		}
		return says(text("I read."), use("", "read", `{}`))
	})})
	rt, stop := w.server.Pipe()
	defer stop()
	c, err := openai.New(openai.Options{Base: "http://sandbox/v1", Transport: rt})
	if err != nil {
		t.Fatal(err)
	}
	w.client = c
	read := Tool{Name: "read", Run: func(context.Context, *Call) (Result, error) {
		return Result{Text: strings.Repeat("a line of the file with words\n", 1300)}, nil
	}}
	s := w.agent(Options{Model: "qwen", Tools: []Tool{read}}).Session("")
	pours, after := 0, 0
	for i := 0; i < 25 && after < testkit.Depth(2, 25); i++ {
		all, o, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i)))
		if err != nil || o.Stop != StopAnswered || o.Text != "Read." || o.Spent.Turns != 2 {
			t.Fatalf("turn %d: %+v, %v", i, o, err)
		}
		pours += count(all, EventPour)
		if pours > 0 {
			after++
		}
	}
	if pours == 0 {
		t.Error("there was no pour")
	}
	w.legal()
}

// Where a hook ends a run in the middle of a round, no call stays without a result.
func TestAHookEndsARun(t *testing.T) {
	stop := errors.New("not today")
	for name, hooks := range map[string]func(end func() error) Hooks{
		"BeforeModel": func(end func() error) Hooks {
			return Hooks{BeforeModel: func(context.Context, []byte) error { return end() }}
		},
		"AfterModel": func(end func() error) Hooks {
			return Hooks{AfterModel: func(context.Context, *provider.Answer) error { return end() }}
		},
		"BeforeTool": func(end func() error) Hooks {
			return Hooks{BeforeTool: func(context.Context, *Call) error { return end() }}
		},
		"AfterTool": func(end func() error) Hooks {
			return Hooks{AfterTool: func(context.Context, *Call, *Result) error { return end() }}
		},
	} {
		w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			if p.Answers() == 0 {
				return says(use("", "read", `{}`), use("", "read", `{}`))
			}
			return says(text("Done."))
		}))
		err := stop
		read := Tool{Name: "read", Run: func(context.Context, *Call) (Result, error) { return Result{Text: "x"}, nil }}
		s := w.agent(Options{Tools: []Tool{read}, Hooks: hooks(func() error { return err })}).Session("")
		if _, o, got := finished(t, s.Run(t.Context(), "Work.")); !errors.Is(got, stop) || o.Stop != StopFailed {
			t.Errorf("%s: outcome %+v, error %v", name, o, got)
		}
		err = nil
		if _, o, got := finished(t, s.Run(t.Context(), "Go on.")); got != nil || o.Text != "Done." {
			t.Errorf("%s: afterwards %+v, error %v", name, o, got)
		}
		w.legal()
	}
}

// A verdict that says nothing, or nothing that can be understood, allows nothing.
func TestAnUnclearVerdictAsks(t *testing.T) {
	for _, v := range []Verdict{{}, {Kind: "maybe"}, {Kind: Edit}, {Kind: Edit, Arguments: stdjson.RawMessage(`{`)}} {
		w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(use("", "write", `{}`)) }))
		write := Tool{Name: "write", Run: func(context.Context, *Call) (Result, error) {
			t.Errorf("%+v: the call is made", v)
			return Result{}, nil
		}}
		permit := func(context.Context, *Tool, *Call) Verdict { return v }
		s := w.agent(Options{Tools: []Tool{write}, Permit: permit}).Session("")
		if _, o, err := finished(t, s.Run(t.Context(), "Write.")); err != nil || o.Stop != StopApproval || len(s.Waiting()) != 1 {
			t.Errorf("%+v: outcome %+v, error %v", v, o, err)
		}
	}
}

// Where nobody can be asked, such a call is denied, with a reason for the model, and one that is decided stays so.
func TestNobodyCanBeAsked(t *testing.T) {
	for _, c := range []struct {
		ask  bool
		v    *Verdict // nil: there is no Permit
		want VerdictKind
	}{
		{false, nil, Allow}, {true, nil, Deny}, {false, &Verdict{}, Deny}, {true, &Verdict{Kind: Allow}, Allow},
		{false, &Verdict{Kind: Ask}, Deny}, {false, &Verdict{Kind: Edit, Arguments: stdjson.RawMessage(`{`)}, Deny},
		{false, &Verdict{Kind: Edit, Arguments: stdjson.RawMessage(`{}`)}, Edit},
	} {
		var permit func(context.Context, *Tool, *Call) Verdict
		if c.v != nil {
			permit = func(context.Context, *Tool, *Call) Verdict { return *c.v }
		}
		told := 0
		p := Unattended(permit, func(*Call) string { told++; return "nobody is here" })
		got := p(t.Context(), &Tool{Name: "write", Ask: c.ask}, &Call{Tool: "write"})
		if denied := got.Reason == "nobody is here"; got.Kind != c.want || denied != (c.want == Deny) || told > 0 != denied {
			t.Errorf("ask %v, %+v: %+v", c.ask, c.v, got)
		}
	}
}

// A speaker answers by itself.
type speaker func() *provider.Answer

func (f speaker) Speak(context.Context, *provider.Turn, func(provider.Delta)) (*provider.Answer, error) {
	return f(), nil
}

// A call whose arguments have a name twice is a call all the same: unseen it would stay without a result.
func TestACallWithANameTwiceIsSeen(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("x")) }))
	n := 0
	w.client = speaker(func() *provider.Answer {
		if n++; n > 1 {
			return &provider.Answer{Stop: "end_turn", Text: "Done.", Content: []byte(`[{"type":"text","text":"Done."}]`)}
		}
		return &provider.Answer{Stop: "tool_use", Content: []byte(`[{"type":"tool_use","id":"toolu_1","name":"read","input":{"a":1,"a":2}}]`)}
	})
	read := Tool{Name: "read", Run: func(context.Context, *Call) (Result, error) { return Result{Text: "x"}, nil }}
	all, o, err := finished(t, w.agent(Options{Tools: []Tool{read}}).Run(t.Context(), "Work."))
	if err != nil || o.Text != "Done." || count(all, EventResult) != 1 {
		t.Errorf("events %+v, error %v", all, err)
	}
}

// What the user shows beside his words reaches the model, and what no model can look at is refused before anything is said.
func TestAttachments(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text("seen")) }))
	s := w.agent(Options{}).Session("")
	picture := Attachment{Name: "dot.gif", MediaType: "image/gif", Data: []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")}
	note := Attachment{Name: "note.txt", MediaType: "text/plain; charset=utf-8", Data: []byte("the meeting is at \"nine\"")}
	if _, o, err := finished(t, s.Run(t.Context(), "look", picture, note)); err != nil || o.Text != "seen" {
		t.Fatalf("%+v, %v", o, err)
	}
	if sent := string(w.server.Log.Last().Body); !strings.Contains(sent, `the meeting is at \"nine\"`) || !strings.Contains(sent, "R0lGODlh") {
		t.Errorf("sent is %s", sent)
	}
	if got := s.Turns(); len(got) != 1 || got[0].Text != "look" {
		t.Errorf("turns: %+v", got)
	}
	for _, a := range []Attachment{
		{Name: "a.zip", MediaType: "application/zip", Data: []byte("PK")}, {Name: "b.txt", MediaType: "text/plain", Data: []byte("\xff")}, {Name: "c.png", MediaType: "image/png"},
	} {
		if _, _, err := finished(t, s.Run(t.Context(), "look", a)); err == nil || !strings.Contains(err.Error(), a.Name) {
			t.Errorf("%s: %v, want an error that names it", a.Name, err)
		}
	}
	if got := len(s.Messages()); got != 2 {
		t.Errorf("%d messages, want 2", got)
	}
	w.legal()
}
