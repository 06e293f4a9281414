package whatif_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat/internal/whatif"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a session with what it needs, before a strict stand-in for the Messages API.
type world struct {
	*testing.T
	server *sandbox.Server
	db     *embedded.DB
	o      whatif.Options
	*agent.Session
}

func newWorld(t *testing.T, m sandbox.Model, o agent.Options) *world {
	t.Helper()
	w := &world{T: t, server: sandbox.New(sandbox.Options{Model: m})}
	c := sandboxtest.Client(t, w.server)
	var err error
	if w.db, err = embedded.Open(t.Context(), filepath.Join(t.TempDir(), "agent.db"), &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.db.Close(); err != nil {
			t.Error(err)
		}
		for _, e := range w.server.Log.Refused() {
			t.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
		}
	})
	o.Model, o.Engine, o.Journals = "claude-sonnet-4-5", w.db.Engine(), w.db.Store()
	w.o = whatif.Options{Client: c, Agent: o, Source: w.db.Store(), Memory: []string{"recall"}, Now: time.Now}
	a, err := agent.New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	w.Session = a.Session("")
	return w
}

// say says something and returns the answer.
func (w *world) say(text string) string {
	w.Helper()
	var o agent.Outcome
	for e, err := range w.Session.Run(w.Context(), text) {
		if err != nil {
			w.Fatal(err)
		}
		if e.Outcome != nil {
			o = *e.Outcome
		}
	}
	return o.Text
}

// ask answers a turn once more.
func (w *world) ask(turn int, c whatif.Change) (*whatif.Comparison, *agent.Session) {
	w.Helper()
	out, s, err := whatif.Run(w.Context(), w.o, w.Session, turn, c, nil)
	if err != nil {
		w.Fatal(err)
	}
	return out, s
}

// policy returns a preset that pours at so many tokens.
func policy(t *testing.T, name string, tokens int, compaction string) *preset.Preset {
	t.Helper()
	p, err := preset.Load("agent-loop")
	if err != nil {
		t.Fatal(err)
	}
	out := *p
	out.Name, out.Trigger.Tokens, out.Keep.Messages = name, tokens, 2
	if compaction != "" {
		out.Compaction = preset.CompactionTrim
	}
	return &out
}

// filler is text that says nothing.
func filler(n int) string {
	return strings.Repeat("We are a team that values clear words and short meetings. ", n)
}

// Under a preset that trims, the model no longer knows what was said in the middle of a long message; under one that keeps everything it does, and
// the comparison names what the first was not sent. Under the same preset, the control arm, nothing is better.
func TestWhatAnotherPresetWouldHaveKnown(t *testing.T) {
	port := fmt.Sprint(20_000 + rand.IntN(10_000))
	read := agent.Tool{Name: "read", ReadOnly: true, Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
		if strings.Contains(string(c.Arguments), "rules.txt") {
			return agent.Result{Text: filler(60) + "\nThe port is " + port + ".\n" + filler(60)}, nil
		}
		return agent.Result{Text: filler(200)}, nil
	}}
	read.Schema = stdjson.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	next := &switched{Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if asked := p.Last(decant.RoleUser); strings.HasPrefix(asked, "Read ") && len(sandboxtest.Results(p)) == 0 {
			return use("read", fmt.Sprintf(`{"path":%q}`, asked[5:]))
		}
		return text("I have read it.")
	})}
	w := newWorld(t, next, agent.Options{Tools: []agent.Tool{read}, Preset: policy(t, "trims", 9000, "trim")})
	w.say("Start.")
	for _, name := range []string{"rules.txt", "a.txt", "b.txt", "c.txt", "d.txt", "e.txt"} {
		w.say("Read " + name)
	}
	reads := next.Model
	next.Model = sandbox.Reader{}
	if got := w.say("What is the port?"); strings.Contains(got, port) {
		t.Fatalf("the port is still known: %s", got)
	}
	next.Model = reads
	w.say("What is the port?") // the same answer as that of many turns, which were sent other things
	next.Model = sandbox.Reader{}
	w.say("By the way, the port is " + port + ".") // what came later was not sent for it
	same, _ := w.ask(8, whatif.Change{})
	if strings.Contains(same.Would.Answer, port) || same.Would.Preset != "trims" || len(same.Would.Sent.Missing) > 0 {
		t.Errorf("control arm: %+v", same.Would)
	}
	out, s := w.ask(8, whatif.Change{Preset: policy(t, "keeps", 150_000, "")})
	if !strings.Contains(out.Would.Answer, port) || strings.Contains(out.Was.Answer, port) || out.Text != "What is the port?" {
		t.Errorf("was %q, would be %q", out.Was.Answer, out.Would.Answer)
	}
	was, would := out.Was.Sent, out.Would.Sent
	if !was.Known || !slices.Equal(was.Missing, []string{port}) || !would.Known || len(would.Missing) > 0 || would.Held != would.Facts || was.Held >= was.Facts || was.Facts != would.Facts {
		t.Errorf("what was not sent: %+v and %+v", was, would)
	}
	if again, _ := w.ask(9, whatif.Change{Preset: policy(t, "keeps", 150_000, "")}); again.Was.Answer != "I have read it." || !slices.Equal(again.Was.Sent.Missing, []string{port}) {
		t.Errorf("an answer like many: %+v", again.Was)
	}
	if out.Was.Preset != "trims" || out.Would.Preset != "keeps" || out.Was.Spent.Money <= 0 || out.Would.Spent.Money <= out.Was.Spent.Money ||
		out.Was.Took <= 0 || out.Would.Took <= 0 || out.Was.Spent.Turns != 1 || out.Would.Spent.Turns != 1 {
		t.Errorf("was %+v, would be %+v", out.Was, out.Would)
	}
	if len(w.Turns()) != 10 || s.Label(whatif.Label) != w.ID() {
		t.Errorf("%d turns, label %q", len(w.Turns()), s.Label(whatif.Label))
	}
}

// Without memory the tools of memory are gone, and what only they know; with it, the control arm, the answer is the same again.
func TestWhatIfThereWereNoMemory(t *testing.T) {
	city := fmt.Sprintf("City%d", rand.IntN(1_000_000))
	recalls := 0
	recall := agent.Tool{Name: "recall", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		recalls++
		return agent.Result{Text: "The city is " + city + "."}, nil
	}}
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch {
		case len(p.Tools) == 0:
			return text("I do not know.")
		case len(sandboxtest.Results(p)) > 0:
			return text(sandboxtest.Results(p)[0])
		}
		return use("recall", `{"query":"city"}`)
	}), agent.Options{Tools: []agent.Tool{recall}})
	w.say("Where do I live?")
	on, _ := w.ask(1, whatif.Change{})
	off, _ := w.ask(1, whatif.Change{NoMemory: true})
	if !strings.Contains(on.Would.Answer, city) || !on.Would.Memory || off.Would.Answer != "I do not know." || off.Would.Memory {
		t.Errorf("with %+v, without %+v", on.Would, off.Would)
	}
	if recalls != 1 || !slices.Equal(on.Would.Recorded, []string{`recall {"query":"city"}`}) {
		t.Errorf("%d calls were made; recorded: %q", recalls, on.Would.Recorded)
	}
}

// A call that changes something is not made. One that the turn has made itself returns what it returned then, as long as both have changed the
// same; where they part, the new turn ends, and its calls wait.
func TestNothingIsChanged(t *testing.T) {
	changed, looked := []string{}, 0
	tools := []agent.Tool{
		{Name: "edit", Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
			changed = append(changed, string(c.Arguments))
			return agent.Result{Text: fmt.Sprintf("change %d", len(changed))}, nil
		}},
		{Name: "look", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
			looked++
			return agent.Result{Text: fmt.Sprintf("look %d after %d changes", looked, len(changed))}, nil
		}},
	}
	type step struct{ tool, arguments string }
	plan := func(steps ...step) sandbox.Model {
		return sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			if k := p.Answers(); k < len(steps) {
				return use(steps[k].tool, steps[k].arguments)
			}
			return text(strings.Join(append(sandboxtest.Results(p), "Done."), " "))
		})
	}
	next := &switched{Model: plan(step{"look", `{"n":1}`}, step{"edit", `{"n":1}`}, step{"look", `{"n":1}`}, step{"edit", `{"n":2}`})}
	w := newWorld(t, next, agent.Options{Tools: tools})
	w.say("Do it.")
	for name, c := range map[string]struct {
		steps    []step
		recorded int
		made     int
		would    string // the call at which it ends
		answer   string // how the last result begins
	}{
		"the same":               {[]step{{"look", `{"n":1}`}, {"edit", ` {"n" : 1}`}, {"look", `{"n":1}`}, {"edit", `{"n":2}`}}, 4, 0, "", "change 2 Done."},
		"fewer":                  {[]step{{"edit", `{"n":1}`}, {"look", `{"n":1}`}}, 2, 0, "", "look 2 after 1 changes Done."},
		"in another order":       {[]step{{"edit", `{"n":2}`}}, 0, 0, `{"n":2}`, ""},
		"something else":         {[]step{{"look", `{"n":1}`}, {"edit", `{"n":9}`}}, 1, 0, `{"n":9}`, ""},
		"twice":                  {[]step{{"edit", `{"n":1}`}, {"edit", `{"n":1}`}}, 1, 0, `{"n":1}`, ""},
		"another look":           {[]step{{"look", `{"n":7}`}}, 0, 1, "", "look"},
		"a tool that is not":     {[]step{{"none", `{}`}, {"edit", `{"n":1}`}}, 1, 0, "", "change 1 Done."},
		"a look before a change": {[]step{{"look", `{"n":1}`}, {"look", `{"n":1}`}}, 1, 1, "", "look"},
	} {
		t.Run(name, func(t *testing.T) {
			next.Model = plan(c.steps...)
			before := len(changed)
			out, s, err := whatif.Run(t.Context(), w.o, w.Session, 1, whatif.Change{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			arm := out.Would
			if len(changed) != before {
				t.Errorf("it has changed %q", changed[before:])
			}
			if len(arm.Recorded) != c.recorded || len(arm.Made) != c.made || !strings.HasPrefix(arm.Answer, c.answer) {
				t.Errorf("recorded %q, made %q, answer %q", arm.Recorded, arm.Made, arm.Answer)
			}
			would := ""
			if len(arm.Would) > 0 {
				would = string(arm.Would[0].Arguments)
			}
			if would != c.would || (would != "") != (arm.Stop == agent.StopApproval) || len(s.Waiting()) != len(arm.Would) {
				t.Errorf("it ends with %s at %+v", arm.Stop, arm.Would)
			}
		})
	}
}

// Where one call of an answer would change something, none of those that may do so counts as made: whoever keeps the session decides about all.
func TestCallsSideBySideWaitTogether(t *testing.T) {
	made := 0
	edit := agent.Tool{Name: "edit", Run: func(context.Context, *agent.Call) (agent.Result, error) {
		made++
		return agent.Result{Text: "changed"}, nil
	}}
	next := &switched{Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("edit", `{"n":1}`)
		}
		return text("Done.")
	})}
	w := newWorld(t, next, agent.Options{Tools: []agent.Tool{edit}})
	w.say("Do it.")
	next.Model = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		return sandbox.Answer{Blocks: slices.Concat(use("edit", `{"n":1}`).Blocks, use("edit", `{"n":2}`).Blocks)}
	})
	out, s := w.ask(1, whatif.Change{})
	if len(out.Would.Would) != 2 || len(s.Waiting()) != 2 || made != 1 {
		t.Errorf("%d calls wait, %d were made", len(out.Would.Would), made)
	}
}

// Another model answers, whatever was said meanwhile; what is interrupted leaves nothing behind; and there is no turn but those that there are.
func TestWhatAnotherModelWouldSay(t *testing.T) {
	next := &switched{Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer { return text("I am " + p.Model + ".") })}
	w := newWorld(t, next, agent.Options{})
	for _, said := range []string{"one", "two", "three"} {
		w.say(said)
	}
	out, s := w.ask(2, whatif.Change{Model: "claude-haiku-4-5"})
	if out.Was.Answer != "I am claude-sonnet-4-5." || out.Was.Model != "claude-sonnet-4-5" || out.Would.Answer != "I am claude-haiku-4-5." || out.Text != "two" || out.First != 2 {
		t.Errorf("was %+v, would be %+v", out.Was, out.Would)
	}
	if turns := s.Turns(); len(turns) != 2 || turns[1].Spent.Turns != 1 || len(s.Messages()) != 4 {
		t.Errorf("turns %+v", turns)
	}
	for _, turn := range []int{0, 4} {
		if _, _, err := whatif.Run(t.Context(), w.o, w.Session, turn, whatif.Change{}, nil); err == nil {
			t.Errorf("turn %d is answered", turn)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := whatif.Run(ctx, w.o, w.Session, 2, whatif.Change{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("what is interrupted ends with %v", err)
	}
	js, err := w.db.Store().Journals(t.Context(), store.JournalQuery{})
	if err != nil || len(js) != 2 {
		t.Errorf("%d journals, %v", len(js), err)
	}
}

// switched is a model that can be changed while nobody asks it.
type switched struct{ sandbox.Model }

func text(s string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: s}}}
}

func use(tool, arguments string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: tool, Input: stdjson.RawMessage(arguments)}}}
}
