package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/provider"
)

// A credulous dialect takes whatever stands first in an answer for the summary of a provider.
type credulous struct{ anthropic.Dialect }

func (credulous) Compaction(content []byte) (dialect.ProviderSummary, bool) {
	return dialect.ProviderSummary{Source: strings.TrimSuffix(strings.TrimPrefix(string(content), "["), "]"), Text: "Half of the work is done."}, true
}

// A pour leaves only with a view that is legal, that the window has room for, whoever has written what is in it:
// what a provider's summary would make of the request is looked at like anything else, and the next route takes over.
func TestOnlyLegalPoursWithinTheWindowLeave(t *testing.T) {
	const window = 13_000 // so large that history is summarised before results are cleared
	summary := func(words int) string {
		return fmt.Sprintf(`[{"type":"compaction","content":"%s","signature":"c2ln"}]`, strings.Repeat("done ", words))
	}
	for name, c := range map[string]struct {
		says  string
		taken bool
	}{
		"Small":          {summary(30), true},
		"Long":           {summary(4_000), true},
		"TooLarge":       {summary(7_200), false},                                                                  // more than the window leaves beside an answer
		"LargerThanEver": {summary(9_200), false},                                                                  // more than the window
		"Illegal":        {`[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]`, false}, // a call without its result
	} {
		t.Run(name, func(t *testing.T) {
			b, q := newCompacter(t, engine.Options{Window: window})
			q.says = []byte(c.says)
			q.post = func(r *provider.Request) (int, string) { return 200, `{"content":[],"stop_reason":"end_turn"}` }
			for n := range 8 {
				b.round(n, output(fmt.Sprint("call_", n), 20))
			}
			b.round(8, output("call_8", 133)) // stays, and is shortened at first sight: the pour frees enough under any of these summaries
			p, err := b.engine.Prepare(t.Context(), &engine.Request{Session: b.session, Upstream: b.upstream, Body: b.body(), Dialect: credulous{}})
			if err != nil || p.Fault != nil {
				t.Fatal(err, p.Fault)
			}
			if taken := p.Report.Route == compacted; taken != c.taken || len(q.asked) != 1 {
				t.Errorf("asked %d times, poured by the route %q: %d tokens became %d", len(q.asked), p.Report.Route, p.Report.Before, p.Report.After)
			}
			if p.Report.Reason == "" || p.Report.After > window*3/4 {
				t.Errorf("poured (%q): %d tokens leave", p.Report.Reason, p.Report.After)
			}
			model, _ := catalog().Lookup(b.model)
			if broken := legal.Check(p.View(), legal.RulesFor(legal.Messages, model, p.View().Thinking)); len(broken) > 0 {
				t.Errorf("what leaves is not legal: %v", broken)
			}
		})
	}
}
