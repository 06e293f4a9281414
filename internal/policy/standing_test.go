package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A plan leaves what configures the model where it is, and in a session of Codex what the user said.
func TestPlanLeavesWhatConfiguresAndWhatAUserOfCodexSaid(t *testing.T) {
	var src strings.Builder
	line := func(item string) {
		fmt.Fprintf(&src, `{"timestamp":"2026-11-27T08:00:00.000Z","type":"response_item","payload":%s}`+"\n", item)
	}
	fmt.Fprintln(&src, `{"timestamp":"2026-11-27T08:00:00.000Z","type":"session_meta","payload":{"id":"s1"}}`)
	for i := range 8 {
		line(fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"do step %d"}]}`, i))
		line(fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"exec","arguments":"{}"}`, i))
		line(fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%q}`, i, strings.Repeat(fmt.Sprintf("line of result %d\n", i), 300)))
		line(fmt.Sprintf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"rule %d"}]}`, i))
	}
	d, err := wire.ParseAs(wire.Codex, []byte(src.String()))
	if err != nil {
		t.Fatal(err)
	}
	set, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	c := d.Conversation
	plan, err := policy.Plan(t.Context(), c, policy.PlanOptions{
		Model: token.Model{Window: 200_000}, Preset: set, Target: 3000, KeepTurns: -1, Record: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	view, err := plan.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]bool{}
	for i := range view.Messages {
		if m := &view.Messages[i]; m.Number > 0 {
			in[m.Text()] = true
		}
	}
	for i := range 8 {
		for _, want := range []string{fmt.Sprintf("rule %d", i), fmt.Sprintf("do step %d", i)} {
			if !in[want] {
				t.Errorf("%q is no message of the view any more", want)
			}
		}
	}
}
