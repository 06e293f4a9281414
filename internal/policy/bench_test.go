package policy_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// body returns a Messages request of at least n bytes made of the bundled sessions, over and over.
func body(tb testing.TB, n int) []byte {
	tb.Helper()
	one, two := recorded.Session(tb, recorded.Claude).Conversation, recorded.Session(tb, recorded.Codex).Conversation
	var out []byte
	for ms := []decant.Message(nil); len(out) < n; {
		for _, m := range append(one.Messages, two.Messages...) {
			if m.Role == decant.RoleSystem {
				continue
			}
			m.Number = len(ms) + 1
			m.Blocks = append([]decant.Block(nil), m.Blocks...)
			for i := range m.Blocks {
				m.Blocks[i].Ref = decant.Ref{Message: m.Number, Block: i}
			}
			ms = append(ms, m)
		}
		legalMessages, _ := legal.Repair(legal.Messages, ms)
		var err error
		if out, err = wire.Encode(&decant.Conversation{Model: "claude-sonnet-4-5", Messages: legalMessages},
			wire.Anthropic); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// compacted does what "decant compact" does, from bytes to bytes.
func compacted(tb testing.TB, src []byte, o policy.PlanOptions) []byte {
	tb.Helper()
	doc, err := wire.Parse(src)
	if err != nil {
		tb.Fatal(err)
	}
	o.Target = token.For(o.Model).Messages(doc.Conversation.Messages) / 10
	plan, err := policy.Plan(context.Background(), doc.Conversation, o)
	if err != nil {
		tb.Fatal(err)
	}
	view, err := plan.Apply(doc.Conversation)
	if err != nil {
		tb.Fatal(err)
	}
	rules := legal.RulesFor(legal.Messages, o.Model, decant.ThinkingOff)
	rules.Prefill = true
	if view, _, err = legal.Mend(view, rules); err != nil {
		tb.Fatal(err)
	}
	out, err := doc.Render(view)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// BenchmarkCompact takes a request from bytes to bytes at a tenth of its tokens. To reach: 150 ms for
// 1 MB on one core, at most 4.4 times that for 4 MB.
func BenchmarkCompact(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1MB", 1 << 20}, {"4MB", 4 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			src, o := body(b, size.n), options(b, "default")
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				compacted(b, src, o)
			}
		})
	}
}

// Compacting is deterministic, and the result of compacting is legal to compact again.
func TestCompactRealSessions(t *testing.T) {
	src, o := body(t, 1<<18), options(t, "default")
	first := compacted(t, src, o)
	if again := compacted(t, src, o); !bytes.Equal(first, again) {
		t.Error("the same input gave different bytes")
	}
	if len(first) > len(src)/5 {
		t.Errorf("%d bytes from %d", len(first), len(src))
	}
	if second := compacted(t, first, o); len(second) > len(first) {
		t.Errorf("compacted again: %d bytes from %d", len(second), len(first))
	}
}
