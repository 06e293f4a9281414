package sandbox_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/wire"
)

// TestRecordedSessions plays real sessions: a script speaks for the assistant, the test sends what
// the user and the tools said. With bound thinking, every request is the whole history so far.
func TestRecordedSessions(t *testing.T) {
	for _, name := range []string{recorded.Claude, recorded.Codex} {
		t.Run(name, func(t *testing.T) {
			c := recorded.Session(t, name).Conversation
			script := sandbox.NewScript(c)
			s, url := start(t, sandbox.Options{Model: script})
			k := &talk{t: t, url: url, fields: adaptive + bash, marks: true}
			answers := 0
			var calls []string
			var waiting message
			for i := range c.Messages {
				m := &c.Messages[i]
				if m.Role != decant.RoleAssistant {
					calls = waiting.bring(m, calls)
					continue
				}
				if len(waiting.Content) == 0 {
					continue // the answer goes on
				}
				k.msgs = append(k.msgs, waiting.settle(calls))
				waiting = message{}
				calls = k.ask()
				answers++
			}
			if refused := s.Log.Refused(); len(refused) > 0 || answers != len(script.Answers) || answers < 40 {
				t.Errorf("%d answers of %d, %d refused", answers, len(script.Answers), len(refused))
			}
			if got := s.Log.Last().Usage; got.CacheRead == 0 || got.Input != 0 {
				t.Errorf("the last request used %+v", got)
			}
		})
	}
}

// bring adds what a recorded message of the user or of tools says, its results under the ids of
// calls. Results go first, where clients put them whatever the order in which things happened. It
// returns the calls that are still open.
func (m *message) bring(recorded *decant.Message, calls []string) []string {
	m.Role = "user"
	for i := range recorded.Blocks {
		b := &recorded.Blocks[i]
		switch {
		case recorded.Role == decant.RoleSystem:
		case b.Kind == decant.KindResult && len(calls) > 0:
			text, _ := json.Marshal(b.Text())
			m.Content = slices.Insert(m.Content, m.results, `{"type":"tool_result","tool_use_id":"`+calls[0]+`","content":`+string(text)+`}`)
			calls = calls[1:]
			m.results++
		case b.Kind == decant.KindText && strings.TrimSpace(b.Text()) != "":
			m.Content = append(m.Content, say(b.Text()))
		}
	}
	return calls
}

// settle returns the message with a result for calls that were interrupted.
func (m message) settle(calls []string) message {
	for _, id := range calls {
		m.Content = slices.Insert(m.Content, m.results, `{"type":"tool_result","tool_use_id":"`+id+`","content":"interrupted","is_error":true}`)
	}
	return m
}

// encoded returns a session as one request, up to the last thing that is not the assistant's.
func encoded(t testing.TB, name string) string {
	t.Helper()
	c := recorded.Session(t, name).Conversation
	n := len(c.Messages)
	for n > 0 && c.Messages[n-1].Role == decant.RoleAssistant {
		n--
	}
	c = c.With(c.Messages[:n])
	c.Model = newest
	body, err := wire.Encode(c, wire.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestEncodedSessionsAreAccepted checks package wire against the rules: what it makes of any
// session is a legal request.
func TestEncodedSessionsAreAccepted(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, name := range []string{recorded.Claude, recorded.Codex} {
		if got := do(t, "POST", url+"/v1/messages", encoded(t, name)); got.status != 200 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// BenchmarkRequest measures one request of a grown conversation: a real session, sent as a whole.
func BenchmarkRequest(b *testing.B) {
	body := encoded(b, recorded.Claude)
	_, url := start(b, sandbox.Options{})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if got := do(b, "POST", url+"/v1/messages", body); got.status != 200 {
			b.Fatalf("%d %s", got.status, got.body)
		}
	}
}
