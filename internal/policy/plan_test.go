package policy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// talk builds conversations message by message.
type talk struct{ conv decant.Conversation }

func (t *talk) say(role decant.Role, blocks ...decant.Block) {
	m := decant.Message{Number: len(t.conv.Messages) + 1, Role: role}
	for i, b := range blocks {
		b.Ref = decant.Ref{Message: m.Number, Block: i}
		m.Blocks = append(m.Blocks, b)
	}
	t.conv.Messages = append(t.conv.Messages, m)
}

func (t *talk) user(text string) {
	t.say(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(text)})
}

func (t *talk) assistant(text string) {
	t.say(decant.RoleAssistant, decant.Block{
		Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text(text),
	})
}

// call adds a round: a call of the tool and its result.
func (t *talk) call(tool, args, result string) {
	id := fmt.Sprintf("toolu_%d", len(t.conv.Messages))
	t.say(decant.RoleAssistant, decant.Block{
		Kind: decant.KindUse, Author: decant.AuthorModel, CallID: id, Name: tool, Content: decant.Text(args),
	})
	t.say(decant.RoleUser, decant.Block{
		Kind: decant.KindResult, Author: decant.AuthorTool, CallID: id, Name: tool,
		Content: decant.Text(result),
	})
}

// prose returns about n characters of lines that say something, different for each seed.
func prose(seed, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of section %d: handler_%d_%d reads pkg/mod%d/file%d.go and returns status %d\n", i,
			seed, seed, i, seed, i, 200+(seed*7+i)%300)
	}
	return b.String()
}

// work is a task with so many calls, each of which returns size characters.
func work(calls, size int) *decant.Conversation {
	t := &talk{}
	t.user("Fix the failing test in pkg/auth/session_test.go and never touch the vendor directory.")
	for i := range calls {
		t.call("Bash", fmt.Sprintf(`{"command":"go test ./pkg/mod%d"}`, i), prose(i, size))
	}
	t.assistant("The tests pass now.")
	return &t.conv
}

func options(t testing.TB, name string) policy.PlanOptions {
	t.Helper()
	p, err := preset.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := catalog.Lookup("claude-sonnet-4-5")
	return policy.PlanOptions{Model: m, Preset: p, KeepTurns: -1}
}

func planned(t testing.TB, c *decant.Conversation, o policy.PlanOptions) (*decant.Plan, *decant.Conversation) {
	t.Helper()
	plan, err := policy.Plan(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	view, err := plan.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	return plan, view
}

func TestPlanDoesNothingUnderTheTarget(t *testing.T) {
	c := work(3, 500)
	plan, view := planned(t, c, options(t, "default"))
	if len(plan.Decisions) > 0 || plan.After != plan.Before {
		t.Errorf("plan %+v, want none", plan)
	}
	if got, want := wire.Text(view), wire.Text(c); got != want {
		t.Errorf("view changed (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestPlanStopsWhenTheTargetIsMet(t *testing.T) {
	o := options(t, "default")
	o.Target = 30_000
	plan, view := planned(t, work(30, 4000), o)
	if plan.After.Messages > o.Target || plan.After.Messages < o.Target/2 {
		t.Errorf("%d tokens after, want at most %d and not half of it", plan.After.Messages, o.Target)
	}
	if last := view.Messages[len(view.Messages)-1]; last.Text() != "The tests pass now." {
		t.Errorf("the last message is %q", last.Text())
	}
}

func TestPlanCoversOnlyWhatItMust(t *testing.T) {
	o := options(t, "default")
	o.Target = 6_000
	plan, view := planned(t, work(60, 3000), o)
	var cp *decant.Checkpoint
	for _, d := range plan.Decisions {
		if d.Checkpoint != nil {
			cp = d.Checkpoint
		}
	}
	if cp == nil || cp.From != 2 || cp.To > 119 {
		t.Fatalf("checkpoint of m%d to m%d, want one from m2 that ends before the tail", cp.From, cp.To)
	}
	if plan.After.Messages > o.Target {
		t.Errorf("%d tokens, target %d", plan.After.Messages, o.Target)
	}
	if first := view.Messages[0]; first.Number != 1 || !strings.Contains(first.Text(), "vendor") {
		t.Errorf("the task is not at the beginning: %q", first.Text())
	}
}

func TestKeepTurnsZeroLeavesOnlyASummary(t *testing.T) {
	o := options(t, "default")
	o.Target, o.KeepTurns = 3_000, 0
	_, view := planned(t, work(30, 3000), o)
	if len(view.Messages) != 1 || view.Messages[0].Number != 0 {
		t.Fatalf("%d messages, want the summary alone", len(view.Messages))
	}
	if text := wire.Text(view); !strings.Contains(text, "vendor") {
		t.Errorf("the user's instruction is not in the summary:\n%s", text)
	}
}

func TestKeepTurnsRaisesTheTail(t *testing.T) {
	c := &talk{}
	for i := range 12 {
		c.user(fmt.Sprintf("question %d about module_%d", i, i))
		c.call("Read", fmt.Sprintf(`{"file_path":"/src/a%d.go"}`, i), prose(i, 3000))
		c.assistant(fmt.Sprintf("answer %d", i))
	}
	o := options(t, "default")
	o.Target, o.KeepTurns = 12_000, 3
	_, view := planned(t, &c.conv, o)
	text := wire.Text(view)
	for i := 9; i < 12; i++ {
		if !strings.Contains(text, prose(i, 3000)[:200]) {
			t.Errorf("the result of turn %d is not verbatim", i)
		}
	}
}

// An unanswered question of the user is never folded away, however small the target.
func TestLiveQuestionIsKept(t *testing.T) {
	c := &talk{}
	c.user("Look around.")
	for i := range 10 {
		c.call("Bash", `{"command":"ls"}`, prose(i, 2000))
	}
	c.assistant("Done.")
	c.user("Which port does the gateway listen on? " + strings.Repeat("It matters. ", 50))
	o := options(t, "default")
	o.Target = 900
	_, view := planned(t, &c.conv, o)
	if last := view.Messages[len(view.Messages)-1]; !strings.Contains(last.Text(), "Which port") {
		t.Errorf("the last message is %q", last.Text())
	}
	o.Target = 50
	_, err := policy.Plan(context.Background(), &c.conv, o)
	var irreducible *decant.IrreducibleError
	if !errors.As(err, &irreducible) || !strings.Contains(irreducible.What, "m23") {
		t.Errorf("error %v, want one that names m23", err)
	}
}

// A tool that the preset pins stays: in place while nothing covers its round, and in the text of the
// checkpoint that does, with the whole batch. That counts towards the target.
func TestCheckpointQuotesPinnedTools(t *testing.T) {
	c := work(60, 3000)
	c.Messages[5].Blocks[0].Name = "get_contract"
	c.Messages[6].Blocks[0].Name = "get_contract"
	original := c.Messages[6].Blocks[0].Text()
	o := options(t, "default")
	pinning := *o.Preset
	pinning.Tools.Pin = []string{"get_*"}
	o.Preset = &pinning
	for _, target := range []int{30_000, 12_000, 6_000} {
		o.Target = target
		plan, view := planned(t, c, o)
		if text := wire.Text(view); strings.Count(text, original) != 1 || !strings.Contains(text, `go test ./pkg/mod2`) {
			t.Errorf("target %d: the pinned result is in the view %d times, want once, with its call", target,
				strings.Count(text, original))
		}
		if plan.After.Messages > target {
			t.Errorf("target %d: the view has %d tokens", target, plan.After.Messages)
		}
		cp := plan.Decisions[len(plan.Decisions)-1].Checkpoint
		if target > 12_000 {
			continue // stubs are enough
		}
		want := []decant.Ref{{Message: 6}, {Message: 7}}
		if cp == nil || cp.To < 7 || !cmp.Equal(cp.Pins, want) {
			t.Errorf("target %d: checkpoint %+v, want one that covers m7 and pins %v", target, cp, want)
		}
	}
}

func TestFixedPartTooLarge(t *testing.T) {
	c := work(2, 100)
	c.Fixed.System = []decant.Block{{Kind: decant.KindText, Content: decant.Text(strings.Repeat("rule 17 applies. ", 60_000))}}
	if _, err := policy.Plan(context.Background(), c, options(t, "default")); !errors.Is(err, decant.ErrFixed) {
		t.Errorf("error %v, want ErrFixed", err)
	}
}

func TestPlanForAnotherConversationIsRefused(t *testing.T) {
	o := options(t, "default")
	o.Target = 5_000
	c := work(30, 2000)
	plan, _ := planned(t, c, o)
	if _, err := plan.Apply(work(31, 2000)); !errors.Is(err, decant.ErrStale) {
		t.Errorf("error %v, want ErrStale", err)
	}
	if _, err := plan.Apply(c); err != nil {
		t.Errorf("applied a second time: %v", err)
	}
}

// First message and last six protected, pairs whole, the summary joins the first message
// between markers, roles alternate.
func TestAgentLoopPreset(t *testing.T) {
	c := &talk{}
	c.user("Execute the job search prompt from search-prompt.txt")
	for i := range 40 {
		c.call("linkedin_job_detail", fmt.Sprintf(`{"id":%d}`, i), prose(i, 9000))
	}
	c.assistant("Scored.")
	c.user("Search again, remote only.")
	o := options(t, "agent-loop")
	plan, view := planned(t, &c.conv, o)
	if plan.Before.Messages <= 80_000 {
		t.Fatalf("the conversation has %d tokens only", plan.Before.Messages)
	}
	ms := view.Messages
	first := ms[0].Text()
	if ms[0].Number != 1 || !strings.HasPrefix(first, "Execute the job search") ||
		!strings.Contains(first, "[CONTEXT SUMMARY]\n") || !strings.HasSuffix(first, "\n[END CONTEXT SUMMARY]") {
		t.Errorf("first message:\n%s", first)
	}
	for i := 1; i < len(ms); i++ {
		if ms[i].Role == ms[i-1].Role {
			t.Errorf("messages %d and %d are both of the %s", i-1, i, ms[i].Role)
		}
	}
	tail := 0
	for _, m := range ms[1:] {
		if m.Number > 0 {
			tail++
		}
	}
	if tail < 6 {
		t.Errorf("%d messages of the tail are left, want 6 or more", tail)
	}
}

// A backstop of fifty messages dropped the protected first message and split pairs.
func TestAgentLoopBackstop(t *testing.T) {
	o := options(t, "agent-loop")
	if plan, _ := planned(t, work(60, 200), o); len(plan.Decisions) > 0 { // under 80,000 tokens nothing happens
		t.Errorf("%d decisions about %d tokens, want none", len(plan.Decisions), plan.Before.Messages)
	}
	c := work(60, 6000)
	_, view := planned(t, c, o)
	if len(view.Messages) > 50 {
		t.Errorf("%d messages, want 50 at most", len(view.Messages))
	}
	if view.Messages[0].Number != 1 {
		t.Error("the first message is gone")
	}
	if bad := legal.Check(view, legal.RulesFor(legal.Messages, o.Model, decant.ThinkingOff)); len(bad) > 0 {
		t.Errorf("illegal: %v", bad)
	}
}

// The preset cuts every result at 40,000 characters, also where nothing else is to be done.
func TestAgentLoopCapsResults(t *testing.T) {
	c := &talk{}
	c.user("Go.")
	c.call("Bash", `{"command":"cat log"}`, prose(1, 90_000))
	c.assistant("Long.")
	plan, view := planned(t, &c.conv, options(t, "agent-loop"))
	if n := len(view.Messages[2].Text()); n > 41_500 || len(plan.Decisions) != 1 {
		t.Errorf("the result has %d characters after %d decisions", n, len(plan.Decisions))
	}
}

// Strictly above 80,000 tokens, and the newest ten messages stay.
func TestOrchestratorPreset(t *testing.T) {
	plan, view := planned(t, work(40, 8000), options(t, "orchestrator"))
	if plan.Before.Messages <= 80_000 {
		t.Fatalf("the conversation has %d tokens only", plan.Before.Messages)
	}
	n := len(view.Messages)
	if view.Messages[0].Number != 0 || n < 11 || view.Messages[n-10].Number == 0 || n > 13 {
		t.Errorf("%d messages, the first is m%d; want a checkpoint and the newest ten", n, view.Messages[0].Number)
	}
	for _, m := range view.Messages[1:] {
		for _, b := range m.Blocks {
			if b.Changed != "" {
				t.Errorf("%s was changed", m.Name())
			}
		}
	}
}

// Soft trim to 1500 + 1500 above 4000 characters beyond three assistant
// turns, hard clear beyond ten, user and assistant text and images never touched.
func TestChatPreset(t *testing.T) {
	c := work(14, 5000)
	img := decant.Block{
		Kind: decant.KindResult, CallID: "toolu_x", Name: "shot", Content: decant.Text(prose(99, 6000)),
		Media: decant.Media{Type: "image/png", Count: 1, Bytes: 100},
	}
	c.Messages[2].Blocks = append(c.Messages[2].Blocks, img)
	before := wire.Text(c)
	_, view := planned(t, c, options(t, "chat"))
	assistants := 0
	for i := len(view.Messages) - 1; i >= 0; i-- {
		m, orig := view.Messages[i], c.Messages[i]
		if m.Role == decant.RoleAssistant {
			assistants++
		}
		if m.Blocks[0].Kind != decant.KindResult {
			if m.Text() != orig.Text() {
				t.Errorf("%s of the %s was changed", m.Name(), m.Role)
			}
			continue
		}
		got, full := m.Blocks[0].Text(), orig.Blocks[0].Text()
		want := full
		switch {
		case assistants >= 10:
			want = "[Tool result cleared]"
		case assistants >= 3:
			want = full[:1500] + "..." + full[len(full)-1500:]
		}
		if got != want {
			t.Errorf("result in %s, %d assistant turns back, has %d characters: %.60q", m.Name(), assistants, len(got), got)
		}
		if len(m.Blocks) > 1 && m.Blocks[1].Text() != img.Text() {
			t.Error("a result with an image was changed")
		}
	}
	if wire.Text(c) != before {
		t.Error("the stored history was changed")
	}
}

// Whatever the conversation and the target, the plan's view is legal and within the target, or the
// error is typed and nothing has changed.
func TestPlanIsLegalOrRefused(t *testing.T) {
	o := options(t, "default")
	rules := legal.RulesFor(legal.Messages, o.Model, decant.ThinkingOff)
	rules.Prefill = true
	rapid.Check(t, func(r *rapid.T) {
		c := drawTalk(r)
		o := o
		o.Target = rapid.IntRange(20, 20_000).Draw(r, "target")
		o.KeepTurns = rapid.IntRange(-1, 4).Draw(r, "turns")
		before := wire.Text(c)
		plan, err := policy.Plan(context.Background(), c, o)
		if wire.Text(c) != before {
			r.Fatal("planning changed the conversation")
		}
		var irreducible *decant.IrreducibleError
		if errors.As(err, &irreducible) {
			return
		}
		if err != nil {
			r.Fatal(err)
		}
		view, err := plan.Apply(c)
		if err != nil {
			r.Fatal(err)
		}
		if bad := legal.Check(view, rules); len(bad) > 0 {
			r.Fatalf("illegal: %v", bad)
		}
		if n := token.For(o.Model).Messages(view.Messages); n > o.Target {
			r.Fatalf("%d tokens, target %d", n, o.Target)
		}
	})
}

// drawTalk draws a legal conversation.
func drawTalk(r *rapid.T) *decant.Conversation {
	t := &talk{}
	t.user(rapid.StringMatching(`[a-z]{3,8}( [a-z./]{2,12}){2,30}`).Draw(r, "task"))
	for i := range rapid.IntRange(0, 25).Draw(r, "rounds") {
		switch rapid.IntRange(0, 4).Draw(r, "kind") {
		case 0:
			t.assistant(prose(i, rapid.IntRange(1, 900).Draw(r, "size")))
			t.user(rapid.StringMatching(`[a-z]{3,8}( [a-z]{2,12}){1,40}`).Draw(r, "words"))
		case 1:
			t.call("Read", fmt.Sprintf(`{"file_path":"/src/f%d.go"}`, i%4), prose(i%4, rapid.IntRange(1, 6000).Draw(r, "size")))
		default:
			t.call("Bash", fmt.Sprintf(`{"command":"make step%d"}`, i), prose(i, rapid.IntRange(1, 6000).Draw(r, "size")))
		}
	}
	return &t.conv
}

// Because the newest result alone was larger than the target, all 442 messages became one summary.
func TestOneLargeResultIsCutAndTheNewestRoundsStay(t *testing.T) {
	c := &talk{}
	c.user("Fix the vendor list.")
	for i := range 100 {
		c.assistant(fmt.Sprintf("looking at module_%d now", i))
		c.call("Bash", fmt.Sprintf(`{"command":"cat /src/a%d.go"}`, i), prose(i, 1200))
	}
	var listing strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&listing, "./src/some/dir/file_number_%d.go\n", i)
	}
	c.call("Bash", `{"command":"find . -name '*.go'"}`, listing.String())
	for _, target := range []int{8_000, 12_000, 22_000} {
		o := options(t, "default")
		o.Target = target
		plan, view := planned(t, &c.conv, o)
		if plan.After.Messages > target || plan.After.Messages < target*4/5 {
			t.Errorf("target %d: %d tokens, want the room to be used", target, plan.After.Messages)
		}
		n := len(view.Messages)
		newest, before := view.Messages[n-1], view.Messages[n-3]
		if !strings.Contains(newest.Text(), "file_number_0.go") || !strings.Contains(newest.Text(), "left out") {
			t.Errorf("target %d: the listing is not there with a mark", target)
		}
		if target > 10_000 && (before.Number != newest.Number-2 || len(before.Text()) < 1000) {
			t.Errorf("target %d: the round before it is not verbatim", target)
		}
	}
}

// What was asked to stay and could not was left out without a word.
func TestWhatCouldNotBeKeptIsSaid(t *testing.T) {
	c := &talk{}
	for i := range 30 {
		c.user(fmt.Sprintf("question %d about module_%d", i, i))
		c.call("Read", fmt.Sprintf(`{"file_path":"/src/a%d.go"}`, i), prose(i, 3000))
		c.assistant(fmt.Sprintf("answer %d", i))
	}
	for _, tt := range []struct {
		name        string
		turns, keep int
		target      int
		want        string
	}{
		{"Turns", 99, 0, 8_000, "of the 99 newest turns that were to stay"},
		{"Tokens", -1, 20_000, 8_000, "of the 20,000 tokens that were to stay"},
		{"AsAsked", 2, 0, 8_000, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, "default")
			o.Target, o.KeepTurns, o.Keep = tt.target, tt.turns, tt.keep
			plan, _ := planned(t, &c.conv, o)
			if got := strings.Join(plan.Notes, "\n"); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got the notes %q, want %q", got, tt.want)
			}
		})
	}
}
