package gateway_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// A step is what a recorded agent was told next, and what the model said to that.
type step struct {
	told, said []map[string]any // items
}

// codexSteps returns the recorded sessions in a file. A compaction ends one; the next begins with what Codex kept.
func codexSteps(t *testing.T, name string) (sessions [][]step) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<26)
	steps := []step{{}}
	for lines.Scan() {
		var row struct {
			Type    string
			Payload map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		switch p := row.Payload; {
		case row.Type == "session_meta":
			if base, ok := p["base_instructions"].(map[string]any); ok {
				steps[0].told = append(steps[0].told, map[string]any{"type": "message", "role": "developer", "content": base["text"]})
			}
		case row.Type == "compacted":
			sessions, steps = append(sessions, steps), []step{{}}
			for _, it := range p["replacement_history"].([]any) {
				if it := it.(map[string]any); it["type"] == "message" { // the summary is for the provider alone
					steps[0].told = append(steps[0].told, it)
				}
			}
		case row.Type == "response_item":
			at := &steps[len(steps)-1]
			switch kind := fmt.Sprint(p["type"]); {
			case kind == "message" && p["role"] == "assistant", kind == "function_call", kind == "custom_tool_call", kind == "reasoning":
				at.said = append(at.said, p)
			case kind == "message", kind == "function_call_output", kind == "custom_tool_call_output":
				more := func(it map[string]any) bool { return it["type"] != "reasoning" }
				if !slices.ContainsFunc(at.said, more) {
					at.said = nil // the turn was broken off, and reasoning alone cannot be sent back
				} else {
					steps = append(steps, step{})
					at = &steps[len(steps)-1]
				}
				at.told = append(at.told, p)
			}
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return append(sessions, steps)
}

// textOf returns what an item says.
func textOf(it map[string]any) string {
	out := ""
	for _, member := range []string{"content", "output", "arguments", "input"} {
		switch v := it[member].(type) {
		case string:
			if member == "arguments" {
				v = ruler.Values(v)
			}
			out += v + "\n"
		case []any:
			for _, part := range v {
				if p, ok := part.(map[string]any); ok {
					out += fmt.Sprintln(p["text"])
				}
			}
		}
	}
	return out
}

// A codexGame is a session that is played once more: the sandbox says what the model said, and the client answers with
// what the tools brought. It measures what the model reads.
type codexGame struct {
	t                      *testing.T
	model                  token.Model
	cut                    int // bytes of an output, 0: all
	more                   string
	send                   func(body string) (int, string)
	now                    *step
	whole                  string // all that was told and said
	items                  []any
	asked, held, grounded  int
	requests, refused      int
	tokens, dropped, busts int
	last                   int
	dollars                float64
}

// Answer plays the model, and asks whether it was shown what it writes.
func (g *codexGame) Answer(p *sandbox.Prompt) (a sandbox.Answer) {
	g.ask(p)
	for i, it := range g.now.said {
		switch it["type"] {
		case "reasoning":
			a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindThinking, Text: fmt.Sprintf("Thinking about step %d of the work. ", i) + strings.Repeat("And so on. ", 30)})
		case "message":
			a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindText, Text: textOf(it)})
		default:
			in, _ := json.Marshal(map[string]any{"input": it["input"]})
			if s, ok := it["arguments"].(string); ok && json.Valid([]byte(s)) {
				in = []byte(s)
			}
			a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindUse, ID: it["call_id"].(string), Name: it["name"].(string), Input: in})
		}
	}
	return a
}

// ask counts the exact strings that the model writes and that were said before, and those of them that it reads.
func (g *codexGame) ask(p *sandbox.Prompt) {
	var b strings.Builder
	b.WriteString(strings.Join(p.System, "\n"))
	for _, m := range p.Messages {
		for _, blk := range m.Blocks {
			if blk.Kind != decant.KindThinking {
				b.WriteString("\n" + blk.Text + ruler.Values(string(blk.Input)))
			}
		}
	}
	sent, seen := b.String(), map[string]bool{}
	for _, it := range g.now.said {
		ruler.Each(textOf(it), func(s string, _ ruler.Kind) {
			if len(s) <= 3 || seen[s] || !strings.Contains(g.whole, s) {
				return
			}
			seen[s] = true
			g.asked++
			if !strings.Contains(sent, s) {
				return
			}
			g.held++
			if ruler.Grounded(ruler.Contexts(g.whole, s, ruler.Most), ruler.Contexts(sent, s, ruler.Most)) {
				g.grounded++
			}
		})
	}
}

// shortened returns an output with at most so many bytes, of its beginning and its end.
func (g *codexGame) shortened(it map[string]any) map[string]any {
	s, ok := it["output"].(string)
	if !ok || g.cut == 0 || len(s) <= g.cut {
		return it
	}
	short := map[string]any{}
	for k, v := range it {
		short[k] = v
	}
	short["output"] = strings.ToValidUTF8(s[:g.cut/2]+"\n[...]\n"+s[len(s)-g.cut/2:], "")
	return short
}

// play plays a session to its end.
func (g *codexGame) play(steps []step) {
	tools := map[string]string{}
	for _, st := range steps {
		for _, it := range st.said {
			if name, ok := it["name"].(string); ok {
				tools[name] = map[string]string{"custom_tool_call": "custom"}[fmt.Sprint(it["type"])]
			}
		}
	}
	var defs []any
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		defs = append(defs, map[string]any{"type": cmp.Or(tools[name], "function"), "name": name, "description": strings.Repeat("Use it when it fits the step at hand. ", 25)})
	}
	open := map[string]bool{}
	g.items, g.whole, g.last = nil, "", 0
	for i := range steps {
		g.now = &steps[i]
		for _, it := range g.now.told {
			if id, ok := it["call_id"].(string); ok && !open[id] {
				continue // its call is in an earlier session
			} else if ok {
				delete(open, id)
			}
			delete(it, "internal_chat_message_metadata_passthrough")
			g.items = append(g.items, g.shortened(it))
			g.whole += textOf(it)
		}
		for id := range open {
			g.items = append(g.items, map[string]any{"type": "function_call_output", "call_id": id, "output": "aborted"})
			delete(open, id)
		}
		if len(g.now.said) == 0 {
			break
		}
		g.request(defs, open)
		for _, it := range g.now.said {
			g.whole += textOf(it)
		}
	}
}

// request asks for the next answer, and keeps it.
func (g *codexGame) request(tools []any, open map[string]bool) {
	g.t.Helper()
	body, err := json.Marshal(map[string]any{
		"model": g.model.ID, "store": false, "include": []string{"reasoning.encrypted_content"}, "reasoning": map[string]any{"effort": "high"},
		"tools": tools, "input": g.items, "prompt_cache_key": "session",
	})
	if err != nil {
		g.t.Fatal(err)
	}
	g.requests++
	status, text := g.send(strings.Replace(string(body), "{", "{"+g.more, 1))
	var answer struct{ Output []map[string]any }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
		g.refused++
		g.t.Errorf("request %d: status %d, %.300s", g.requests, status, text)
		return
	}
	for _, it := range answer.Output {
		g.items = append(g.items, it)
		if id, ok := it["call_id"].(string); ok {
			open[id] = true
		}
	}
}

// logged adds up what the upstream says that a request costs.
func (g *codexGame) logged(e sandbox.Entry) {
	if e.Status != http.StatusOK {
		return
	}
	u := e.Usage
	g.tokens += u.Prompt()
	g.dropped += e.Dropped
	if u.CacheRead < g.last {
		g.busts++
	}
	g.last = u.Prompt()
	p, _, _ := g.model.PriceAt(e.Time)
	r := p.At(u.Prompt())
	g.dollars += (float64(u.Input)*r.Input.USD + float64(u.CacheRead)*r.CacheRead.USD + float64(u.CacheWrite)*r.Write5m.USD + float64(u.Output)*r.Output.USD) / 1e6
}

// Recorded sessions of Codex are played through the gateway to a server that caches, binds and refuses; nothing is
// refused. What that costs, and what the model is still shown of what it writes next, is compared with sending all,
// with outputs that are cut when they come, and with the compaction of the provider.
func TestCodexSessions(t *testing.T) {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		t.Skipf("set %s to the folder of recordings", dataEnv)
	}
	files, err := filepath.Glob(filepath.Join(dir, "codex", "agentv", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"gpt-6.2-sol", "gpt-6.1-sol"} { // bound, unbound; of one price
		model, _ := catalog.Lookup(id)
		t.Run(id, func(t *testing.T) { compareCodex(t, model, files[:testkit.Depth(1, len(files))]) })
	}
}

// compareCodex plays sessions in five ways and logs what comes out, as shares of the first.
func compareCodex(t *testing.T, model token.Model, files []string) {
	const compaction = `"context_management":[{"type":"compaction","compact_threshold":%d}],`
	all := &codexGame{}
	for _, arm := range []struct {
		name    string
		cut     int
		more    string
		through bool
	}{
		{name: "all"}, {name: "outputs cut to 1,500 tokens", cut: 4500}, {name: "Decant", through: true},
		{name: "compaction at 200,000", more: fmt.Sprintf(compaction, 200_000)},
		{name: "compaction at 100,000", more: fmt.Sprintf(compaction, 100_000)},
	} {
		g := &codexGame{t: t, model: model}
		for _, file := range files {
			for _, steps := range codexSteps(t, file) {
				g.over(arm.through, arm.cut, arm.more, steps)
			}
		}
		if arm.name == "all" {
			all = g
		}
		of := func(n, all int) float64 { return float64(n) / float64(max(1, all)) }
		t.Logf("%-28s %4d requests, %d refused, tokens %.3f, cost %.3f (%.2f USD), "+
			"busts %d, thoughts dropped %d, recall %.3f, grounded %.3f of %d",
			arm.name, g.requests, g.refused, of(g.tokens, all.tokens), g.dollars/all.dollars, g.dollars,
			g.busts, g.dropped, of(g.held, g.asked), of(g.grounded, g.asked), g.asked)
	}
}

// over plays a session straight to a server, or through a gateway.
func (g *codexGame) over(through bool, cut int, more string, steps []step) {
	s := sandbox.New(sandbox.Options{Model: sandboxtest.Model(g.Answer), Logged: g.logged})
	up := httptest.NewServer(s)
	defer up.Close()
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		g.t.Fatal(err)
	}
	w := newWorld(g.t, http.NotFoundHandler(), gateway.Options{OpenAI: base}, engine.Options{})
	to := up.URL
	if through {
		to = w.url
	}
	g.cut, g.more = cut, more
	g.send = func(body string) (int, string) {
		res, text := w.post(to, "/v1/responses", body, "Authorization", "Bearer any", "X-Api-Key", "", "Anthropic-Version", "")
		return res.StatusCode, text
	}
	g.play(steps)
}
