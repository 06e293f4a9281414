package legal_test

import (
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/legal"
	"github.com/google/go-cmp/cmp"
)

// Section 11 of the reference: what breaks the binding of thinking to its prefix and what keeps it.
func TestBinding(t *testing.T) {
	original := func() *decant.Conversation {
		c := talk(
			user(text("task")),
			model(think("1"), text("ok"), use("a")), user(result("a")),
			model(think("2"), use("b")), user(result("b")),
			model(think("3"), text("done")), user(text("thanks")),
		)
		c.Fixed.System = []decant.Block{text("be brief")}
		c.Fixed.Tools = []decant.Tool{{Name: "Read", Schema: decant.Text("{}")}}
		return c
	}
	without := func(ms []decant.Message, which ...int) []decant.Message {
		for _, i := range which {
			ms[i].Blocks = ms[i].Blocks[1:]
		}
		return ms
	}
	shorten := func(m *decant.Message, k int) {
		m.Blocks[k].Content, m.Blocks[k].Changed = decant.Text("stub"), "d1"
	}
	bound, gap := legal.ThinkingBound, legal.ThinkingGap
	tests := []struct {
		name   string
		change func(ms []decant.Message) []decant.Message
		want   []legal.Rule
	}{
		{"11 Unchanged", func(ms []decant.Message) []decant.Message { return ms }, nil},
		{"11 Appended", func(ms []decant.Message) []decant.Message { return append(ms, model(text("more"))) }, nil},
		{"11 MarkerMoved", func(ms []decant.Message) []decant.Message {
			ms[0].Blocks[0].Cache = "5m"
			return ms
		}, nil},
		{"11 AllThinkingRemoved", func(ms []decant.Message) []decant.Message { return without(ms, 1, 3, 5) }, nil},
		{"11 RemovedFromTheStart", func(ms []decant.Message) []decant.Message { return without(ms, 1, 3) }, nil},
		{"11 RemovedFromTheEnd", func(ms []decant.Message) []decant.Message { return without(ms, 3, 5) }, nil},
		{"11 RemovedFromTheMiddle", func(ms []decant.Message) []decant.Message { return without(ms, 3) }, []legal.Rule{gap}},
		{"11 OldResultShortened", func(ms []decant.Message) []decant.Message {
			shorten(&ms[2], 0)
			return ms
		}, []legal.Rule{bound, bound}},
		{"11 OldResultShortenedAndThinkingBehindItRemoved", func(ms []decant.Message) []decant.Message {
			shorten(&ms[2], 0)
			return without(ms, 3, 5)
		}, nil},
		{"11 NewestResultShortened", func(ms []decant.Message) []decant.Message {
			shorten(&ms[6], 0)
			return ms
		}, nil},
		{"11 MessageDeleted", func(ms []decant.Message) []decant.Message { return ms[1:] }, []legal.Rule{bound, bound, bound}},
		{"11 MessageInserted", func(ms []decant.Message) []decant.Message {
			return append([]decant.Message{user(text("summary"))}, ms...)
		}, []legal.Rule{bound, bound, bound}},
		{"11 OtherThinking", func(ms []decant.Message) []decant.Message {
			ms[1].Blocks[0] = think("forged")
			return ms
		}, []legal.Rule{bound}}, // those behind it stand as if the first had been removed
	}
	rules := rulesFor(t, legal.Messages, "claude-opus-5-5", decant.ThinkingAdaptive)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := original()
			got := legal.CheckEdit(c, edit(c, tt.change), rules)
			if diff := cmp.Diff(tt.want, rulesOf(got)); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", got, diff)
			}
		})
	}
	t.Run("11 SystemChanged", func(t *testing.T) {
		c := original()
		view := edit(c, func(ms []decant.Message) []decant.Message { return ms })
		view.Fixed.System = []decant.Block{text("be long")}
		if got := legal.CheckEdit(c, view, rules); len(got) != 3 {
			t.Errorf("got %v, want all three", got)
		}
	})
	t.Run("11 UnboundModel", func(t *testing.T) {
		c := original()
		view := edit(c, func(ms []decant.Message) []decant.Message { return ms[1:] })
		if got := legal.CheckEdit(c, view, rulesFor(t, legal.Messages, "claude-opus-5", "")); got != nil {
			t.Errorf("got %v", got)
		}
	})
}
