package agent

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// elsewhere returns what another process would get: the same database opened once more, with an agent on it.
func (w *world) elsewhere(o Options) *Agent {
	w.Helper()
	db, err := embedded.Open(w.Context(), w.path, &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { db.Close() })
	other := *w
	other.db = db
	o.Journals = db.Store()
	return other.agent(o)
}

// heardLast returns the texts of the last message of a prompt.
func heardLast(p *sandbox.Prompt) string {
	var texts []string
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		if b.Kind == decant.KindText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, " ")
}

// opened opens a session, or ends the test.
func opened(t *testing.T, a *Agent, id string) *Session {
	t.Helper()
	s, err := a.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same says how what was opened differs from what was left.
func same(t *testing.T, left, opened *Session) {
	t.Helper()
	type seen struct {
		Messages     []stdjson.RawMessage
		Waiting      []Call
		Turns        []Turn
		Spent        Spent
		Interrupted  bool
		Conversation store.Key
	}
	look := func(s *Session) seen {
		return seen{s.Messages(), s.Waiting(), s.Turns(), s.Spent(), s.Interrupted(), s.Conversation()}
	}
	if d := cmp.Diff(look(left), look(opened), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Progress" }, cmp.Ignore())); d != "" {
		t.Errorf("the session that was opened (-left +opened):\n%s", d)
	}
}

// A session that outgrew its window goes on in another process, with what was poured of it; of two that go on with it, one does.
func TestASessionGoesOnElsewhere(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(heardLast(p), "Read") {
			return says(use(fmt.Sprintf("toolu_%d", len(p.Messages)), "read", `{}`))
		}
		return says(text("Read."))
	}))
	n := 0
	read := Tool{Name: "read", Run: func(context.Context, *Call) (Result, error) {
		n++
		return Result{Text: strings.Repeat(fmt.Sprintf("line of file %d with words\n", n), 1400)}, nil
	}}
	o := Options{Journals: w.db.Store(), Tools: []Tool{read}}
	s := w.agent(o).Session("one")
	pours := 0
	for i := 0; pours == 0 && i < 40; i++ {
		all, _, err := finished(t, s.Run(t.Context(), fmt.Sprintf("Read file %d.", i)))
		if err != nil {
			t.Fatal(err)
		}
		pours += count(all, EventPour)
	}
	s2 := opened(t, w.elsewhere(o), "one")
	same(t, s, s2)
	all, _, err := finished(t, s2.Run(t.Context(), "go on"))
	if err != nil || pours != 1 || count(all, EventPour) != 0 {
		t.Errorf("%v; %d pours, and %d elsewhere", err, pours, count(all, EventPour))
	}
	for _, e := range all {
		if e.Kind == EventMessage && e.Size > e.Window*3/4 {
			t.Errorf("elsewhere the model is sent %d tokens, as if nothing had been poured", e.Size)
		}
	}
	if _, _, err := finished(t, s.Run(t.Context(), "me too")); !errors.Is(err, ErrTaken) {
		t.Errorf("both go on: %v, want ErrTaken", err)
	}
	if _, _, err := finished(t, s.Run(t.Context(), "once more")); !errors.Is(err, ErrTaken) {
		t.Errorf("a session that was taken goes on: %v", err)
	}
	if _, _, err := finished(t, w.agent(o).Session("one").Run(t.Context(), "a new one of the same name")); !errors.Is(err, ErrTaken) {
		t.Errorf("a session begins under the id of another: %v, want ErrTaken", err)
	}
	w.legal()
}

// A call can be allowed, denied or edited in another process, a day later; the limits of its run go on.
func TestACallIsAllowedElsewhere(t *testing.T) {
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{Kind: Allow}, "deleted a.txt"},
		{Verdict{Kind: Deny, Reason: "it is mine"}, "The user does not allow this call: it is mine"},
		{Verdict{Kind: Edit, Arguments: stdjson.RawMessage(`{"path":"b.txt"}`)}, "deleted b.txt"},
	} {
		t.Run(string(c.v.Kind), func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
				if p.Answers() == 0 {
					return says(use("toolu_1", "delete", `{"path":"a.txt"}`))
				}
				return says(text("I am told: " + strings.Join(sandboxtest.Results(p), "|")))
			}))
			type args struct {
				Path string `json:"path"`
			}
			remove := Func("delete", "Deletes a file.", func(_ context.Context, _ *Call, a args) (Result, error) {
				return Result{Text: "deleted " + a.Path}, nil
			})
			remove.Ask = true
			remove.Preview = func(context.Context, *Call) (string, error) { return "- a.txt", nil }
			o := Options{Journals: w.db.Store(), Tools: []Tool{remove}, Turns: 2}
			s := w.agent(o).Session("")
			if _, out, err := finished(t, s.Run(t.Context(), "delete a.txt")); err != nil || out.Stop != StopApproval {
				t.Fatalf("%+v, %v", out, err)
			}
			a := w.elsewhere(o)
			list, err := a.Sessions(t.Context(), time.Time{}, 0)
			if err != nil || len(list) != 1 || !list[0].Waiting || list[0].Title != "delete a.txt" || list[0].Turns != 1 || list[0].Spent.Turns != 1 {
				t.Errorf("sessions: %+v, %v", list, err)
			}
			s2 := opened(t, a, s.ID())
			same(t, s, s2)
			if got := s2.Waiting(); len(got) != 1 || got[0].Preview != "- a.txt" {
				t.Fatalf("what waits: %+v", got)
			}
			_, out, err := finished(t, s2.Resume(t.Context(), "toolu_1", c.v))
			if err != nil || out.Text != "I am told: "+c.want || out.Stop != StopTurns || out.Spent.Turns != 2 {
				t.Errorf("%+v, %v; want %q, at the limit of two turns", out, err, c.want)
			}
			if _, _, err := finished(t, s.Resume(t.Context(), "toolu_1", c.v)); !errors.Is(err, ErrTaken) {
				t.Errorf("the call is decided twice: %v", err)
			}
			w.legal()
		})
	}
}

// What was said to a run, and to one that ended before it could be read, is read in another process.
func TestWhatWasSaidIsReadElsewhere(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		return says(text("heard: " + heardLast(p)))
	}))
	o := Options{Journals: w.db.Store()}
	s := w.agent(o).Session("")
	for e := range s.Run(t.Context(), "begin") {
		if e.Kind == EventText {
			s.Steer("and this")
			break
		}
	}
	s2 := opened(t, w.elsewhere(o), s.ID())
	same(t, s, s2)
	if _, out, err := finished(t, s2.Run(t.Context(), "go on")); err != nil || !strings.Contains(out.Text, "and this") || !strings.Contains(out.Text, "go on") {
		t.Errorf("%+v, %v; want both texts", out, err)
	}
	w.legal()
}

// unused is a tool of a test in which none is used: the API takes no calls without tools.
var unused = Tool{Name: "unused", Run: func(context.Context, *Call) (Result, error) { return Result{}, nil }}

// A session can be taken back to before any turn, forked from there, named, and is found again in that state.
func TestASessionIsRewound(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(heardLast(p), "call") {
			return says(use(fmt.Sprintf("toolu_%d", p.Answers()), "none", `{}`))
		}
		return says(text(fmt.Sprintf("%d messages", len(p.Messages))))
	}))
	o := Options{Journals: w.db.Store(), Tools: []Tool{unused}}
	a := w.agent(o)
	s := a.Session("")
	for _, said := range []string{"one", "call two", "three"} {
		if _, _, err := finished(t, s.Run(t.Context(), said)); err != nil {
			t.Fatal(err)
		}
	}
	want := []Turn{{First: 0, Text: "one"}, {First: 2, Text: "call two"}, {First: 6, Text: "three"}}
	got := s.Turns()
	if d := cmp.Diff(got, opened(t, w.elsewhere(o), s.ID()).Turns()); d != "" {
		t.Errorf("turns (-here +elsewhere):\n%s", d)
	}
	for i, answers := range []int{1, 2, 1} {
		if got[i].Spent.Turns != answers || got[i].Spent.Usage.Output == 0 || got[i].Took <= 0 {
			t.Errorf("turn %d: %+v, want %d answers", i, got[i], answers)
		}
		got[i].Spent, got[i].Took = Spent{}, 0
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("turns (-want +got):\n%s", d)
	}
	for _, first := range []int{-1, 1, 4, 8} {
		if err := s.Rewind(first); err == nil {
			t.Errorf("the session is taken back to message %d, where no turn begins", first)
		}
	}
	if err := s.Rewind(6); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Rename("numbers"), s.SetLabels(map[string]string{"a": "1", "b": "2"}), s.SetLabels(map[string]string{"b": ""})); err != nil {
		t.Fatal(err)
	}
	f, err := s.Fork("fork")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Rewind(2); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Session{f, s} {
		same(t, s, opened(t, w.elsewhere(o), s.ID()))
		n := len(s.Messages())
		if _, out, err := finished(t, s.Run(t.Context(), "other")); err != nil || out.Text != fmt.Sprintf("%d messages", n+1) {
			t.Errorf("%+v, %v", out, err)
		}
	}
	list, err := a.Sessions(t.Context(), time.Time{}, 0)
	if err != nil || len(list) != 2 || list[0].Title != "numbers" || list[1].Title != "numbers" ||
		list[1].Root != s.ID() || !cmp.Equal(list[0].Labels, map[string]string{"a": "1"}) || f.Label("a") != "1" {
		t.Errorf("sessions: %+v, %v", list, err)
	}
	w.legal()
}

// A history from elsewhere that the API would refuse can be gone on with: what is broken is mended in what is sent.
func TestABrokenHistoryIsMended(t *testing.T) {
	for name, history := range map[string][]string{
		"a call without a result": {`{"role":"user","content":"hi"}`, `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}`,
			`{"role":"user","content":[{"type":"text","text":"and?"}]}`, `{"role":"assistant","content":[{"type":"text","text":"Hm."}]}`},
		"it ends with a call": {`{"role":"user","content":"hi"}`, `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}`},
		"a result without a call": {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"lost"},{"type":"text","text":"go"}]}`,
			`{"role":"assistant","content":"Yes."}`},
		"it ends with the user": {`{"id":"msg_1","content":"hi","role":"user"}`},
		"it is empty":           {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text("fine")) }))
			var messages []stdjson.RawMessage
			for _, m := range history {
				messages = append(messages, stdjson.RawMessage(m))
			}
			o := Options{Journals: w.db.Store(), Tools: []Tool{unused}}
			s, err := w.agent(o).Load("", messages)
			if err != nil {
				t.Fatal(err)
			}
			if _, out, err := finished(t, s.Run(t.Context(), "go on")); err != nil || out.Text != "fine" {
				t.Errorf("%+v, %v", out, err)
			}
			same(t, s, opened(t, w.elsewhere(o), s.ID()))
			w.legal()
		})
	}
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text("fine")) }))
	for _, m := range []string{`{`, `{"role":"system","content":"x"}`, `{"role":"user"}`, `[]`} {
		if _, err := w.agent(Options{}).Load("", []stdjson.RawMessage{stdjson.RawMessage(m)}); err == nil || !strings.Contains(err.Error(), "message 1") {
			t.Errorf("load %s: %v, want an error that names message 1", m, err)
		}
	}
}

// full is a database without room for a journal.
type full struct {
	journals
	after int
}

type journals = store.Journals

func (f *full) AddSteps(ctx context.Context, a *store.Addition) error {
	if f.after--; f.after < 0 {
		return store.ErrFull
	}
	return f.journals.AddSteps(ctx, a)
}

// Where a step cannot be written down nothing follows from it, and what was written can be gone on with.
func TestNothingIsDoneThatCannotBeWrittenDown(t *testing.T) {
	for after := range 5 {
		made := 0
		w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			if p.Answers() == 0 {
				return says(use("toolu_1", "act", `{}`))
			}
			return says(text("done"))
		}))
		act := Func("act", "Acts.", func(context.Context, *Call, struct{}) (Result, error) {
			made++
			return Result{Text: "acted"}, nil
		})
		o := Options{Journals: &full{w.db.Store(), after}, Tools: []Tool{act}}
		s := w.agent(o).Session("s")
		_, out, err := finished(t, s.Run(t.Context(), "act"))
		if !errors.Is(err, store.ErrFull) || out.Stop != StopFailed {
			t.Fatalf("after %d steps: %+v, %v; want ErrFull", after, out, err)
		}
		if written := after >= 3; (made == 1) != written {
			t.Errorf("after %d steps the tool was called %d times", after, made)
		}
		o.Journals = w.db.Store()
		again, err := w.agent(o).Open(t.Context(), "s")
		if after == 0 {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("what was never begun: %v, want ErrNotFound", err)
			}
			continue
		}
		if err != nil || !again.Interrupted() {
			t.Fatalf("after %d steps: %v, or not interrupted", after, err)
		}
		if _, out, err := finished(t, again.Continue(t.Context())); err != nil || out.Text != "done" {
			t.Errorf("after %d steps: %+v, %v", after, out, err)
		}
		if made != 1 {
			t.Errorf("after %d steps and going on the tool was called %d times", after, made)
		}
		if _, _, err := finished(t, again.Continue(t.Context())); !errors.Is(err, ErrEnded) {
			t.Errorf("going on at the end: %v, want ErrEnded", err)
		}
		w.legal()
	}
}

// A run that has failed can be gone on with without anything being said.
func TestAFailedRunGoesOn(t *testing.T) {
	fail := true
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text("fine")) }))
	a := w.agent(Options{Hooks: Hooks{BeforeModel: func(context.Context, []byte) error {
		if fail {
			return errors.New("no")
		}
		return nil
	}}})
	s := a.Session("")
	if _, _, err := finished(t, s.Run(t.Context(), "hi")); err == nil {
		t.Fatal("the hook does not end the run")
	}
	fail = false
	if _, out, err := finished(t, s.Continue(t.Context())); err != nil || out.Text != "fine" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := a.Open(t.Context(), s.ID()); err == nil {
		t.Error("a session is opened that was not kept")
	}
}

// What was said with a key is not said again with it, wherever.
func TestWhatWasSaidIsNotSaidTwice(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text(fmt.Sprint(len(p.Messages)))) }))
	o := Options{Journals: w.db.Store()}
	s := w.agent(o).Session("")
	for i := range 150 {
		if _, _, err := finished(t, s.RunOnce(t.Context(), fmt.Sprint("key ", i), "hi")); err != nil {
			t.Fatal(err)
		}
	}
	s = opened(t, w.elsewhere(o), s.ID())
	if _, _, err := finished(t, s.RunOnce(t.Context(), "key 100", "hi")); !errors.Is(err, ErrSaid) {
		t.Errorf("said twice: %v, want ErrSaid", err)
	}
	if _, out, err := finished(t, s.RunOnce(t.Context(), "key 150", "hi")); err != nil || out.Text != "301" {
		t.Errorf("%+v, %v", out, err)
	}
}

// What the agent itself says to its model is no turn of the user, and nothing that he said.
func TestWhatTheAgentSaysIsNoTurn(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return sandbox.Answer{Blocks: []sandbox.Block{text("The beginning,")}, Stop: "max_tokens"}
		}
		return says(text("and the end."))
	}))
	s := w.agent(Options{Turns: 2}).Session("")
	if _, o, err := finished(t, s.Run(t.Context(), "tell")); err != nil || !o.Forced {
		t.Fatalf("%+v, %v", o, err)
	}
	if d := cmp.Diff([]Turn{{First: 0, Text: "tell"}}, s.Turns(), cmpopts.IgnoreFields(Turn{}, "Spent", "Took")); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	if err := s.Rewind(2); err == nil {
		t.Error("a session is taken back to where the agent spoke")
	}
	if !s.Own(defaultWrapUp) || s.Own("tell") {
		t.Error("the agent does not know its own words")
	}
	w.legal()
}

// Of two processes that find a run whose own has died, one asks the model, and what is known of the session names it.
func TestOneTakesOverFromTheDead(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("fine")) }))
	dead := w.agent(Options{Journals: &full{w.db.Store(), 1}, Owner: "dead"}).Session("s")
	if _, _, err := finished(t, dead.Run(t.Context(), "hi")); !errors.Is(err, store.ErrFull) {
		t.Fatalf("%v, want ErrFull", err)
	}
	asked := len(w.server.Log.Entries())
	first := opened(t, w.agent(Options{Journals: w.db.Store(), Owner: "first"}), "s")
	second := opened(t, w.elsewhere(Options{Owner: "second"}), "s")
	for e := range first.Continue(t.Context()) {
		if e.Kind != EventText {
			continue
		}
		if sum := known(t, first.agent); sum.Owner != "first" || !sum.Running {
			t.Errorf("while it goes on: %+v", sum)
		}
		if _, _, err := finished(t, second.Continue(t.Context())); !errors.Is(err, ErrTaken) {
			t.Errorf("the other one: %v, want ErrTaken", err)
		}
	}
	if n := len(w.server.Log.Entries()) - asked; n != 1 {
		t.Errorf("the model is asked %d times", n)
	}
	w.legal()
}

// known returns what the only session of an agent is known by.
func known(t *testing.T, a *Agent) Summary {
	t.Helper()
	list, err := a.Sessions(t.Context(), time.Time{}, 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("sessions: %+v, %v", list, err)
	}
	return list[0]
}

// A session has an owner while a run is under way: not while calls wait, nor when somebody names what another process has left.
func TestWhoOwnsASession(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("toolu_1", "look", `{}`), use("toolu_2", "look", `{}`))
		}
		return says(text("done"))
	}))
	var at Summary // while a call is made
	o := Options{Journals: w.db.Store(), Owner: "one"}
	look := Func("look", "Looks.", func(context.Context, *Call, struct{}) (Result, error) {
		at = known(t, w.agent(o))
		return Result{Text: "seen"}, nil
	})
	look.Ask = true
	o.Tools = []Tool{look}
	s := w.agent(o).Session("s")
	check := func(when string, sum Summary, owner string, running, waiting bool) {
		t.Helper()
		if sum.Owner != owner || sum.Running != running || sum.Waiting != waiting {
			t.Errorf("%s: %+v", when, sum)
		}
	}
	_, _, err := finished(t, s.Run(t.Context(), "look"))
	check("calls wait", known(t, s.agent), "", true, true)
	_, _, fault := finished(t, s.Resume(t.Context(), "toolu_1", Verdict{Kind: Allow}))
	check("one waits", known(t, s.agent), "", true, true)
	_, _, last := finished(t, s.Resume(t.Context(), "toolu_2", Verdict{Kind: Allow}))
	check("none waits", at, "one", true, false)
	check("at the end", known(t, s.agent), "", false, false)
	if err = errors.Join(err, fault, last); err != nil {
		t.Error(err)
	}
	dead := opened(t, w.agent(Options{Journals: &full{w.db.Store(), 1}, Tools: o.Tools, Owner: "dead"}), "s")
	if _, _, err := finished(t, dead.Run(t.Context(), "hi")); !errors.Is(err, store.ErrFull) {
		t.Fatalf("%v, want ErrFull", err)
	}
	check("its process has died", known(t, s.agent), "dead", true, false)
	s = opened(t, s.agent, "s")
	if err := s.Rename("left"); err != nil {
		t.Error(err)
	}
	check("somebody names it", known(t, s.agent), "", true, false)
}

// A run that goes on after it has failed is under way again: who opens its session after a kill knows that.
func TestWhatGoesOnIsUnderWay(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return says(text("fine")) }))
	refused := errors.New("not now")
	hook := func(context.Context, []byte) error { return refused }
	s := w.agent(Options{Journals: w.db.Store(), Hooks: Hooks{BeforeModel: hook}}).Session("s")
	if _, _, err := finished(t, s.Run(t.Context(), "hi")); !errors.Is(err, refused) || s.Interrupted() {
		t.Fatalf("%v, or what has failed is still under way", err)
	}
	dying := w.agent(Options{Journals: &full{w.db.Store(), 1}}) // nothing is written behind the step that it goes on
	s = opened(t, dying, "s")
	if _, _, err := finished(t, s.Continue(t.Context())); !errors.Is(err, store.ErrFull) {
		t.Fatalf("%v, want ErrFull", err)
	}
	s = opened(t, w.agent(Options{Journals: w.db.Store()}), "s")
	if !s.Interrupted() {
		t.Error("a run that went on when its process ended is taken for one that has ended")
	}
	if _, out, err := finished(t, s.Continue(t.Context())); err != nil || out.Text != "fine" {
		t.Errorf("%+v, %v", out, err)
	}
}

// A patient writer of records waits until somebody was told that a pour takes a while.
type patient struct{ told chan struct{} }

func (p patient) Summarize(ctx context.Context, _ provider.SummaryInput) (provider.Summary, error) {
	select {
	case <-p.told:
	case <-ctx.Done():
	}
	return provider.Summary{}, errors.New("nothing to add")
}

// Whoever watches is told while a pour takes its time, not behind it.
func TestAPourThatTakesAWhileIsTold(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(heardLast(p), "Read") {
			return says(use(fmt.Sprintf("toolu_%d", len(p.Messages)), "read", `{}`))
		}
		return says(text("Read."))
	}))
	writer := patient{make(chan struct{})}
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "slow.db"), &embedded.Options{Engine: engine.Options{Models: engine.Models{Summarizer: writer}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	w.db = db
	p, err := preset.Parse("now", []byte("base: orchestrator\nsummary: {ahead: 'off'}\n")) // records are written while the request waits
	if err != nil {
		t.Fatal(err)
	}
	s := w.agent(Options{Tools: []Tool{readsMuch(40_000)}, Preset: p}).Session("")
	for i := range 40 {
		told := false
		for e, err := range s.Run(t.Context(), fmt.Sprintf("Read file %d.", i)) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Kind == EventStatus && !told:
				told = true
				close(writer.told)
			case e.Kind == EventPour && !told:
				t.Fatal("nobody was told of the pour before it was made")
			case e.Kind == EventPour:
				return
			}
		}
	}
	t.Error("there was no pour")
}

// Of calls that nobody has begun to make when their run is cancelled the results are written down at once, however many there are.
func TestManyCallsThatAreNotMade(t *testing.T) {
	const calls = 200
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer {
		var all []sandbox.Block
		for i := range calls {
			all = append(all, use(fmt.Sprintf("toolu_%d", i), "look", `{}`))
		}
		return says(all...)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	look := Func("look", "Looks.", func(context.Context, *Call, struct{}) (Result, error) {
		cancel()
		return Result{Text: "seen"}, nil
	})
	look.ReadOnly = true
	s := w.agent(Options{Journals: w.db.Store(), Tools: []Tool{look}}).Session("s")
	if _, out, err := finished(t, s.Run(ctx, "look")); out.Stop != StopCancelled {
		t.Errorf("%+v, %v", out, err)
	}
	j, err := w.db.Store().Journal(t.Context(), store.Key{ID: "s"})
	if err != nil || j.Length > calls/4 {
		t.Errorf("%d steps, %v", j.Length, err)
	}
	w.legal()
}
