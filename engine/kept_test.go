package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
)

// A seeker is a model that works with its shell for ever and notes which tools it knows.
type seeker struct{ knows []string }

func (s *seeker) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	s.knows = p.Tools
	var bs []sandbox.Block
	if p.Thinking.On() {
		bs = append(bs, sandbox.Block{Kind: decant.KindThinking, Text: "What next?"})
	}
	return sandbox.Answer{Blocks: append(bs, sandbox.Block{Kind: decant.KindUse, Name: "Bash"})}, nil
}

const searchTools = bashTool + `,{"name":"ToolSearch","input_schema":{"type":"object"}},{"name":"mcp__issues__list","defer_loading":true,"input_schema":{"type":"object"}}`

// A result that makes deferred tools known went into the checkpoint, or into the fold, and the model had
// the tools no longer. It stays, whatever route is taken, once and again.
func TestToolsThatWereLoadedStayLoaded(t *testing.T) {
	for _, tt := range []struct {
		name, model, thinking, tools string
		kind                         decant.DecisionKind
	}{
		{"Checkpoint", "claude-opus-4-6", "", searchTools, decant.Cover},
		{"CheckpointAndManualThinking", "claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":1024},`, searchTools, decant.Cover},
		{"Fold", "claude-opus-5-5", `"thinking":{"type":"adaptive"},`, searchTools + "," + memoryTool, decant.Cover},
		{"Clearing", "claude-opus-5-5", `"thinking":{"type":"adaptive"},`, searchTools, decant.Native},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := &seeker{}
			k := newDialogue(t, engine.Options{NoEarlyPours: true})
			k.sandbox = newSandbox(sandbox.Options{Window: dialogueWindow, Model: model, ForgetAnswers: tt.thinking == ""})
			k.model, k.extra, k.tools = tt.model, tt.thinking, tt.tools
			k.user("Close the open issues.")
			pours := 0
			for n := 0; pours < 3 && n < 90; n++ {
				status, answer := k.send()
				if status != http.StatusOK {
					t.Fatalf("request %d: status %d: %s", n, status, answer)
				}
				if k.last.Report.Reason != "" {
					pours++
				}
				if n > 2 && !slices.Contains(model.knows, "mcp__issues__list") {
					t.Fatalf("request %d, after %d pours by %q: the model knows %q", n, pours, k.last.Report.Route, model.knows)
				}
				k.accept(answer, n)
				if n == 1 { // the result of the second call loads a tool
					loads(k)
				}
			}
			if pours < 3 {
				t.Fatalf("%d pours", pours)
			}
			if !slices.ContainsFunc(k.state().Decisions, func(d decant.Decision) bool { return d.Kind == tt.kind }) {
				t.Errorf("no decision of kind %s", tt.kind)
			}
			if refused := k.sandbox.Log.Refused(); len(refused) > 0 {
				t.Errorf("refused: %s", refused[0].Error)
			}
		})
	}
}

// loads makes the newest call one of ToolSearch and its result a reference to a tool.
func loads(k *dialogue) {
	call, result := &k.ms[len(k.ms)-2], &k.ms[len(k.ms)-1]
	*call = strings.Replace(*call, `"name":"Bash"`, `"name":"ToolSearch"`, 1)
	id := (*call)[strings.Index(*call, `"toolu_`)+1:]
	id = id[:strings.IndexByte(id, '"')]
	*result = fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":[{"type":"tool_reference","tool_name":"mcp__issues__list"}]}]}`, id)
}

// A fold dropped every image, the screenshot just taken included. Those of the newest round and of pins
// go with it, byte for byte, where the client had put them into results.
func TestAFoldKeepsTheNewestImages(t *testing.T) {
	const window = 3 * dialogueWindow // room for a few images
	k := newDialogue(t, engine.Options{NoEarlyPours: true, Window: window})
	k.sandbox = newSandbox(sandbox.Options{Window: window, Model: &seeker{}})
	k.model, k.extra, k.tools = "claude-sonnet-5-5", `"thinking":{"type":"adaptive"},`, bashTool+","+memoryTool
	k.user("Look at the screen.")
	picture := func(n int) string {
		return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo%05d"}}`, n)
	}
	for n := range 60 {
		status, answer := k.send()
		if status != http.StatusOK {
			t.Fatalf("request %d: status %d: %s", n, status, answer)
		}
		if body := string(k.last.Body); k.last.Report.Route == "fold" {
			if !strings.Contains(body, picture(n-1)) || strings.Contains(body, picture(n-2)) {
				t.Errorf("request %d: the fold has the newest image: %t, the one before: %t", n, strings.Contains(body, picture(n-1)), strings.Contains(body, picture(n-2)))
			}
			if len(k.state().Live()) == 0 {
				t.Error("nothing was decided")
			}
			return
		}
		k.accept(answer, n)
		last := &k.ms[len(k.ms)-1]
		at := strings.Index(*last, `"content":"`)
		text := strings.TrimSuffix((*last)[at+len(`"content":`):], "}]}")
		*last = (*last)[:at] + `"content":[{"type":"text","text":` + text + `},` + picture(n) + `]}]}`
	}
	t.Error("60 rounds without a fold")
}

// What a conversation has taught is kept whatever the provider calls the account: a header may hold any bytes, and be
// long.
func TestWhatWasLearnedIsKeptForAnyAccount(t *testing.T) {
	for _, name := range []string{"", "org-1", "caf\xe9", strings.Repeat("x", 100_000)} {
		k := newDialogue(t, engine.Options{})
		k.upstream = "https://api.test/\xff"
		k.user("Hello.")
		k.engine.Finish(k.prepare(), engine.Response{Status: 200, Usage: decant.Usage{Input: 100, Output: 10}, Organization: name, Content: []byte(`[]`)})
		k.engine.Close()
		var kept struct {
			Account struct {
				Organization string `json:"organization"`
			} `json:"account"`
		}
		s := k.state()
		if err := json.Unmarshal(s.Anchor.Calibration, &kept); err != nil {
			t.Fatalf("%.20q: kept %q: %v", name, s.Anchor.Calibration, err)
		}
		if got := kept.Account.Organization; got == "" != (name == "") || len(got) > 256 {
			t.Errorf("%.20q is kept as %q", name, got)
		}
	}
}
