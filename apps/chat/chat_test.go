package chat

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A world is a chat in a folder, before a strict stand-in for the Messages API.
type world struct {
	*testing.T
	server  *sandbox.Server
	client  provider.Speaker
	dir     string
	notices bytes.Buffer
}

func newWorld(t *testing.T, m sandbox.Model) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
	w.server, w.client = stand(t, sandbox.Options{Model: m})
	return w
}

// stand returns a stand-in with a client of it.
func stand(t *testing.T, o sandbox.Options) (*sandbox.Server, *anthropic.Client) {
	t.Helper()
	s := sandbox.New(o)
	rt, stop := s.Pipe()
	t.Cleanup(stop)
	c, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test"),
		Backoff: provider.Backoff{Attempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// file writes a file of the project.
func (w *world) file(name, text string) {
	w.Helper()
	name = filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		w.Fatal(err)
	}
}

// chat opens a chat with options.
func (w *world) chat(o Options) *Chat {
	w.Helper()
	p, err := project.Load(project.Options{Dir: w.dir})
	if err != nil {
		w.Fatal(err)
	}
	o.Project, o.Client, o.Notices = p, w.client, &w.notices
	if o.Model == "" {
		o.Model = "claude-sonnet-4-5"
	}
	if o.DB == "" {
		o.DB = filepath.Join(w.T.TempDir(), "chat.db")
	}
	if o.Preset == nil {
		o.Preset = loop(w.T, project.Settings{})
	}
	c, err := New(w.Context(), o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := c.Close(); err != nil {
			w.Error(err)
		}
		for _, e := range w.server.Log.Refused() {
			w.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
		}
	})
	return c
}

// loop returns the preset agent-loop with settings.
func loop(t *testing.T, s project.Settings) *preset.Preset {
	t.Helper()
	p, err := PresetFor(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// say says something and returns the answer.
func say(t *testing.T, c *Chat, text string) string {
	t.Helper()
	answer := ""
	for e, err := range c.Run(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome != nil {
			answer = e.Outcome.Text
		}
	}
	return answer
}

// once asks a question and returns what was written.
func once(t *testing.T, c *Chat, q Question) (string, *Result, error) {
	t.Helper()
	var out bytes.Buffer
	q.Out = &out
	r, err := c.Once(t.Context(), q)
	return out.String(), r, err
}

func text(s string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: s}}}
}

func use(name, input string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: name, Input: stdjson.RawMessage(input)}}}
}

// reader reads each file that it is told to, once, and answers whether it can see a secret. It knows nothing but its prompt.
func reader(secret string) sandboxtest.Model {
	return func(p *sandbox.Prompt) sandbox.Answer {
		last := p.Messages[len(p.Messages)-1].Blocks
		b := last[len(last)-1]
		if name, ok := strings.CutPrefix(b.Text, "Read "); ok && b.Kind == decant.KindText {
			return use("read", fmt.Sprintf(`{"path":%q}`, name))
		}
		for _, m := range p.Messages {
			for _, b := range m.Blocks {
				if strings.Contains(b.Text, secret) {
					return text("I see it.")
				}
			}
		}
		return text("I do not see it.")
	}
}

// reads is a tool that reads files of a folder.
func reads(dir string) agent.Tool {
	type which struct {
		Path string `json:"path"`
	}
	t := agent.Func("read", "Reads a file.", func(_ context.Context, _ *agent.Call, w which) (agent.Result, error) {
		b, err := os.ReadFile(filepath.Join(dir, filepath.Base(w.Path)))
		return agent.Result{Text: string(b)}, err
	})
	t.ReadOnly = true
	return t
}

// writes is a tool that somebody must allow.
func writes(wrote *[]string) agent.Tool {
	return agent.Tool{Name: "write", Ask: true, Schema: stdjson.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
			*wrote = append(*wrote, string(c.Arguments))
			return agent.Result{Text: "written"}, nil
		}}
}

func TestASkillIsReadOnDemand(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("skill", `{"name":"release"}`)
		}
		last := p.Messages[len(p.Messages)-1].Blocks
		return text(last[len(last)-1].Text)
	}))
	w.file(".claude/skills/release/SKILL.md", "---\ndescription: How to release.\n---\nTag it.")
	w.file(".claude/skills/release/tag.sh", "git tag")
	c := w.chat(Options{Unattended: true, Permit: func(context.Context, *agent.Tool, *agent.Call) agent.Verdict { return agent.Verdict{} }})
	if got := say(t, c, "Release."); !strings.Contains(got, "Tag it.") || !strings.Contains(got, "tag.sh") {
		t.Errorf("%q", got)
	}
}

// A pour on demand, what fills the window before and after it, and its undo. What it is about is asked for by a focus.
func TestCompactAndUndo(t *testing.T) {
	w := newWorld(t, reader("nothing"))
	w.file("round1.txt", postings(1, 12))
	c := w.chat(Options{Tools: []agent.Tool{reads(w.dir)}})
	if _, err := c.Compact(t.Context(), ""); !errors.Is(err, decant.ErrNothing) {
		t.Errorf("a pour of nothing: %v", err)
	}
	for range 5 {
		say(t, c, "Read round1.txt")
	}
	before := fill(t, c)
	change, err := c.Compact(t.Context(), "the jobs")
	if err != nil {
		t.Fatal(err)
	}
	after := fill(t, c)
	if total(after) >= total(before)/2 || change.Plan.After.Messages >= change.Plan.Before.Messages {
		t.Errorf("from %+v to %+v", before, after)
	}
	if !hasPart(after, "record of what was poured") || hasPart(before, "record of what was poured") {
		t.Errorf("before: %+v\nafter: %+v", before, after)
	}
	say(t, c, "What is the URL of job 101?")
	if size := c.Meter().Size; size > total(before)/2 {
		t.Errorf("the next request had %d tokens", size)
	}
	if _, err := c.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	say(t, c, "What is the URL of job 102?")
	if size := c.Meter().Size; size < total(before)*8/10 {
		t.Errorf("after the undo the next request had %d tokens, before the pour %d", size, total(before))
	}
}

func fill(t *testing.T, c *Chat) *Fill {
	t.Helper()
	f, err := c.Fill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func total(f *Fill) (n int) {
	for _, p := range f.Parts {
		n += p.Tokens
	}
	return n
}

func hasPart(f *Fill, name string) bool {
	for _, p := range f.Parts {
		if p.Name == name && p.Tokens > 0 {
			return true
		}
	}
	return false
}

// Going back, another model and a new conversation: each goes on legally, and from what it should know.
func TestRewindModelClear(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	c := w.chat(Options{})
	say(t, c, "The port is 8443.")
	say(t, c, "The port is 9000.")
	if text, _, err := c.Rewind(1, Back{Talk: true}); err != nil || text != "The port is 9000." {
		t.Fatalf("%q, %v", text, err)
	}
	if _, err := c.Compact(t.Context(), ""); err == nil || errors.Is(err, decant.ErrNothing) {
		t.Errorf("a pour of what was taken back: %v", err)
	}
	if got := say(t, c, "What is the port?"); !strings.Contains(got, "8443") {
		t.Errorf("after going back: %s", got)
	}
	if err := c.SetModel(t.Context(), "claude-haiku-4-5"); err != nil {
		t.Fatal(err)
	}
	if got := say(t, c, "What is the port?"); !strings.Contains(got, "8443") || c.Meter().Model != "claude-haiku-4-5" {
		t.Errorf("with another model: %s", got)
	}
	if _, _, err := c.Rewind(9, Back{Talk: true}); err == nil {
		t.Error("nine turns were taken back")
	}
	c.Clear()
	if got := say(t, c, "What is the port?"); strings.Contains(got, "8443") || c.Meter().Spent.Turns != 1 {
		t.Errorf("after clear: %s, %+v", got, c.Meter())
	}
}

// Another process goes on with the newest session of the project, or leaves it as it is and goes on beside it.
func TestOpen(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	db := filepath.Join(t.TempDir(), "chat.db")
	first := w.chat(Options{DB: db})
	if err := first.Open(t.Context(), Last, false); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the newest of no sessions: %v", err)
	}
	say(t, first, "The port is 8443.")
	second := w.chat(Options{DB: db})
	if err := second.Open(t.Context(), Last, true); err != nil {
		t.Fatal(err)
	}
	if got := say(t, second, "What is the port?"); !strings.Contains(got, "8443") || second.Session().ID() == first.Session().ID() {
		t.Errorf("the fork: %s", got)
	}
	third := w.chat(Options{DB: db})
	if err := third.Open(t.Context(), first.Session().ID(), false); err != nil {
		t.Fatal(err)
	}
	if n := len(third.Session().Messages()); n != 2 || third.Session().ID() != first.Session().ID() {
		t.Errorf("the first session has %d messages after the fork", n)
	}
}

// What the agent saves is listed, and found by another session of the project.
func TestMemories(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		last := p.Messages[len(p.Messages)-1].Blocks
		switch b := last[len(last)-1]; b.Text {
		case "Remember tabs.":
			return use("save_memory", `{"content":"The user prefers tabs."}`)
		case "What do I prefer?":
			return use("recall", `{"query":"prefers"}`)
		default:
			return text(b.Text)
		}
	}))
	c := w.chat(Options{Unattended: true})
	say(t, c, "Remember tabs.")
	var listed bytes.Buffer
	if err := c.Remembered(t.Context(), &listed, ""); err != nil || !strings.Contains(listed.String(), "The user prefers tabs.") {
		t.Errorf("%s, %v", listed.String(), err)
	}
	c.Clear()
	if got := say(t, c, "What do I prefer?"); !strings.Contains(got, "The user prefers tabs.") {
		t.Errorf("another session recalls: %s", got)
	}
}

// What somebody types may name commands and files; nothing else does.
func TestTyped(t *testing.T) {
	w := newWorld(t, sandbox.Reader{})
	w.file(".claude/commands/fix.md", "Fix #$ARGUMENTS, see @notes.txt.")
	w.file("notes.txt", "the notes")
	w.file("a b.txt", "with spaces")
	w.file("binary", "\xff\xfe")
	w.file("long.txt", strings.Repeat("long", 20_000))
	p, err := project.Load(project.Options{Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"Hello @nobody, see me@example.com": "Hello @nobody, see me@example.com",
		"/fix 12":                           "Fix #12, see @notes.txt.\n\n<file name=\"notes.txt\">\nthe notes\n</file>",
		`See @"a b.txt" and @"a b.txt".`:    "See @\"a b.txt\" and @\"a b.txt\".\n\n<file name=\"a b.txt\">\nwith spaces\n</file>",
		"/nothing like it":                  "/nothing like it",
	} {
		if got, shown, err := Typed(p, in); len(shown) > 0 || err != nil || got != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	if _, _, err := Typed(p, "@binary"); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("binary: %v", err)
	}
	const dot = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	w.file("dot.gif", dot)
	got, shown, err := Typed(p, "Look at @dot.gif")
	if err != nil || got != "Look at @dot.gif" || len(shown) != 1 || shown[0].MediaType != "image/gif" || string(shown[0].Data) != dot {
		t.Errorf("an image: %q, %+v, %v", got, shown, err)
	}
	if _, r, err := once(t, w.chat(Options{}), Question{Text: got, With: shown}); err != nil || r.Stop != agent.StopAnswered {
		t.Errorf("an image: %+v, %v", r, err)
	}
	if got, _, err := Typed(p, "@long.txt"); err != nil || len(got) > 41_000 || !strings.Contains(got, "are left out here") {
		t.Errorf("long: %d bytes, %v", len(got), err)
	}
}

// The agent hands a part of its work to a delegate, which begins with what was said; the newest session is still the one that was talked in.
func TestATeam(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		last := p.Messages[len(p.Messages)-1].Blocks
		switch b := last[len(last)-1]; {
		case b.Kind == decant.KindResult:
			return text("Marco says: " + b.Text)
		case strings.Contains(b.Text, "Is the sum right?"):
			return use("delegate", `{"to":"marco","task":"Check the port."}`)
		case strings.Contains(b.Text, "Check the port."):
			a, _ := sandbox.Reader{}.Answer(context.Background(), &sandbox.Prompt{Messages: append(p.Messages[:len(p.Messages)-1:len(p.Messages)-1],
				sandbox.Message{Role: decant.RoleUser, Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "What is the port?"}}})})
			return a
		}
		return text("Noted.")
	}))
	db := filepath.Join(t.TempDir(), "chat.db")
	o := Options{DB: db, Unattended: true, Team: &team.File{Members: []team.Member{{Name: "marco", Description: "checks figures"}}}}
	c := w.chat(o)
	say(t, c, "The port is 8443.")
	if got := say(t, c, "Is the sum right?"); !strings.Contains(got, "8443") {
		t.Errorf("the delegate knows nothing of what was said: %s", got)
	}
	again := w.chat(o)
	if err := again.Open(t.Context(), Last, false); err != nil || again.Session().ID() != c.Session().ID() {
		t.Errorf("the newest session is %s, %v; want %s", again.Session().ID(), err, c.Session().ID())
	}
	o.Team = &team.File{Members: []team.Member{{Name: "two words", Description: "x"}}}
	o.Client, o.Model, o.Preset, o.Project = w.client, "claude-sonnet-4-5", loop(t, project.Settings{}), &project.Project{}
	if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), "two words") {
		t.Errorf("a team with a bad name: %v", err)
	}
}
