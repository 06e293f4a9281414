package scan

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/wire"
)

func readRecorded(t testing.TB, name string) Session {
	t.Helper()
	return Read(recorded.Session(t, name).Conversation)
}

// rawUsage is what a line of Claude Code says about usage, read without anything of the module.
type rawUsage struct {
	Type    string `json:"type"`
	Message struct {
		ID    string `json:"id"`
		Usage struct {
			Input  int `json:"input_tokens"`
			Read   int `json:"cache_read_input_tokens"`
			Write  int `json:"cache_creation_input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
	Timestamp time.Time `json:"timestamp"`
}

// The measures of a session are those that a plain count of its lines gives.
func TestMeasuresAreThoseOfTheLines(t *testing.T) {
	src := recorded.Source(t, recorded.Claude)
	prompts, outputs := map[string]int{}, map[string]int{}
	var first, last time.Time
	for line := range bytes.Lines(src) {
		var l rawUsage
		if json.Unmarshal(line, &l) != nil || l.Type != "user" && l.Type != "assistant" {
			continue
		}
		if first.IsZero() {
			first = l.Timestamp
		}
		if l.Timestamp.After(last) {
			last = l.Timestamp
		}
		if u := l.Message.Usage; l.Type == "assistant" && u.Input+u.Read+u.Write > 0 {
			prompts[l.Message.ID] = u.Input + u.Read + u.Write
			outputs[l.Message.ID] = max(outputs[l.Message.ID], u.Output)
		}
	}
	sum, peak, output := 0, 0, 0
	for id, n := range prompts {
		sum += n
		peak = max(peak, n)
		output += outputs[id]
	}
	s := readRecorded(t, recorded.Claude)
	if s.Requests != len(prompts) || s.Peak != peak || s.Average != sum/len(prompts) || s.Usage.Prompt() != sum || s.Usage.Output != output {
		t.Errorf("got %d requests, peak %d, average %d, prompts %d, output %d; the lines say %d, %d, %d, %d, %d",
			s.Requests, s.Peak, s.Average, s.Usage.Prompt(), s.Usage.Output, len(prompts), peak, sum/len(prompts), sum, output)
	}
	if !s.Start.Equal(first) || s.End.Before(last.Add(-time.Minute)) || s.End.After(last) {
		t.Errorf("from %v to %v; the lines say %v and %v", s.Start, s.End, first, last)
	}
}

// Commits become tasks with what git said about them, and the parts are never more than the whole.
func TestCommitsAreTasks(t *testing.T) {
	for name, shas := range map[string][]string{recorded.Claude: {"06e93767", "53466ba2"}, recorded.Codex: {"9759b67d", "8dc5394f", "fab6fe66"}} {
		s := readRecorded(t, name)
		var got []string
		tokens, prompt := 0, 0
		for _, k := range s.Tasks {
			got = append(got, k.Commits...)
			tokens += k.Tokens
			prompt += k.Prompt
			if !k.Done || k.Title == "" || len(k.Files) == 0 || k.Tokens == 0 || k.Duration == 0 || !strings.Contains(k.Outcome, "changed") {
				t.Errorf("%s: incomplete task %+v", name, k)
			}
		}
		if !slices.Equal(got, shas) {
			t.Errorf("%s: commits %v, want %v", name, got, shas)
		}
		if u := s.Usage; tokens > u.Input+u.CacheWrite+u.Output || prompt > u.Prompt() {
			t.Errorf("%s: tasks took %d new tokens and %d of prompts, the session %+v", name, tokens, prompt, u)
		}
	}
}

const taskLines = `{"type":"user","sessionId":"s","timestamp":"2026-10-01T10:00:00Z","message":{"role":"user","content":"two tasks please"}}
{"type":"assistant","timestamp":"2026-10-01T10:00:10Z","message":{"id":"a1","role":"assistant","usage":{"input_tokens":10,"cache_creation_input_tokens":90,"cache_read_input_tokens":0,"output_tokens":5},"content":[{"type":"tool_use","id":"c1","name":"TaskCreate","input":{"subject":"Add the handler","description":"d"}}]}}
{"type":"user","timestamp":"2026-10-01T10:00:11Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Task #1 created successfully: Add the handler"}]}}
{"type":"assistant","timestamp":"2026-10-01T10:00:20Z","message":{"id":"a2","role":"assistant","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":5},"content":[{"type":"tool_use","id":"c2","name":"TaskUpdate","input":{"taskId":"1","status":"in_progress"}}]}}
{"type":"user","timestamp":"2026-10-01T10:00:21Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"Updated task #1 status"}]}}
{"type":"assistant","timestamp":"2026-10-01T10:01:20Z","message":{"id":"a3","role":"assistant","usage":{"input_tokens":30,"cache_creation_input_tokens":0,"cache_read_input_tokens":100,"output_tokens":7},"content":[{"type":"tool_use","id":"c3","name":"Edit","input":{"file_path":"handler.go","old_string":"a","new_string":"b"}}]}}
{"type":"user","timestamp":"2026-10-01T10:01:21Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","content":"ok"}]}}
{"type":"assistant","timestamp":"2026-10-01T10:02:20Z","message":{"id":"a4","role":"assistant","usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":130,"output_tokens":2},"content":[{"type":"tool_use","id":"c4","name":"Bash","input":{"command":"git commit -am 'handler'"}}]}}
{"type":"user","timestamp":"2026-10-01T10:02:21Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c4","content":"[main 7b848b0] handler\n 1 file changed, 3 insertions(+)"}]}}
{"type":"assistant","timestamp":"2026-10-01T10:02:30Z","message":{"id":"a5","role":"assistant","usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":130,"output_tokens":3},"content":[{"type":"tool_use","id":"c5","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}]}}
{"type":"user","timestamp":"2026-10-01T10:02:31Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c5","content":"Updated task #1 status"}]}}
`

func TestTasksOfATaskTool(t *testing.T) {
	doc, err := wire.ParseAs(wire.ClaudeCode, []byte(taskLines))
	if err != nil {
		t.Fatal(err)
	}
	s := Read(doc.Conversation)
	if len(s.Tasks) != 1 {
		t.Fatalf("got %+v", s.Tasks)
	}
	k := s.Tasks[0]
	// Of the answers behind the start: 30+7, 1+2, 2+3.
	if k.ID != "1" || k.Title != "Add the handler" || !k.Done || k.Tokens != 45 || k.Duration != 130 || !slices.Equal(k.Files, []string{"handler.go"}) || !slices.Equal(k.Commits, []string{"7b848b0"}) {
		t.Errorf("got %+v", k)
	}
	if c, ok := checkOf("Run the tests before every commit."); !ok {
		t.Error("no check in the rule")
	} else if got := c.in(&s); len(got.Broken) != 1 || got.verdict() != neither {
		t.Errorf("%+v: got %+v, want one commit without tests", c, got)
	}
}

func TestChecksOfRules(t *testing.T) {
	for rule, want := range map[string]check{
		"go test before commit":                    {"go test", "commit"},
		"Run `make lint` before each push":         {"make lint", "push"},
		"Before you commit, run the tests":         {"tests", "commit"},
		"Never push without running golangci-lint": {"golangci-lint", "push"},
		"Think before you commit":                  {},
		"Commit often":                             {},
	} {
		if got, ok := checkOf(rule); got != want || ok != (want != check{}) {
			t.Errorf("%q: got %+v, %v; want %+v", rule, got, ok, want)
		}
	}
}

func TestPatternsRepeatAcrossSessions(t *testing.T) {
	s := readRecorded(t, recorded.Claude)
	other := s
	other.ID = "another"
	found := Patterns([]Session{s, other})
	if len(found) == 0 {
		t.Fatal("no procedure was found")
	}
	for _, p := range found {
		if p.Sessions != 2 || p.Count < minCount || len(p.Evidence) != 2 {
			t.Errorf("got %+v", p)
		}
	}
	if got := StepsOf(found[0].Text()); !slices.Equal(got, found[0].Steps) || StepsOf("Run go vet") != nil {
		t.Errorf("steps of %q: %q", found[0].Text(), got)
	}
	if alone := Patterns([]Session{s}); len(alone) > 0 {
		t.Errorf("one session alone has %+v", alone)
	}
}
