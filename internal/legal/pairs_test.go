package legal_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
)

// A call needs its result in the next message wherever it stands: also in the first message of all, which is
// the assistant's where a provider's summary stands there. What is wrong is reported where it is, and nothing
// else.
func TestPairsAreCheckedWhereverTheyStand(t *testing.T) {
	const rounds = 4
	summary := opaque(`{"type":"compaction","content":"summary","signature":"x"}`)
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", decant.ThinkingAdaptive)
	for name, c := range map[string]struct {
		change func(call, result *decant.Message, id string)
		want   legal.Rule // empty: it stays legal
		at     int        // message after that of the call
	}{
		"nothing":         {change: func(_, _ *decant.Message, _ string) {}},
		"no result":       {func(_, r *decant.Message, _ string) { r.Blocks = []decant.Block{text("go on")} }, legal.ToolResultMissing, 0},
		"another's":       {func(_, r *decant.Message, id string) { r.Blocks = []decant.Block{result(id), result("other")} }, legal.ToolResultOrphan, 1},
		"a second result": {func(_, r *decant.Message, id string) { r.Blocks = append(r.Blocks, result(id)) }, legal.ToolResultOrphan, 1},
		"a second call":   {func(c, _ *decant.Message, _ string) { c.Blocks = append(c.Blocks, use("unanswered")) }, legal.ToolResultMissing, 0},
		"no call":         {func(c, _ *decant.Message, _ string) { c.Blocks = []decant.Block{summary} }, legal.ToolResultOrphan, 1},
		"behind words":    {func(_, r *decant.Message, id string) { r.Blocks = []decant.Block{text("wait"), result(id)} }, legal.ToolResultsFirst, 1},
		"before words":    {change: func(_, r *decant.Message, id string) { r.Blocks = []decant.Block{result(id), text("go on")} }},
		"the same twice": {func(c, r *decant.Message, id string) {
			c.Blocks = append(c.Blocks, use(id))
			r.Blocks = append(r.Blocks, result(id))
		}, legal.CallIDUnique, 0},
	} {
		for round := range rounds {
			ms := make([]decant.Message, 0, 2*rounds)
			for i := range rounds {
				id := fmt.Sprint("call_", i)
				ms = append(ms, model(use(id)), user(result(id)))
			}
			ms[0].Blocks = append([]decant.Block{summary}, ms[0].Blocks...)
			c.change(&ms[2*round], &ms[2*round+1], fmt.Sprint("call_", round))
			var want []string
			if c.want != "" {
				want = []string{fmt.Sprintf("m%d %s", 2*round+1+c.at, c.want)}
			}
			var got []string
			for _, v := range legal.Check(talk(ms...), rules) {
				got = append(got, fmt.Sprintf("m%d %s", v.Message, v.Rule))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, round %d (-want +got):\n%s", name, round, diff)
			}
		}
	}
}
