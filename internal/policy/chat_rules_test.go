package policy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// The rules of the preset chat. Those of pruning are in internal/reduce, those of the flush with the flush.

// chatLimits are the limits of the preset "chat" for a model with a window of a million tokens.
func chatLimits(t *testing.T) (policy.PlanOptions, policy.Limits) {
	t.Helper()
	o := options(t, "chat")
	o.Model.Window = 1_000_000
	l, err := policy.LimitsFor(o.Model, o.Preset, 5000, 8000)
	if err != nil {
		t.Fatal(err)
	}
	return o, l
}

func TestEstimateTokensEmptyMessages(t *testing.T) {
	if n := token.For(options(t, "chat").Model).Messages(nil); n != 0 {
		t.Errorf("no messages have %d tokens", n)
	}
}

func TestEstimateTokensProportionalToContent(t *testing.T) {
	e := token.For(options(t, "chat").Model)
	size := func(n int) float64 {
		c := &talk{}
		c.user(strings.Repeat("The order was shipped on Tuesday. ", n))
		return float64(e.Messages(c.conv.Messages))
	}
	for _, n := range []int{2, 10, 50} {
		if got, want := size(100*n)/size(100), float64(n); got < 0.95*want || got > 1.05*want {
			t.Errorf("%d times as much text has %.2f times as many tokens", n, got)
		}
	}
}

// Nothing is compacted at window less reserve.
func TestShouldCompactBelowThresholdReturnsFalse(t *testing.T) {
	_, l := chatLimits(t)
	if l.Trigger != 200_000-20_000 {
		t.Fatalf("the threshold is %d", l.Trigger)
	}
	for _, n := range []int{0, 100_000, 180_000} {
		if why := policy.Due(policy.Situation{Limits: l, Tokens: n, MaxBytes: 1 << 30}); why != "" {
			t.Errorf("%d tokens are compacted: %s", n, why)
		}
	}
}

// One token more is compacted.
func TestShouldCompactAboveThresholdReturnsTrue(t *testing.T) {
	_, l := chatLimits(t)
	for _, n := range []int{180_001, 500_000} {
		if why := policy.Due(policy.Situation{Limits: l, Tokens: n, MaxBytes: 1 << 30}); why != policy.Necessary {
			t.Errorf("%d tokens are not compacted: %q", n, why)
		}
	}
}

// The flush has its line 4,000 tokens before.
func TestShouldFlushFiresBeforeCompact(t *testing.T) {
	o, l := chatLimits(t)
	f := o.Preset.Flush.Settled()
	if line := l.Trigger - f.Ahead; !f.On || line != 176_000 || line >= l.Trigger {
		t.Errorf("the flush is on: %t, at %d; compaction at %d", f.On, line, l.Trigger)
	}
}

// exchanges is a chat of so many turns, each with one call.
func exchanges(turns int) *decant.Conversation {
	c := &talk{}
	for i := range turns {
		c.user(prose(3*i, 1500))
		c.call("search_mail", `{"query":"order"}`, prose(3*i+1, 3000))
		c.assistant(prose(3*i+2, 1500))
	}
	return &c.conv
}

// compactedChat plans a compaction of a chat to a quarter of its size.
func compactedChat(t *testing.T, c *decant.Conversation, s provider.Summarizer) (*decant.Plan, *decant.Conversation) {
	t.Helper()
	o := options(t, "chat")
	o.Target = token.For(o.Model).Messages(c.Messages) / 4
	p, err := policy.Propose(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	view, err := p.Plan.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan, view
}

// Behind the summary the newest ten messages stand as they were.
func TestCompactPreservesRecentMessages(t *testing.T) {
	c := exchanges(40)
	plan, view := compactedChat(t, c, nil)
	if decant.CheckpointIn(plan.Decisions) == nil {
		t.Fatal("no checkpoint")
	}
	for k := 1; k <= 10; k++ {
		got, want := view.Messages[len(view.Messages)-k], c.Messages[len(c.Messages)-k]
		if got.Number != want.Number || got.Role == decant.RoleAssistant && got.Text() != want.Text() {
			t.Errorf("message %d from the end is %s, want %s as it was", k, got.Name(), want.Name())
		}
	}
}

// A second model is asked for one summary of what goes, which stands behind the preset's marker in its place.
func TestCompactSummarizesOldMessages(t *testing.T) {
	c := exchanges(40)
	asked, through := 0, 0
	plan, view := compactedChat(t, c, summariser(func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		asked++
		through = in.Messages[len(in.Messages)-1].Number
		s, err := policy.Extractive{}.Summarize(ctx, in)
		return provider.Summary{Text: s.Text + "\nNext the invoices of March are compared with the ledger, because two sums differ.", CostUSD: 0.005}, err
	}))
	cp := decant.CheckpointIn(plan.Decisions)
	if asked != 1 || cp == nil || cp.Rung != decant.RungModel || cp.To < through || cp.From != 1 {
		t.Fatalf("asked %d times about messages through m%d, checkpoint %+v", asked, through, cp)
	}
	if cp.CostUSD != 0.005 {
		t.Errorf("the summary cost $%g", cp.CostUSD)
	}
	if text := wire.Text(view.With(view.Messages[:1])); !strings.Contains(text, "[Session compacted. Summary of prior conversation:]") {
		t.Errorf("the first message has no marker:\n%.300s", text)
	}
}

// Whatever model the session has, the summary is written by the one that the preset names, which the catalogue
// knows with its prices.
func TestCompactUsesHaikuModel(t *testing.T) {
	o := options(t, "chat")
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	id := o.Preset.Summary.Model
	m, known := catalog.Lookup(id)
	if id != "claude-haiku-4-5-20251001" || !known || m.ID != "claude-haiku-4-5" {
		t.Errorf("the model is %s (%s, known: %t)", id, m.ID, known)
	}
}

// A session that is not longer than what stays is not compacted.
func TestCompactNoopWhenFewMessages(t *testing.T) {
	c := exchanges(2)
	o := options(t, "chat")
	o.Target = token.For(o.Model).Messages(c.Messages) - 100
	o.Limit, o.Trigger = 180_000, 180_000
	plan, view := planned(t, c, o)
	if decant.CheckpointIn(plan.Decisions) != nil || len(view.Messages) != len(c.Messages) {
		t.Errorf("%d messages became %d", len(c.Messages), len(view.Messages))
	}
}

// A request is measured, then compacted if it is too large, and only then pruned; what is on hold is left alone.
func TestCompactComesBeforePrune(t *testing.T) {
	_, l := chatLimits(t)
	for _, c := range []struct {
		tokens int
		hold   bool
		want   policy.Reason
	}{{180_001, false, policy.Necessary}, {180_000, false, policy.Routine}, {180_000, true, ""}} {
		s := policy.Situation{Limits: l, Tokens: c.tokens, MaxBytes: 1 << 30, Hold: c.hold, Routine: true}
		if why := policy.Due(s); why != c.want {
			t.Errorf("%d tokens, on hold %t: %q, want %q", c.tokens, c.hold, why, c.want)
		}
	}
}
