package transport

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
)

// What a server does not say of its usage is counted, all that came; and an error that comes in place of an answer
// costs nothing, however often the client tries.
func TestAnswersWithoutUsage(t *testing.T) {
	chunk := func(index int, text, stop string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", index, text, stop)
	}
	words := strings.Repeat("some words ", 1000)
	for _, c := range []struct {
		name, path, answer string
		memory             int64
		paid               bool
		least              int // tokens of output
	}{
		{"Choices", "/v1/chat/completions", chunk(0, words, `"stop"`) + chunk(1, words, `"stop"`) + chunk(2, words, `"stop"`) + "data: [DONE]\n\n", 0, true, 3 * 2000},
		{"Lost", "/v1/chat/completions", strings.Repeat(chunk(0, words, "null"), 200) + chunk(0, "", `"stop"`) + "data: [DONE]\n\n", 1 << 20, true, 200 * 2000},
		{"Failed", "/v1/responses", "data: {\"type\":\"response.created\"}\n\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\"},\"output\":[]}}\n\n", 0, false, 0},
		{"Error", "/v1/responses", "data: {\"type\":\"error\",\"code\":\"server_error\"}\n\n", 0, false, 0},
		{"FailedWithUsage", "/v1/responses", "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"usage\":{\"input_tokens\":3000,\"output_tokens\":9}}}\n\n", 0, true, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{}, engine.Options{Budgets: []budget.Budget{{Per: "day", Tokens: 5000}}})
			b := &base{answer: func(*http.Request) *http.Response { return response(http.StatusOK, "text/event-stream", c.answer) }}
			var paid decant.Usage
			rt := New(w.engine, Options{Base: b, Memory: c.memory, Done: func(_ *http.Request, p *engine.Prepared, res engine.Response) { paid = p.Billed(res) }})
			body := fmt.Sprintf(`{"model":"gpt-5.5","max_tokens":50,"max_output_tokens":50,"messages":[{"role":"user","content":%q}],"input":%[1]q}`, words)
			for n := range 4 {
				res, text := post(t, rt, c.path, body)
				if !c.paid && (res.StatusCode != http.StatusOK || paid != decant.Usage{}) {
					t.Fatalf("time %d: status %d, paid %+v, %s", n, res.StatusCode, paid, text)
				}
				if c.paid {
					if paid.Prompt() < 1000 || paid.Output < c.least {
						t.Errorf("status %d, paid %+v, want output of %d at least; %.100s", res.StatusCode, paid, c.least, text)
					}
					return
				}
			}
		})
	}
}

// An early is the body of an answer whose provider is slow after the first event.
type early struct {
	io.Reader
	passed bool // the answer has been passed on
	t      *testing.T
	want   bool
}

// Read reads the first event, and behind it what comes once somebody waits for it.
func (e *early) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil && e.passed != e.want {
		e.t.Errorf("the answer is passed on before its second event: %t, want %t", e.passed, e.want)
	}
	return n, err
}

// Close does nothing.
func (e *early) Close() error { return nil }

// The beginning of an answer is held back only where a refusal behind it would be answered by another form.
func TestBeginningsPass(t *testing.T) {
	for _, c := range []struct {
		name, members, mode string
		held                bool
	}{
		{"Managed", "", "manage", true}, {"Observed", "", "observe", false}, {"Off", "", "off", false},
		{"Elsewhere", `"previous_response_id":"resp_1",`, "manage", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := &early{Reader: strings.NewReader("data: {\"type\":\"response.created\"}\n\n"), t: t, want: !c.held}
			w := newWorld(t, sandbox.Options{}, engine.Options{})
			rt := w.on(&base{answer: func(*http.Request) *http.Response {
				res := response(http.StatusOK, "text/event-stream", "")
				res.Body = body
				return res
			}})
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/v1/responses", strings.NewReader(`{"model":"gpt-5.5",`+c.members+`"input":"Hello."}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Decant-Mode", c.mode)
			res, err := rt.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body.passed, body.want = true, true
			if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "response.created") {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}
