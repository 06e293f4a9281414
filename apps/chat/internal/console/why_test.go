package console

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/testing/sandbox"
)

// Each sentence of the last answer opens what stood in front of the model, and one that was made up says so; what is quoted steers no terminal.
func TestWhy(t *testing.T) {
	tool := agent.Tool{Name: "look", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		return agent.Result{Text: "# ports\n\x1b[31mthe crane listens on 8443\nthe gate on 9001\n"}, nil
	}}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return use("look", `{}`)
		}
		return text("The crane listens on 8443. The lighthouse listens on 31337.")
	})
	u := sits(t, setting{model: model, tools: []agent.Tool{tool}})
	u.types("/why\r")
	u.sees("nothing was answered yet")
	u.types("Which ports?\r")
	u.sees("$0.0")
	u.types("/why\r")
	u.sees("Answer m4: the model was sent 3 messages")
	u.sees("1. The crane listens on 8443.")
	u.sees("sent: m3, result of look, shortened d:")
	u.sees("2. The lighthouse listens on 31337.")
	u.sees("NOT SENT")
	u.types("/why 1\r")
	u.sees("[m3, result of look, shortened d:")
	u.sees(", block 0, bytes ")
	u.sees("the crane listens on 8443")
	u.sees("the gate on 9001")
	u.types("/why 3\r")
	u.sees("from 1 to 2")
	u.quits()
	if strings.Contains(u.all(), "\x1b[31m") {
		t.Error("a quote reached the terminal as a command to it")
	}
}
