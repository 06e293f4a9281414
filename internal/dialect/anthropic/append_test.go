package anthropic

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

func TestAppendTurn(t *testing.T) {
	const said = `{"type":"text","text":"Write \"it\" down."}`
	for _, c := range []struct{ name, body, want string }{
		{"String",
			`{"model":"m","messages":[{"role":"user","content":"Hello."}],"tools":[]}`,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hello."},` + said + `]}],"tools":[]}`},
		{"Blocks",
			`{"messages": [ {"content": [ {"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}} ], "role":"user"} ] , "stream":true}`,
			`{"messages": [ {"content": [ {"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}},` + said + ` ], "role":"user"} ] , "stream":true}`},
		{"Results",
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"}]}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"},` + said + `]}]}`},
		{"Assistant",
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[` + said + `]}]}`},
		{"EmptyContent", `{"messages":[{"role":"user","content":[]}]}`, `{"messages":[{"role":"user","content":[` + said + `]}]}`},
		{"ServedByTheProvider",
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"web_search_tool_result","tool_use_id":"s"}]}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"web_search_tool_result","tool_use_id":"s"}]},{"role":"user","content":[` + said + `]}]}`},
		{"ServedInTheNextAnswer",
			`{"messages":[` + beside + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]},{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s"}]}]}`,
			`{"messages":[` + beside + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]},{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s"}]},{"role":"user","content":[` + said + `]}]}`},
		{"InterruptedBefore",
			`{"messages":[` + beside + `,{"role":"user","content":"stop"},{"role":"assistant","content":"yes"}]}`,
			`{"messages":[` + beside + `,{"role":"user","content":"stop"},{"role":"assistant","content":"yes"},{"role":"user","content":[` + said + `]}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendTurn([]byte(c.body), `Write "it" down.`)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

// beside is an answer with a call of the server's tools beside one of the client's.
const beside = `{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"tool_use","id":"x"}]}`

func TestAppendTurnRefuses(t *testing.T) {
	for _, c := range []struct {
		name, body string
		open       bool
	}{
		{"OpenCall", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]}]}`, true},
		{"OneOfTwo", `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x"},{"type":"tool_use","id":"y"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]}`, true},
		{"Served", `{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s"}]}]}`, true},
		{"ServedBehindAResult", `{"messages":[` + beside + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]}`, true},
		{"ServedSomeRoundsLater", `{"messages":[` + beside + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]},{"role":"assistant","content":[{"type":"tool_use","id":"y"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"y"}]}]}`, true},
		{"NoMessages", `{"messages":[]}`, false},
		{"NoList", `{"messages":"x"}`, false},
		{"NoContent", `{"messages":[{"role":"user"}]}`, false},
		{"NoJSON", `{"messages":[`, false},
		{"OddMessage", `{"messages":[3]}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendTurn([]byte(c.body), "x")
			if err == nil || got != nil || errors.Is(err, ErrUnanswered) != c.open {
				t.Errorf("%v, %s", err, got)
			}
		})
	}
}

// Whatever is said: the body up to the last message's end is there byte for byte, what was behind it, too,
// and the request reads as before with one text more.
func TestAppendTurnKeepsThePrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		first := string(jsonspan.AppendQuote(nil, rapid.String().Draw(t, "first")))
		tail := rapid.SampledFrom([]string{`}`, `,"stream":true}`, ` , "tools":[{"name":"n","input_schema":{"type":"object"}}] }`}).Draw(t, "tail")
		last := rapid.SampledFrom([]string{
			`{"role":"assistant","content":` + first + `}`,
			`{"role":"user","content":[{"type":"text","text":` + first + `}]}`,
		}).Draw(t, "last")
		body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},` + last + `]` + tail
		got, err := AppendTurn([]byte(body), text)
		if err != nil {
			t.Fatal(err)
		}
		prefix := strings.TrimSuffix(strings.TrimSuffix(body[:len(body)-len(tail)], "]"), "]}")
		if !bytes.HasPrefix(got, []byte(prefix)) || !bytes.HasSuffix(got, []byte(tail)) {
			t.Fatalf("%s\nbecame\n%s", body, got)
		}
		doc, err := Dialect{}.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		ms := doc.Conversation.Messages
		end := ms[len(ms)-1]
		if b := end.Blocks[len(end.Blocks)-1]; end.Role != decant.RoleUser ||
			b.Text() != strings.ToValidUTF8(text, "\uFFFD") {
			t.Fatalf("it ends with %s %q", end.Role, b.Text())
		}
	})
}
