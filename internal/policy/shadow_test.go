package policy_test

import (
	"slices"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
)

func spoken(n int, role decant.Role, text string) decant.Message {
	return decant.Message{
		Number: n, Role: role,
		Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(text), Ref: decant.Ref{Message: n}}},
	}
}

// A record lacks what the model has used since, stands in what is covered, and is not in the record. What the
// record has, what is covered by nothing and what others say is not lacking.
func TestLacks(t *testing.T) {
	c := &decant.Conversation{Messages: []decant.Message{
		spoken(1, decant.RoleUser, "The limit in pkg/limits/rate.go is 40213, the other in pkg/limits/burst.go."),
		spoken(2, decant.RoleAssistant, "I read pkg/limits/rate.go."),
		spoken(3, decant.RoleUser, "Go on."),
		spoken(4, decant.RoleAssistant, "Then pkg/limits/burst.go, pkg/limits/rate.go and pkg/new/file.go."),
		spoken(5, decant.RoleUser, "And 40213?"),
	}}
	cp := &decant.Checkpoint{From: 1, To: 2, Summary: "pkg/limits/rate.go was read."}
	for _, tt := range []struct {
		from int
		want []string
	}{{2, []string{"pkg/limits/burst.go", "burst.go"}}, {4, nil}, {9, nil}} {
		if got := policy.Lacks(t.Context(), c, cp, tt.from); !slices.Equal(got, tt.want) {
			t.Errorf("from %d: %q, want %q", tt.from, got, tt.want)
		}
	}
}

// A plan that was made ahead is right as long as about as much has come as was expected.
func TestExpected(t *testing.T) {
	plan := &decant.Plan{Target: 40_000}
	plan.After.Messages = 39_500
	for more, want := range map[int]bool{0: true, 4500: true, 4501: false, -4000: true, -4001: false} {
		if got := policy.Expected(plan, more, 40_000, 80_000); got != want {
			t.Errorf("%d more: %v", more, got)
		}
	}
}

// A plan for what is to come leaves room for it, and says what it will be.
func TestAPlanLeavesRoomForWhatComes(t *testing.T) {
	c, o := work(40, 6000), options(t, "default")
	o.Target, o.Trigger, o.Limit = 30_000, 60_000, 90_000
	now, err := policy.Plan(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Coming = 3000
	later, err := policy.Plan(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if later.Before.Messages != now.Before.Messages+3000 || later.After.Messages > max(o.Target, later.Target) {
		t.Errorf("before %d and %d, after %d of %d", now.Before.Messages, later.Before.Messages, later.After.Messages,
			o.Target)
	}
	if a, b := decant.CheckpointIn(later.Decisions), decant.CheckpointIn(now.Decisions); a == nil || b == nil ||
		a.To < b.To {
		t.Errorf("it covers less: %v, %v", a, b)
	}
}
