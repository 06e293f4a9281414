package console

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A user is somebody at a terminal, who types and waits for what is shown.
type user struct {
	*testing.T
	in    *io.PipeWriter
	ended chan error

	mu    sync.Mutex
	shown bytes.Buffer
	more  chan struct{}
	seen  int // bytes of what was shown that were waited for
}

// Write takes what is shown.
func (u *user) Write(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown.Write(b)
	close(u.more)
	u.more = make(chan struct{})
	return len(b), nil
}

// types types.
func (u *user) types(text string) {
	u.Helper()
	if _, err := io.WriteString(u.in, text); err != nil {
		u.Fatal(err)
	}
}

// sees waits until something is shown behind what was waited for before.
func (u *user) sees(want string) {
	u.Helper()
	limit := time.After(testkit.Patience)
	for {
		u.mu.Lock()
		rest, more := u.shown.String()[u.seen:], u.more
		i := strings.Index(rest, want)
		if i >= 0 {
			u.seen += i + len(want)
		}
		u.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-more:
		case <-limit:
			u.Fatalf("%q does not come; shown was:\n%s", want, rest)
		}
	}
}

// all returns all that was shown.
func (u *user) all() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown.String()
}

// quits ends the conversation.
func (u *user) quits() {
	u.Helper()
	u.types("/quit\r\n")
	if err := testkit.Received(u, "the end of the conversation", u.ended); err != nil {
		u.Error(err)
	}
}

// A setting is what a user talks with.
type setting struct {
	model  sandbox.Model
	tools  []agent.Tool
	always func(*agent.Call) (string, error)
	back   func(calls ...string) (string, []string, error)
	files  map[string]string
	plain  bool
	dir    string // empty: a new one
	goOn   bool   // with the newest session of it
}

// sits has a user sit down at a terminal.
func sits(t *testing.T, s setting) *user {
	t.Helper()
	dir := s.dir
	if dir == "" {
		dir = t.TempDir()
	}
	for name, text := range s.files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := project.Load(project.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	client := sandboxtest.Client(t, sandbox.New(sandbox.Options{Model: s.model}))
	loop, err := chat.PresetFor(project.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	u := &user{T: t, in: typed, ended: make(chan error, 1), more: make(chan struct{})}
	t.Cleanup(func() { typed.Close() })
	go func() {
		var c *chat.Chat
		err := Run(t.Context(), Options{Project: p, In: in, Out: u, Plain: s.plain, History: filepath.Join(dir, "state", "history"),
			Open: func(notices io.Writer) (*chat.Chat, error) {
				var err error
				c, err = chat.New(t.Context(), chat.Options{Client: client, Model: "claude-sonnet-4-5", Preset: loop, DB: filepath.Join(dir, "chat.db"), Project: p,
					Tools: s.tools, Always: s.always, Restore: s.back, Notices: notices})
				if err == nil && s.goOn {
					err = c.Open(t.Context(), chat.Last, false)
				}
				return c, err
			}})
		u.ended <- errors.Join(err, c.Close())
	}()
	return u
}

// answers is a model that answers by the prompt.
type answers func(ctx context.Context, p *sandbox.Prompt) sandbox.Answer

func (f answers) Answer(ctx context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	return f(ctx, p), nil
}

func text(s string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: s}}}
}

func use(name, input string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: name, Input: stdjson.RawMessage(input)}}}
}

// said returns all text of the last message of a prompt.
func said(p *sandbox.Prompt) string {
	var all []string
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "|")
}

// echo is a model that repeats what it was told.
var echo = answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer { return text("You said: " + said(p)) })

func TestTalk(t *testing.T) {
	u := sits(t, setting{model: echo, files: map[string]string{"AGENTS.md": "Be brief.", "notes.txt": "the notes", ".claude/commands/fix.md": "Fix #$1."}})
	u.sees("/help lists what you can do")
	u.sees("AGENTS.md")
	u.types("Hello.\r")
	u.sees("You said: Hello.")
	u.sees("| $0.00")
	u.types("/fix 12 @notes.txt\r")
	u.sees("You said: Fix #12.")
	u.types("See @notes.txt\r")
	u.sees("<file name=\"notes.txt\">")
	u.sees("the notes")
	u.types("/nothing\r")
	u.sees("there is no command /nothing")
	u.types("/help\r")
	u.sees("/compact [TEXT]")
	u.sees("/fix")
	u.types("/cost\r")
	u.sees("for 3 answers")
	u.types("/memory\r")
	u.sees("nothing is remembered")
	u.types("/context\r")
	u.sees("instructions and tools")
	u.sees("free")
	u.types("/compact\r")
	u.sees("there is nothing worth leaving out")
	u.types("/rewind 2\r")
	u.sees("back to before: Fix #12.")
	u.types("/model claude-haiku-4-5\r")
	u.sees("claude-haiku-4-5 answers from now on")
	u.types("Go on.\r")
	u.sees("You said: Go on.")
	u.sees("(claude-haiku-4-5 |")
	u.types("/clear\r")
	u.sees("a new conversation")
	u.types("/mo\t\r")
	u.sees("claude-haiku-4-5 |")
	u.quits()
}

// What is typed while the agent works is read at the next results. Esc ends what is under way, and what came stays.
func TestTypingWhileItWorks(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	tool := agent.Tool{Name: "wait", ReadOnly: true, Run: func(ctx context.Context, c *agent.Call) (agent.Result, error) {
		entered <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return agent.Result{Text: "waited"}, ctx.Err()
	}}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(said(p), "Wait") {
			return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "I begin."}, {Kind: decant.KindUse, Name: "wait"}}}
		}
		return text("I know: " + said(p))
	})
	u := sits(t, setting{model: model, tools: []agent.Tool{tool}})
	u.types("Wait.\r")
	<-entered
	u.types("Hurry up.\r")
	u.sees("(noted")
	release <- struct{}{}
	u.sees("(read now: Hurry up.)")
	u.sees("I know: waited|Hurry up.")
	u.sees("$0.0")
	u.types("Wait again.\r")
	<-entered
	u.types("\x1b")
	u.sees("(interrupted)")
	u.sees("$0.0")
	u.types("What now?\r")
	u.sees("I know: ")
	u.sees("$0.0")
	u.types("!echo from the $((1+1))nd shell\r")
	u.sees("from the 2nd shell")
	u.types("!sleep 60\r")
	u.sees("(running")
	u.types("\x03") // or Ctrl-C
	u.sees("(interrupted)")
	u.types("Look.\r")
	u.sees("from the 2nd shell")
	u.sees("sleep 60")
	u.sees("$0.0")
	u.quits()
}

// Nothing that a model or a tool says reaches the terminal as a command to it.
func TestHostileText(t *testing.T) {
	const evil = "\x1b]0;title\x07\x1b[2J\u202egnp.exe\r\u009b31m<script>alert(1)</script>"
	tool := agent.Tool{Name: "look", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		return agent.Result{Text: evil + strings.Repeat("long", 10_000)}, nil
	}}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("look", `{"why":"`+"\\u001b[31m"+`"}`)
		}
		return text(evil + "\nThe end.")
	})
	u := sits(t, setting{model: model, tools: []agent.Tool{tool}})
	u.types("Look.\r")
	u.sees("The end.")
	u.sees("$0.0")
	u.quits()
	for _, bad := range []string{"\x1b]0", "\x1b[2J", "\u202e", "\u009b", "\x07", "\x1b[31m"} {
		if strings.Contains(u.all(), bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
	if !strings.Contains(u.all(), "<script>alert(1)</script>") {
		t.Error("the text is not shown as text")
	}
}

// What is pasted is one piece, however many lines it has; what is long is named in the line.
func TestPaste(t *testing.T) {
	u := sits(t, setting{model: echo})
	u.types("Explain: \x1b[200~one\r\ntwo\tx\x1b[201~ please\r")
	u.sees("one⏎two⇥x please")
	u.sees("You said: Explain: one")
	u.sees("two")
	u.sees("$0.0")
	long := strings.TrimSuffix(strings.Repeat("a line with @notes.txt\n", 50), "\n")
	u.types("\x1b[200~" + long + "\x1b[201~\r")
	u.sees("[pasted 1: 50 lines]")
	u.sees("You said: a line with @notes.txt")
	u.sees("$0.0")
	u.types("first \\\r")
	u.types("second\r")
	u.sees("You said: first")
	u.sees("second")
	u.sees("$0.0")
	u.types("\x1b[A\x1b[A\x1b[A\r") // up to the paste
	u.sees("[pasted 1: 50 lines]")
	u.sees("You said: ")
	u.quits()
}

// Where the terminal can do no more there are only lines: no prompt, no cursor.
func TestPlain(t *testing.T) {
	u := sits(t, setting{model: echo, plain: true})
	u.types("Hello.\n")
	u.sees("You said: Hello.")
	u.sees("$0.0")
	u.quits()
	if s := u.all(); strings.ContainsAny(s, "\x1b\r") {
		t.Errorf("plain output holds controls: %q", s)
	}
}

// What was typed is there in the next program, without what looks like a key.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	u := sits(t, setting{model: echo, dir: dir})
	const token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
	u.types("Remember " + token + "\r")
	u.sees("You said: Remember")
	u.sees("$0.0")
	u.quits()
	b, err := os.ReadFile(filepath.Join(dir, "state", "history"))
	if err != nil || !strings.HasPrefix(string(b), "Remember [redacted") || strings.Contains(string(b), token) {
		t.Errorf("%q, %v", b, err)
	}
	u = sits(t, setting{model: echo, dir: dir})
	u.types("\x1b[A\x1b[A\r")
	u.sees("You said: Remember [redacted")
	u.quits()
}
