package console

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
)

// mostOutput is how many bytes of a command's output the model is told.
const mostOutput = 40_000

// shell runs a command of the user. What it prints is told to the model with the next thing that is said.
func (t *talk) shell(ctx context.Context, command string) {
	if command == "" {
		t.screen.line("a command is missing: !ls")
		return
	}
	t.screen.line("(running: Esc ends it)")
	t.begin(ctx, func(ctx context.Context, _ func(agent.Event, error)) func() {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Dir, cmd.WaitDelay = t.o.Project.Dir, time.Second
		out, err := cmd.CombinedOutput()
		text := strings.ToValidUTF8(string(out), "\uFFFD")
		if err != nil {
			text += fmt.Sprintf("\n(%v)", err)
		}
		return func() {
			t.screen.line("%s", text)
			t.told = append(t.told, fmt.Sprintf("I ran this command:\n\n    %s\n\nIt printed:\n\n%s", command, bounded(text)))
		}
	})
}

// bounded returns the beginning and the end of a text that is too long to be told.
func bounded(s string) string {
	if len(s) <= mostOutput {
		return s
	}
	head, tail := s[:mostOutput/2], s[len(s)-mostOutput/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[... %d bytes are left out here ...]\n", len(s)-mostOutput) + strings.ToValidUTF8(tail, "")
}
