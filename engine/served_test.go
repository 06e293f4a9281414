package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// serverTools are tools that the provider runs, by the type of their calls, and the type of their results.
var serverTools = []struct{ name, call, result string }{
	{"web_search", "server_tool_use", "web_search_tool_result"},
	{"web_fetch", "server_tool_use", "web_fetch_tool_result"},
	{"code_execution", "server_tool_use", "code_execution_tool_result"},
	{"bash_code_execution", "server_tool_use", "bash_code_execution_tool_result"},
	{"text_editor_code_execution", "server_tool_use", "text_editor_code_execution_tool_result"},
	{"tool_search_tool_regex", "server_tool_use", "tool_search_tool_result"},
	{"advisor", "server_tool_use", "advisor_tool_result"},
	{"issues", "mcp_tool_use", "mcp_tool_result"},
}

// A searcher is a conversation with a model that calls tools of the server beside those of the client. The
// server's results come in the same answer, in the next one, or some answers later.
type searcher struct {
	*binder
	rt      *rapid.T
	calls   int
	waiting []string // results that are still to come
	echoes  bool     // they come for calls that did not leave, too
}

// next sends a request, checks what left, and goes on with an answer that calls tools.
func (s *searcher) next(n int) {
	status, answer := s.send()
	if err := pairs(s.last.Body); err != nil || status != 200 {
		s.rt.Fatalf("request %d (%+v): status %d: %v\n%.300s", n, s.last.Report, status, err, answer)
	}
	var m struct {
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		s.rt.Fatal(err)
	}
	var before, rest, results []string
	for _, b := range m.Content {
		var part struct{ Type, ID string }
		if err := json.Unmarshal(b, &part); err != nil {
			s.rt.Fatal(err)
		}
		if part.Type == "thinking" {
			before = append(before, string(b))
			continue
		}
		rest = append(rest, string(b))
		if part.Type == "tool_use" {
			size := rapid.IntRange(5, 50).Draw(s.rt, "lines")
			results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, part.ID, quote(output(part.ID, size))))
		}
	}
	content := append(append(before, s.serve(len(results) > 0)...), rest...)
	s.ms = append(s.ms, `{"role":"assistant","content":[`+strings.Join(content, ",")+`]}`)
	if len(results) == 0 || len(s.waiting) == 0 && rapid.IntRange(0, 3).Draw(s.rt, "queued") == 0 {
		results = append(results, fmt.Sprintf(`{"type":"text","text":"Mind port %d."}`, 8000+n))
	}
	s.ms = append(s.ms, `{"role":"user","content":[`+strings.Join(results, ",")+`]}`)
}

// serve returns the server's part of an answer: results of earlier calls, and new calls with or without theirs, as long as
// there are calls of the client beside them. In half of
// the draws the server answers a call that it was not sent, as where another request of the client's reached it whole.
func (s *searcher) serve(beside bool) (out []string) {
	if !s.echoes {
		s.waiting = slices.DeleteFunc(s.waiting, func(result string) bool {
			_, of, _ := strings.Cut(result, `"tool_use_id":`)
			id, _, _ := strings.Cut(of, `,`)
			return !strings.Contains(string(s.last.Body), `"id":`+id)
		})
	}
	if len(s.waiting) > 0 && (!beside || rapid.IntRange(0, 2).Draw(s.rt, "answered") > 0) {
		out, s.waiting = s.waiting, nil
	}
	for range rapid.IntRange(0, 2).Draw(s.rt, "served") {
		tool := rapid.SampledFrom(serverTools).Draw(s.rt, "tool")
		s.calls++
		out = append(out, fmt.Sprintf(`{"type":%q,"id":"srvtoolu_%d","name":%q,"input":{"q":"cache %d"}}`, tool.call, s.calls, tool.name, s.calls))
		result := fmt.Sprintf(`{"type":%q,"tool_use_id":"srvtoolu_%d","content":[{"type":"text","text":%s}]}`, tool.result, s.calls, quote(output("found", 12)))
		if beside && rapid.Bool().Draw(s.rt, "deferred") {
			s.waiting = append(s.waiting, result)
		} else {
			out = append(out, result)
		}
	}
	return out
}

// pairs checks what the API demands of calls and results, on the body alone.
func pairs(body []byte) error {
	var r struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	client, server := map[string]bool{}, map[string]bool{}
	for i, m := range r.Messages {
		var parts []map[string]any
		if err := json.Unmarshal(m.Content, &parts); err != nil {
			parts = []map[string]any{{"type": "text"}}
		}
		for k, p := range parts {
			kind, _ := p["type"].(string)
			id, _ := p["id"].(string)
			of, _ := p["tool_use_id"].(string)
			switch {
			case kind == "tool_use":
				client[id] = true
			case kind == "tool_result" && !client[of], strings.HasSuffix(kind, "_tool_result") && !server[of]:
				return fmt.Errorf("messages.%d.content.%d: %s of no call %s", i, k, kind, of)
			case kind == "tool_result":
				delete(client, of)
			case kind == "server_tool_use" || kind == "mcp_tool_use":
				server[id] = true
			case strings.HasSuffix(kind, "_tool_result"):
				delete(server, of)
			case m.Role == "user" && len(server)+len(client) > 0:
				return fmt.Errorf("messages.%d.content.%d: %s while calls are open: %v %v", i, k, kind, client, server)
			}
		}
	}
	if len(client) > 0 {
		return fmt.Errorf("calls without a result: %v", client)
	}
	return nil
}

// A call of the server may get its result behind results of the client. Whatever is poured, in whatever window: what
// leaves has each result behind its call, and nothing but results behind a call that waits.
func TestServedCallsStayWithTheirResults(t *testing.T) {
	poured := 0
	rapid.Check(t, func(rt *rapid.T) {
		o := engine.Options{Window: rapid.IntRange(9_000, 18_000).Draw(rt, "window"), NoEarlyPours: rapid.Bool().Draw(rt, "necessary pours only")}
		name := rapid.SampledFrom([]string{"", "default", "orchestrator", "agent-loop", "chat"}).Draw(rt, "preset")
		if name != "" {
			var err error
			if o.Preset, err = preset.Load(name); err != nil {
				rt.Fatal(err)
			}
		}
		s := &searcher{binder: newBinder(t, o, sandbox.Options{Window: o.Window}), rt: rt, echoes: rapid.Bool().Draw(rt, "echoes")}
		if rapid.Bool().Draw(rt, "unbound") {
			s.extra = "" // no thinking that could be bound
		}
		for n := range rapid.IntRange(12, testkit.Depth(24, 40)).Draw(rt, "requests") {
			s.next(n)
			if s.last.Report.Reason != "" {
				poured++
			}
		}
		s.engine.Close()
	})
	if poured == 0 {
		t.Error("nothing was poured")
	}
}
