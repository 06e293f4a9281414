package chat

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// operator is a model that makes the calls that it is told to, one on each line, and then says which model it is.
var operator = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
	done, asked := 0, ""
	for i := len(p.Messages) - 1; i >= 0 && asked == ""; i-- {
		switch b := p.Messages[i].Blocks; {
		case p.Messages[i].Role == decant.RoleAssistant:
			done++
		case b[0].Kind == decant.KindText:
			asked = b[len(b)-1].Text
		}
	}
	lines := strings.Split(strings.ReplaceAll(asked, "MODEL", p.Model), "\n")
	if done < len(lines) {
		if name, arguments, ok := strings.Cut(lines[done], " {"); ok {
			return use(name, "{"+arguments)
		}
	}
	return text("Done by " + p.Model + ".")
})

// working returns a chat that works on the files of its folder.
func (w *world) working(more ...agent.Tool) *Chat {
	w.Helper()
	set, err := tools.New(tools.Options{Dir: w.dir, Keep: w.T.TempDir()})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { set.Close() })
	allow := func(context.Context, *agent.Tool, *agent.Call) agent.Verdict { return agent.Verdict{Kind: agent.Allow} }
	return w.chat(Options{Tools: append(set.Tools(), more...), Permit: allow, Restore: func(calls ...string) (string, []string, error) {
		r, err := set.Rewind(calls...)
		return r.ID, r.Files, err
	}})
}

// content returns what a file holds; empty: there is none.
func (w *world) content(name string) string {
	b, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(b)
}

// remembered returns what is remembered, as a person is shown it.
func remembered(t *testing.T, c *Chat) string {
	t.Helper()
	var b strings.Builder
	if err := c.Remembered(t.Context(), &b, ""); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	writesOne = `write {"file_path":"a.txt","content":"one"}`
	savesTabs = `save_memory {"content":"The user prefers tabs."}`
)

// The newest turn is taken back in conversation, files and memory at once, and then the one before it. What nothing can take back is named; where a file
// has changed since, nothing is taken back.
func TestOneUndo(t *testing.T) {
	w := newWorld(t, operator)
	post := agent.Tool{Name: "post", Run: func(context.Context, *agent.Call) (agent.Result, error) { return agent.Result{Text: "posted"}, nil }}
	c := w.working(post)
	say(t, c, "Hello.")
	say(t, c, writesOne+"\n"+savesTabs+"\npost {}")
	say(t, c, `save_memory {"content":"Prices are in cents."}`)
	if got := remembered(t, c); !strings.Contains(got, "tabs") || !strings.Contains(got, "cents") || w.content("a.txt") != "one" {
		t.Fatalf("file %q, memories:\n%s", w.content("a.txt"), got)
	}
	u, err := c.UndoTurn(t.Context())
	if err != nil || !slices.Equal(u.Memories, []string{"Prices are in cents."}) || len(u.Files)+len(u.Stays) > 0 || w.content("a.txt") != "one" {
		t.Errorf("%+v, %v", u, err)
	}
	w.file("a.txt", "of a person")
	if _, err := c.UndoTurn(t.Context()); !errors.Is(err, tools.ErrChanged) || len(c.Session().Turns()) != 2 || !strings.Contains(remembered(t, c), "tabs") {
		t.Errorf("a changed file: %v, %d turns", err, len(c.Session().Turns()))
	}
	w.file("a.txt", "one")
	u, err = c.UndoTurn(t.Context())
	if err != nil || !slices.Equal(u.Files, []string{"a.txt"}) || !slices.Equal(u.Memories, []string{"The user prefers tabs."}) || !slices.Equal(u.Stays, []string{"post"}) {
		t.Errorf("%+v, %v", u, err)
	}
	if got := remembered(t, c); strings.Contains(got, "tabs") || w.content("a.txt") != "" || len(c.Session().Turns()) != 1 {
		t.Errorf("file %q, %d turns, memories:\n%s", w.content("a.txt"), len(c.Session().Turns()), got)
	}
	if got := say(t, c, "And now?"); got != "Done by claude-sonnet-4-5." {
		t.Errorf("it goes on with %q", got)
	}
	for range 2 {
		if _, err := c.UndoTurn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.UndoTurn(t.Context()); err == nil {
		t.Error("nothing is taken back without an error")
	}
}

// A turn is answered by another model. Kept, it stands in the place of the turn: what that has changed alone is taken back, and what the new one would
// change waits to be allowed. One undo brings all of it back, and it can be kept again.
func TestKeepEither(t *testing.T) {
	w := newWorld(t, operator)
	c := w.working()
	say(t, c, "Hello.")
	say(t, c, writesOne+"\n"+savesTabs+"\n"+`write {"file_path":"MODEL.txt","content":"two"}`)
	say(t, c, `save_memory {"content":"Prices are in cents."}`)
	was := c.Session().ID()
	out, err := c.WhatIf(t.Context(), What{Turn: 2, Model: "claude-haiku-4-5"}, nil)
	if err != nil || len(out.Would.Would) != 1 || out.Would.Would[0].Tool != "write" || len(out.Would.Recorded) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	before := func(when string) {
		t.Helper()
		if got := remembered(t, c); w.content("a.txt") != "one" || w.content("claude-sonnet-4-5.txt") != "two" || w.content("claude-haiku-4-5.txt") != "" ||
			!strings.Contains(got, "tabs") || !strings.Contains(got, "cents") || c.Session().ID() != was || len(c.Session().Turns()) != 3 || c.Meter().Model != "claude-sonnet-4-5" {
			t.Errorf("%s: %s, files %q %q, memories:\n%s", when, c.Meter().Model, w.content("a.txt"), w.content("claude-sonnet-4-5.txt"), got)
		}
	}
	before("after the what-if")
	for range 2 {
		u, err := c.Keep(t.Context())
		if err != nil || !slices.Equal(u.Files, []string{"claude-sonnet-4-5.txt"}) || !slices.Equal(u.Memories, []string{"Prices are in cents."}) {
			t.Fatalf("%+v, %v", u, err)
		}
		if got := remembered(t, c); w.content("a.txt") != "one" || w.content("claude-sonnet-4-5.txt") != "" || !strings.Contains(got, "tabs") || strings.Contains(got, "cents") {
			t.Errorf("kept: files %q %q, memories:\n%s", w.content("a.txt"), w.content("claude-sonnet-4-5.txt"), got)
		}
		if c.Session().ID() == was || len(c.Session().Waiting()) != 1 || len(c.Session().Turns()) != 2 || c.Meter().Model != "claude-haiku-4-5" {
			t.Errorf("kept: session %s with %s, %d calls wait", c.Session().ID(), c.Meter().Model, len(c.Session().Waiting()))
		}
		if u, err = c.UndoTurn(t.Context()); err != nil || u.Session != was {
			t.Fatalf("%+v, %v", u, err)
		}
		before("after the undo")
	}
	if _, err := c.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer := ""
	for e, err := range c.Resume(t.Context(), c.Session().Waiting()[0].ID, agent.Verdict{Kind: agent.Allow}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome != nil {
			answer = e.Outcome.Text
		}
	}
	if answer != "Done by claude-haiku-4-5." || w.content("claude-haiku-4-5.txt") != "two" {
		t.Errorf("%q, file %q", answer, w.content("claude-haiku-4-5.txt"))
	}
	if u, err := c.UndoTurn(t.Context()); err != nil || !slices.Contains(u.Files, "claude-haiku-4-5.txt") || u.Session != "" {
		t.Errorf("the undo after something was done: %+v, %v", u, err)
	}
}

// What nobody keeps is nobody's session: it is not gone on with, and what is said next ends it.
func TestAWhatIfThatNobodyKeeps(t *testing.T) {
	w := newWorld(t, operator)
	db := filepath.Join(t.TempDir(), "chat.db")
	c := w.chat(Options{DB: db})
	say(t, c, "Hello.")
	was := c.Session().ID()
	for _, what := range []What{{Preset: "chat"}, {NoMemory: true}} {
		out, err := c.WhatIf(t.Context(), what, nil)
		if err != nil || out.Would.Answer != "Done by claude-sonnet-4-5." {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if err := c.Open(t.Context(), Last, false); err != nil || c.Session().ID() != was {
		t.Errorf("it goes on with %s, want %s: %v", c.Session().ID(), was, err)
	}
	if _, err := c.WhatIf(t.Context(), What{}, nil); err != nil {
		t.Fatal(err)
	}
	say(t, c, "More.")
	if _, err := c.Keep(t.Context()); err == nil {
		t.Error("what was tried is kept after something else was said")
	}
	for _, what := range []What{{Preset: "none of them"}, {Turn: 9}, {Turn: -1}} {
		if _, err := c.WhatIf(t.Context(), what, nil); err == nil {
			t.Errorf("%+v is tried", what)
		}
	}
}
