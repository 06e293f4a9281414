package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/testkit"
)

// The size that a refused target names is one that can be had, and nothing smaller can be.
func TestRefusedTargetNamesTheLeast(t *testing.T) {
	size := testkit.Depth(1500, 4000)
	asked := work(30, size)
	asked.Messages = append(asked.Messages, decant.Message{Number: len(asked.Messages) + 1, Role: decant.RoleUser, Blocks: []decant.Block{{
		Ref: decant.Ref{Message: len(asked.Messages) + 1}, Kind: decant.KindText, Author: decant.AuthorUser,
		Content: decant.Text("And what is left to do in " + strings.Repeat("this package, ", 100) + "please?"),
	}}})
	presets := []string{"default", "agent-loop", "orchestrator"}[:testkit.Depth(1, 3)]
	for name, c := range map[string]struct {
		conv  *decant.Conversation
		turns int
		what  string
	}{
		"Answered":    {work(30, size), -1, "a summary of everything"},
		"SummaryOnly": {asked, 0, "a summary of everything"},
		"Unanswered":  {asked, -1, "m63 (user, "},
		"OneMessage":  {asked.With(asked.Messages[len(asked.Messages)-1:]), -1, "m63 (user, "},
	} {
		for _, p := range presets {
			o := options(t, p)
			o.KeepTurns = c.turns
			least := leastOf(t, c.conv, o, 1)
			if !strings.HasPrefix(least.What, c.what) {
				t.Errorf("%s, %s: %v; want it to name %q", name, p, least, c.what)
			}
			o.Target = least.Size
			if _, err := policy.Plan(context.Background(), c.conv, o); err != nil {
				t.Errorf("%s, %s: %d tokens are said to be possible: %v", name, p, least.Size, err)
			}
			if again := leastOf(t, c.conv, o, least.Size-1); again.Size != least.Size {
				t.Errorf("%s, %s: the least is %d and %d", name, p, least.Size, again.Size)
			}
		}
	}
}

// leastOf plans for a target that is too small and returns what is said about it.
func leastOf(t *testing.T, c *decant.Conversation, o policy.PlanOptions, target int) *decant.IrreducibleError {
	t.Helper()
	o.Target = target
	_, err := policy.Plan(context.Background(), c, o)
	var least *decant.IrreducibleError
	if !errors.As(err, &least) {
		t.Fatalf("a target of %d: %v", target, err)
	}
	return least
}
