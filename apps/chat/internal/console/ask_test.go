package console

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/testing/sandbox"
)

// What would change something is shown and asked about; yes, no with a reason, and always.
func TestApprovals(t *testing.T) {
	var wrote []string
	tool := agent.Tool{Name: "write", Ask: true,
		Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
			wrote = append(wrote, string(c.Arguments))
			return agent.Result{Text: "written"}, nil
		},
		Preview: func(context.Context, *agent.Call) (string, error) { return "-old\n+new\x1b[31m", nil },
	}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(said(p), "Write") {
			return use("write", `{"n":1}`)
		}
		return text("It came back: " + said(p))
	})
	u := sits(t, setting{model: model, tools: []agent.Tool{tool}, always: func(c *agent.Call) (string, error) { return c.Tool + "(*)", nil }})
	u.types("Write.\r")
	u.sees("May this be done? [write]")
	u.sees("-old")
	u.sees("+new␛[31m")
	u.types("perhaps\r")
	u.sees("want y, n or a")
	u.types("y\r")
	u.sees("It came back: written")
	u.sees("$0.0")
	u.types("Write.\r")
	u.sees("May this be done?")
	u.types("n not today\r")
	u.sees("does not allow this call: not today")
	u.sees("$0.0")
	u.types("Write.\r")
	u.sees("May this be done?")
	u.types("\x1b") // Esc is no
	u.sees("It came back: The user does not allow")
	u.sees("$0.0")
	u.types("Write.\r")
	u.sees("May this be done?")
	u.types("a\r")
	u.sees("allowed from now on: write(*)")
	u.sees("It came back: written")
	u.sees("$0.0")
	u.quits()
	if len(wrote) != 2 {
		t.Errorf("written %q, want two", wrote)
	}
}

// Nobody is asked about what is not shown: a call is shown to its end, however long it is.
func TestAQuestionShowsAllOfTheCall(t *testing.T) {
	run := func(context.Context, *agent.Call) (agent.Result, error) { return agent.Result{Text: "done"}, nil }
	preview := func(context.Context, *agent.Call) (string, error) {
		return strings.Repeat("echo\n", 300) + "the last line", nil
	}
	tools := []agent.Tool{{Name: "mcp__db__query", Ask: true, Run: run}, {Name: "bash", Ask: true, Run: run, Preview: preview}}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		switch {
		case strings.HasPrefix(said(p), "Ask"):
			return use("mcp__db__query", `{"query":"`+strings.Repeat("select 1; ", 300)+`drop table users"}`)
		case strings.HasPrefix(said(p), "Run"):
			return use("bash", `{}`)
		}
		return text("It came back: " + said(p))
	})
	u := sits(t, setting{model: model, tools: tools})
	u.types("Ask.\r")
	u.sees("drop table users")
	u.sees("y: yes")
	u.types("n\r")
	u.sees("It came back")
	u.types("Run.\r")
	u.sees("the last line")
	u.sees("y: yes")
	u.types("n\r")
	u.sees("It came back")
	u.quits()
}

// A question that nobody has answered is asked again by the next program, and the call is made there.
func TestAQuestionIsAskedAgain(t *testing.T) {
	wrote := 0
	tool := agent.Tool{Name: "write", Ask: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		wrote++
		return agent.Result{Text: "written"}, nil
	}}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(said(p), "Write") {
			return use("write", `{}`)
		}
		return text("It came back: " + said(p))
	})
	s := setting{model: model, tools: []agent.Tool{tool}, dir: t.TempDir()}
	u := sits(t, s)
	u.types("Write.\r")
	u.sees("May this be done?")
	u.types("\x04")
	if err := <-u.ended; err != nil {
		t.Fatal(err)
	}
	s.goOn = true
	u = sits(t, s)
	u.sees("goes on; you said last: Write.")
	u.sees("May this be done?")
	u.types("y\r")
	u.sees("It came back: written")
	u.sees("$0.0")
	u.quits()
	if wrote != 1 {
		t.Errorf("%d calls were made", wrote)
	}
}

// The conversation goes back, files do, or both; each call that may have changed a file is named once.
func TestRewind(t *testing.T) {
	var calls []string
	tool := agent.Tool{Name: "write", Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
		calls = append(calls, c.ID)
		return agent.Result{Text: "written"}, nil
	}}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		if strings.HasPrefix(said(p), "Write") {
			return use("write", `{}`)
		}
		return text("It came back: " + said(p))
	})
	var back []string
	u := sits(t, setting{model: model, tools: []agent.Tool{tool}, back: func(ids ...string) (string, []string, error) {
		back = ids
		return "", []string{"a.txt"}, nil
	}})
	for range 3 {
		u.types("Write.\r")
		u.sees("It came back: written")
		u.sees("$0.0")
	}
	u.types("/rewind 2 files\r")
	u.sees("files that are as they were: a.txt")
	if !slices.Equal(back, calls[1:]) {
		t.Errorf("calls %q are taken back, want %q", back, calls[1:])
	}
	u.types("/rewind 3 both\r")
	u.sees("a.txt")
	u.sees("back to before: Write.")
	if !slices.Equal(back, calls) {
		t.Errorf("calls %q are taken back, want %q", back, calls)
	}
	u.types("/rewind\r")
	u.sees("there are 0 turns to go back")
	u.types("/rewind all\r")
	u.sees("want /rewind")
	u.quits()
}
