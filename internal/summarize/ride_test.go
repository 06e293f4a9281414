package summarize_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/provider"
)

// sent is a request of the Messages API whose conversation begins with messages of text, as a client sends it.
func sent(model string, ms []decant.Message) []byte {
	var w strings.Builder
	fmt.Fprintf(&w, `{"model":%q,"max_tokens":8192,"tool_choice":{"type":"auto"},"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[`, model)
	for i, m := range ms {
		if i > 0 {
			w.WriteString(",")
		}
		fmt.Fprintf(&w, `{"role":%q,"content":%s}`, m.Role, jsonspan.AppendQuote(nil, m.Text()))
	}
	return []byte(w.String() + `],"thinking":{"type":"enabled","budget_tokens":2000},"stream":true}`)
}

// talk is a conversation of texts that a cheap model must read as a whole, too.
func talk(n int) (ms []decant.Message) {
	for i := range n {
		ms = append(ms,
			user(2*i+1, fmt.Sprintf("Please look into order ORD_%d of the shop. %s", i, strings.Repeat("It matters to us that the customer hears of it today. ", 20))),
			model(2*i+2, fmt.Sprintf("Order ORD_%d was sent. %s", i, strings.Repeat("The parcel left the house in the morning and is on its way. ", 20))))
	}
	return ms
}

const talked = `# Goal
m1 The user wants order ORD_0 of the shop looked into.
# Plan
-
# State
m2 Order ORD_0 was sent.
# Conclusions
-
# Decisions
-
# Open
m3 The user asks for order ORD_1.`

func riding(t *testing.T, a owncalls.Asker, choice string) (provider.Summary, error) {
	t.Helper()
	s, err := summarize.New(summarize.Options{Asker: a, Model: summarize.Always(choice)})
	if err != nil {
		t.Fatal(err)
	}
	ms := talk(40)
	in := input(ms)
	in.Sent = sent("claude-opus-4-5", append(ms[:len(ms):len(ms)], user(81, "Thanks.")))
	return s.Summarize(t.Context(), in)
}

// Where reading the cache is cheaper, the call goes on from what was sent, byte for byte: tools, choice of tools and thinking
// stay. The result says so.
func TestTheCachedPromptIsUsedWhereItIsCheaper(t *testing.T) {
	a := says(talked)
	out, err := riding(t, a, "claude-opus-4-5")
	if err != nil {
		t.Fatal(err)
	}
	r := a.asked[0]
	body := sent("claude-opus-4-5", append(talk(40), user(81, "Thanks.")))
	at := bytes.Index(body, []byte(`"Thanks."`))
	body = bytes.Replace(body, []byte(`"max_tokens":8192`), []byte(`"max_tokens":6096`), 1) // 4,096, and 2,000 to think
	if len(a.asked) != 1 || r.Model != "claude-opus-4-5" || !bytes.HasPrefix(r.Body, body[:at]) {
		t.Fatalf("%d calls, body of %d bytes", len(a.asked), len(r.Body))
	}
	if !bytes.HasSuffix(r.Body, []byte(`],"thinking":{"type":"enabled","budget_tokens":2000},"stream":true}`)) || r.Prompt != "" {
		t.Error("what stands behind the messages has changed")
	}
	last := string(r.Body[at:])
	for _, want := range []string{"call no tool", "up to m80", "m1 user says: Please look into order ORD_0", "# Decisions"} {
		if !strings.Contains(last, want) {
			t.Errorf("what is appended lacks %q", want)
		}
	}
	if len(last) > len(body)/4 {
		t.Errorf("%d bytes are appended to %d: the messages are sent a second time", len(last), len(body))
	}
	if out.Model != "claude-opus-4-5" || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "on the cached prompt of claude-opus-4-5: $0.0") {
		t.Errorf("model %s, notes %q", out.Model, out.Notes)
	}
}

// Another model that costs less is asked plainly, and so is one that answers with a call of a tool.
func TestThePlainCall(t *testing.T) {
	a := says(talked)
	cheap := says(talked)
	out, err := riding(t, cheap, "claude-3-haiku")
	if err != nil || cheap.asked[0].Body != nil || out.Model != "claude-3-haiku" || !strings.Contains(out.Notes[0], "asked for by claude-3-haiku") {
		t.Errorf("%v, model %s, notes %q", err, out.Model, out.Notes)
	}
	a.answer = func(_ context.Context, n int, r *provider.Request) (*provider.Answer, error) {
		if n == 0 {
			return &provider.Answer{Text: talked, Stop: "tool_use", Calls: 1}, nil
		}
		return &provider.Answer{Text: talked, Stop: "end_turn"}, nil
	}
	out, err = riding(t, a, "claude-opus-4-5")
	if err != nil || len(a.asked) != 2 || a.asked[1].Body != nil || len(out.Notes) != 2 || !strings.Contains(out.Notes[1], "calls a tool") {
		t.Errorf("%v after %d calls, notes %q", err, len(a.asked), out.Notes)
	}
}

// What was sent to another model, or is open, is not gone on from.
func TestNoRide(t *testing.T) {
	for _, c := range []struct {
		name, note string
		body       []byte
	}{
		{"OtherModel", "another model", sent("claude-sonnet-4-5", talk(40))},
		{"OpenCall", "has no result", []byte(`{"model":"claude-opus-4-5","max_tokens":10,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]}]}`)},
		{"NoRequest", "no request", []byte(`{}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := says(talked)
			in := input(talk(40))
			in.Sent = c.body
			out, err := writer(t, a).Summarize(t.Context(), in)
			if err != nil || a.asked[0].Body != nil || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], c.note) {
				t.Errorf("%v, notes %q", err, out.Notes)
			}
		})
	}
}
