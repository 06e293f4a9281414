package engine_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
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
	t.Run("tools", func(t *testing.T) {
		testkit.Linear(t, testkit.Depth(64, 256), func(n int) func() {
			tools := list(n, `{"name":"tool_%d","description":"d","input_schema":{"type":"object"}}`)
			body := bytes.Replace(bodyOf(spoken("user", `"q"`)), []byte(`"messages"`), []byte(`"tools":`+tools+`,"messages"`), 1)
			return grown(t, roomy, nil, body)
		})
	})
	t.Run("conversations", func(t *testing.T) {
		testkit.Linear(t, testkit.Depth(8, 32), func(n int) func() {
			e := started(t, roomy)
			return func() {
				for i := range n {
					prepareAndFinish(t, e, fmt.Sprint("s", i), bodyOf(spoken("user", fmt.Sprintf(`"q%d"`, i))), decant.Usage{})
				}
			}
		})
	})
	t.Run("results that arrive", func(t *testing.T) {
		testkit.Linear(t, testkit.Depth(32, 128), func(n int) func() {
			first := []string{spoken("user", `"q"`)}
			return prepared(t, first, append(first, manyCalls(n)...))
		})
	})
}

// TestAllocationsGrowWithTheNumberOfThings counts what a request of many things allocates that is seen for the first time, and
// one of twice as many.
func TestAllocationsGrowWithTheNumberOfThings(t *testing.T) {
	const n = 512
	for _, c := range many {
		t.Run(c.name, func(t *testing.T) {
			e, turn := started(t, roomy), 0
			count := func(n int) float64 {
				body := bodyOf(append(c.messages(n), spoken("assistant", `"more"`), spoken("user", `"end"`))...)
				least := math.Inf(1) // whatever else runs in the process adds to it
				for range 3 {
					least = min(least, testing.AllocsPerRun(1, func() {
						turn++
						prepareAndFinish(t, e, fmt.Sprint("s", turn), body, decant.Usage{})
					}))
				}
				return least
			}
			if once, twice := count(n), count(2*n); twice > 2.2*once {
				t.Errorf("%d allocate %.0f times, %d allocate %.0f times", n, once, 2*n, twice)
			}
		})
	}
}

// TestPoursGrowWithTheNumberOfThings prepares requests of which two thirds do not fit: so they are poured, and what is decided
// is stored with all that they bring.
func TestPoursGrowWithTheNumberOfThings(t *testing.T) {
	for i, c := range many[:3] {
		if i == 1 && !testkit.Full() { // it lies between the others
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			testkit.Linear(t, testkit.Depth(96, 512), func(n int) func() {
				body := bodyOf(append(c.messages(n), spoken("assistant", `"more"`), spoken("user", `"end"`))...)
				const bytesPerToken = 5
				e, turn := started(t, len(body)/bytesPerToken/3), 0
				return func() {
					turn++
					if p := prepareAndFinish(t, e, fmt.Sprint("s", turn), body, decant.Usage{}); p.Report.Reason != policy.Necessary {
						t.Fatalf("%d tokens were not poured", p.Report.Before)
					}
				}
			})
		})
	}
}

// roomy is a window that has room for everything.
const roomy = 100_000_000

// prepared returns what prepares a request, in a window that has room for all of it, after another one was answered.
func prepared(t *testing.T, first, second []string) func() {
	t.Helper()
	if first == nil {
		return grown(t, roomy, nil, bodyOf(second...))
	}
	return grown(t, roomy, bodyOf(first...), bodyOf(second...))
}

// grown is prepared with bodies, in a window; first may be nil.
func grown(t *testing.T, window int, first, second []byte) func() {
	t.Helper()
	e := started(t, window)
	if first != nil {
		prepareAndFinish(t, e, "s", first, decant.Usage{Input: 10, Output: 50})
	}
	return func() { prepareAndFinish(t, e, "s", second, decant.Usage{}) }
}

// started returns an engine that pours where the window demands it.
func started(t *testing.T, window int) *engine.Engine {
	t.Helper()
	e, err := engine.New(emptyStore(t), engine.Options{Timeouts: sandboxtest.Patient, Window: window, NoEarlyPours: true, Logger: testkit.StrictLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// prepareAndFinish prepares a request, which is answered if there is usage.
func prepareAndFinish(t *testing.T, e *engine.Engine, session string, body []byte, u decant.Usage) *engine.Prepared {
	t.Helper()
	p, err := e.Prepare(t.Context(), &engine.Request{Session: session, Body: body})
	if err != nil || p.Fault != nil {
		t.Fatal(err, p.Fault)
	}
	res := engine.Response{}
	if u != (decant.Usage{}) {
		res = engine.Response{Status: 200, Usage: u}
	}
	e.Finish(p, res)
	return p
}
