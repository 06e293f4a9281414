package console

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/testing/sandbox"
)

// A turn is answered once more and shown beside the answer that there is; kept, what it would change is asked about; and one undo takes all of it back.
func TestWhatIfIsShown(t *testing.T) {
	tool := agent.Tool{Name: "write", Run: func(context.Context, *agent.Call) (agent.Result, error) { return agent.Result{Text: "written"}, nil }}
	model := answers(func(_ context.Context, p *sandbox.Prompt) sandbox.Answer {
		switch {
		case strings.HasPrefix(said(p), "Write"):
			return use("write", `{"by":"`+p.Model+`"}`)
		case strings.HasPrefix(said(p), "Who"):
			return text("I am " + p.Model + ".")
		}
		return text("It came back: " + said(p))
	})
	u := sits(t, setting{model: model, tools: []agent.Tool{tool}, back: func(ids ...string) (string, []string, error) {
		if len(ids) == 1 && strings.HasPrefix(ids[0], "toolu_") {
			return "again", []string{"a.txt"}, nil
		}
		return "", nil, nil
	}})
	u.types("Who are you?\r")
	u.sees("I am claude-sonnet-4-5.")
	u.sees("$0.0")
	u.types("/whatif --model claude-haiku-4-5 --memory off --preset=chat\r")
	u.sees("nothing is changed")
	u.sees("turn 1: Who are you?")
	u.sees("claude-haiku-4-5")
	u.sees("agent-loop")
	u.sees("as it was: I am claude-sonnet-4-5.")
	u.sees("what if: I am claude-haiku-4-5.")
	u.sees("/keep goes on")
	u.types("Write.\r")
	u.sees("It came back: written")
	u.sees("$0.0")
	u.types("/keep\r")
	u.sees("there is nothing to keep")
	u.types("/whatif 2 --model claude-haiku-4-5\r")
	u.sees(`it would have called write {"by":"claude-haiku-4-5"}`)
	u.sees("/keep goes on")
	u.types("/keep\r")
	u.sees("from the answer to: Write.")
	u.sees("files: a.txt")
	u.sees("May this be done? [write]")
	u.types("n\r")
	u.sees("It came back: The user does not allow")
	u.sees("claude-haiku-4-5 |")
	u.types("/undo\r")
	u.sees("taken back: Write.")
	u.sees("files: a.txt")
	u.sees("memories: none was changed")
	for _, wrong := range []string{"--model", "--memory maybe", "--color red", "0"} {
		u.types("/whatif " + wrong + "\r")
		u.sees("want /whatif")
	}
	u.types("/undo\r")
	u.sees("taken back: Who are you?")
	u.sees("files: none was changed")
	u.types("/undo\r")
	u.sees("nothing to take back")
	u.quits()
}
