package legal_test

import (
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/google/go-cmp/cmp"
)

// What breaks the binding of thinking to its prefix and what keeps it.
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
		{"thinking-bound Unchanged", func(ms []decant.Message) []decant.Message { return ms }, nil},
		{
			"thinking-bound Appended",
			func(ms []decant.Message) []decant.Message { return append(ms, model(text("more"))) }, nil,
		},
		{"thinking-bound MarkerMoved", func(ms []decant.Message) []decant.Message {
			ms[0].Blocks[0].Cache = "5m"
			return ms
		}, nil},
		{
			"thinking-bound AllThinkingRemoved",
			func(ms []decant.Message) []decant.Message { return without(ms, 1, 3, 5) }, nil,
		},
		{"thinking-bound RemovedFromTheStart", func(ms []decant.Message) []decant.Message { return without(ms, 1, 3) }, nil},
		{"thinking-bound RemovedFromTheEnd", func(ms []decant.Message) []decant.Message { return without(ms, 3, 5) }, nil},
		{
			"thinking-gap RemovedFromTheMiddle",
			func(ms []decant.Message) []decant.Message { return without(ms, 3) }, []legal.Rule{gap},
		},
		{"thinking-bound OldResultShortened", func(ms []decant.Message) []decant.Message {
			shorten(&ms[2], 0)
			return ms
		}, []legal.Rule{bound, bound}},
		{"thinking-bound OldResultShortenedAndThinkingBehindItRemoved", func(ms []decant.Message) []decant.Message {
			shorten(&ms[2], 0)
			return without(ms, 3, 5)
		}, nil},
		{"thinking-bound NewestResultShortened", func(ms []decant.Message) []decant.Message {
			shorten(&ms[6], 0)
			return ms
		}, nil},
		{
			"thinking-bound MessageDeleted", func(ms []decant.Message) []decant.Message { return ms[1:] },
			[]legal.Rule{bound, bound, bound},
		},
		{"thinking-bound MessageInserted", func(ms []decant.Message) []decant.Message {
			return append([]decant.Message{user(text("summary"))}, ms...)
		}, []legal.Rule{bound, bound, bound}},
		{"thinking-bound OtherThinking", func(ms []decant.Message) []decant.Message {
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
	t.Run("thinking-bound SystemChanged", func(t *testing.T) {
		c := original()
		view := edit(c, func(ms []decant.Message) []decant.Message { return ms })
		view.Fixed.System = []decant.Block{text("be long")}
		if got := legal.CheckEdit(c, view, rules); len(got) != 3 {
			t.Errorf("got %v, want all three", got)
		}
	})
	t.Run("thinking-bound UnboundModel", func(t *testing.T) {
		c := original()
		view := edit(c, func(ms []decant.Message) []decant.Message { return ms[1:] })
		if got := legal.CheckEdit(c, view, rulesFor(t, legal.Messages, "claude-opus-5", "")); got != nil {
			t.Errorf("got %v", got)
		}
	})
}
