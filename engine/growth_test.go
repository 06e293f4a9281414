package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// many are requests with many things of a kind, as the messages of a body.
var many = []struct {
	name     string
	quick    int // of them, at quick depth
	messages func(n int) []string
}{
	{"messages", 128, func(n int) []string { return repeated(n, spoken("user", `"q"`), spoken("assistant", `"a"`)) }},
	{"words of the user", 128, func(n int) []string { return repeated(n, spoken("user", `"q"`)) }},
	{"calls", 128, func(n int) []string {
		return repeated(n/2, spoken("assistant", `[{"type":"tool_use","id":"t%[1]d","name":"Bash","input":{}}]`), spoken("user", `[{"type":"tool_result","tool_use_id":"t%[1]d","content":"r"}]`))
	}},
	{"calls of one answer", 32, func(n int) []string {
		return append([]string{spoken("user", `"q"`)}, manyCalls(n)...)
	}},
	{"blocks", 128, func(n int) []string { return []string{spoken("user", list(n, `{"type":"text","text":"b"}`))} }},
	{"markers", 128, func(n int) []string {
		return []string{spoken("user", list(n, `{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}`))}
	}},
	{"summaries of the provider", 128, func(n int) []string {
		return repeated(n/2, spoken("user", `"q"`), spoken("assistant", `[{"type":"compaction","content":"s"}]`))
	}},
}

func spoken(role, content string) string { return `{"role":"` + role + `","content":` + content + `}` }

// list returns a list of n values.
func list(n int, format string) string { return "[" + strings.Join(repeated(n, format), ",") + "]" }

// repeated returns the formats n times over, with the number of the round in them.
func repeated(n int, formats ...string) []string {
	var out []string
	for i := range n {
		for _, f := range formats {
			if strings.Contains(f, "%") {
				f = fmt.Sprintf(f, i)
			}
			out = append(out, f)
		}
	}
	return out
}

// manyCalls returns an answer of n calls whose results are shortened as they arrive.
func manyCalls(n int) []string {
	return []string{
		spoken("assistant", list(n, `{"type":"tool_use","id":"t%d","name":"Bash","input":{}}`)),
		spoken("user", list(n, `{"type":"tool_result","tool_use_id":"t%d","content":"`+strings.Repeat(`downloading\r`, 20)+`done"}`)),
	}
}

func bodyOf(messages ...string) []byte {
	return []byte(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[` + strings.Join(messages, ",") + `]}`)
}

// TestWorkGrowsWithTheNumberOfThings prepares requests of many small things: new ones, those that continue a
// conversation, and those that bring all of it in their last round.
func TestWorkGrowsWithTheNumberOfThings(t *testing.T) {
	more := []string{spoken("assistant", `"more"`), spoken("user", `"end"`)}
	for i, c := range many {
		t.Run(c.name+", new", func(t *testing.T) {
			testkit.Linear(t, testkit.Depth(c.quick, 256), func(n int) func() { return prepared(t, nil, append(c.messages(n), more...)) })
		})
		if i > 0 && !testkit.Full() { // each stores what it is about
			continue
		}
		t.Run(c.name+", known", func(t *testing.T) {
			testkit.Linear(t, testkit.Depth(64, 256), func(n int) func() {
				first := append(c.messages(n), more...)
				return prepared(t, first, append(first, more...))
			})
		})
	}
	t.Run("results that arrive", func(t *testing.T) {
		testkit.Linear(t, testkit.Depth(32, 128), func(n int) func() {
			first := []string{spoken("user", `"q"`)}
			return prepared(t, first, append(first, manyCalls(n)...))
		})
	})
}

// prepared returns what prepares a request, in a window that has room for all of it, after another one was answered.
func prepared(t *testing.T, first, second []string) func() {
	t.Helper()
	e, err := engine.New(emptyStore(t), engine.Options{Timeouts: sandboxtest.Patient, Window: 100_000_000, NoEarlyPours: true, Logger: testkit.StrictLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	prepare := func(messages []string) *engine.Prepared {
		p, err := e.Prepare(t.Context(), &engine.Request{Session: "s", Body: bodyOf(messages...)})
		if err != nil || p.Fault != nil {
			t.Fatal(err, p.Fault)
		}
		return p
	}
	if first != nil {
		p := prepare(first)
		e.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: 10, Output: 50}})
	}
	return func() { e.Finish(prepare(second), engine.Response{}) }
}
