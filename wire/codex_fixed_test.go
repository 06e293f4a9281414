package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// What a client of the Responses API says about how the model is to work, as Codex writes it.
const (
	codexTools     = `{"type":"additional_tools","id":"at_1","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}]}`
	codexBase      = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are Codex."}]}`
	codexSkills    = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"## Skills"}]}`
	codexPlace     = `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}`
	codexAsks      = `{"type":"message","role":"user","content":[{"type":"input_text","text":"read it"}]}`
	codexCall      = `{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"read()"}`
	codexOutput    = `{"type":"custom_tool_call_output","call_id":"c1","output":"the text"}`
	codexDone      = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`
	codexEffort    = `{"type":"configuration_update","effort":"high"}`
	codexUnknown   = `{"type":"some_setting","role":"developer","value":1}`
	codexNameless  = `{"type":"some_switch","on":true}`
	codexEncrypted = `{"type":"compaction","encrypted_content":"c3VtbWFyeQ=="}`
)

// responses returns a request of the Responses API.
func responses(items ...string) []byte {
	return []byte(`{"model":"gpt-6.2-sol","input":[` + strings.Join(items, ",") + `]}`)
}

// folded returns the view of a document in which a record stands for everything that is not fixed.
func folded(t *testing.T, d *wire.Document) *decant.Conversation {
	t.Helper()
	ms := d.Conversation.Live()
	cp := &decant.Checkpoint{Number: 1, From: ms[0].Number, To: ms[len(ms)-1].Number, Summary: record}
	for i := range ms {
		if ms[i].Fixed {
			cp.Kept = append(cp.Kept, ms[i].Number)
		}
	}
	view, err := decant.View(d.Conversation.With(ms), []decant.Decision{{ID: "c", Kind: decant.Cover, Checkpoint: cp}})
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func TestResponsesWhatConfiguresStaysWhereverItStands(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items []string
		want  []string // RECORD: what stands for the rest
	}{
		{"in front", []string{codexTools, codexBase, codexAsks, codexCall, codexOutput, codexDone}, []string{codexTools, codexBase, "RECORD"}},
		{"behind the user", []string{codexTools, codexAsks, codexBase, codexPlace, codexSkills, codexCall, codexOutput}, []string{codexTools, codexBase, codexSkills, "RECORD"}},
		{"behind the model", []string{codexBase, codexAsks, codexCall, codexOutput, codexTools, codexDone, codexSkills}, []string{codexBase, codexTools, codexSkills, "RECORD"}},
		{"settings", []string{codexAsks, codexCall, codexOutput, codexEffort, codexUnknown, codexDone, codexNameless}, []string{codexEffort, codexUnknown, codexNameless, "RECORD"}},
		{"encrypted", []string{codexTools, codexAsks, codexEncrypted, codexCall, codexOutput, codexDone}, []string{codexTools, codexEncrypted, "RECORD"}},
		{"calls of the server are history", []string{codexAsks, `{"type":"web_search_call","id":"w"}`, `{"type":"tool_search_output","tools":[]}`, codexDone}, []string{"RECORD"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := wire.ParseAs(wire.OpenAIResponses, responses(tt.items...))
			if err != nil {
				t.Fatal(err)
			}
			out, err := d.Render(folded(t, d))
			if err != nil {
				t.Fatal(err)
			}
			var body struct{ Input []json.RawMessage }
			if err := json.Unmarshal(out, &body); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, raw := range body.Input {
				if bytes.Contains(raw, []byte("Decant record")) {
					raw = []byte("RECORD")
				}
				got = append(got, string(raw))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A program and the output that comes behind its calls are one round, in a request and in a file, and so are a search for tools and what it
// returns, and a call whose output comes late. Null is no id.
func TestPairsOfEveryKindAreOneRound(t *testing.T) {
	const (
		program = `{"type":"program","call_id":"p1","code":"await tools.list()"}`
		inside  = `{"type":"function_call","name":"list","arguments":"{}","call_id":"c1","namespace":"files","caller":{"type":"program","caller_id":"p1"}}`
		answer  = `{"type":"function_call_output","call_id":"c1","output":"a.go"}`
		ends    = `{"type":"program_output","call_id":"p1","result":"1","status":"completed"}`
		search  = `{"type":"tool_search_call","call_id":"s1","execution":"client","arguments":{"query":"x"}}`
		found   = `{"type":"tool_search_output","call_id":"s1","execution":"client","tools":[]}`
		hosted  = `{"type":"tool_search_call","call_id":null,"execution":"server","arguments":{}}`
		tools   = `{"type":"tool_search_output","call_id":null,"execution":"server","tools":[]}`
		late    = `{"type":"function_call","name":"build","arguments":"{}","call_id":"l1"}`
		built   = `{"type":"function_call_output","call_id":"l1","output":"ok"}`
		patch   = `{"type":"apply_patch_call","call_id":"a1","operation":{"type":"delete_file","path":"a"}}`
		patched = `{"type":"apply_patch_call_output","call_id":"a1","status":"completed"}`
	)
	for name, tt := range map[string]struct {
		items []string
		want  []string // the first and last message of each round
	}{
		"a program":            {[]string{codexAsks, program, inside, answer, ends, codexDone, codexAsks, codexDone}, []string{"m2-m4", "m6-m6"}},
		"a search for tools":   {[]string{codexAsks, search, codexAsks, found, codexDone}, []string{"m2-m4"}},
		"a search by OpenAI":   {[]string{codexAsks, hosted, tools, codexAsks, hosted, tools, codexDone}, []string{"m2-m2", "m4-m4"}},
		"a call that is slow":  {[]string{codexAsks, late, codexAsks, inside, answer, codexAsks, built, codexDone}, []string{"m2-m7", "m8-m8"}},
		"a patch":              {[]string{codexAsks, patch, codexAsks, patched, codexDone}, []string{"m2-m4"}},
		"an output without it": {[]string{codexAsks, ends, codexAsks, codexDone}, []string{"m2-m2", "m4-m4"}},
	} {
		for _, format := range []wire.Format{wire.OpenAIResponses, wire.Codex} {
			src := responses(tt.items...)
			if format == wire.Codex {
				src = rollout(tt.items...)
			}
			d, err := wire.ParseAs(format, src)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range decant.Rounds(d.Conversation.Messages) {
				got = append(got, fmt.Sprintf("m%d-m%d", r.Start+1, r.End))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s\n%s", name, format, diff, strings.Join(outline(d.Conversation.Messages), "\n"))
			}
		}
	}
}

// rollout returns a rollout of a newer Codex, whose lines have ordinals.
func rollout(items ...string) []byte {
	const at = `{"timestamp":"2026-11-27T08:00:%02d.000Z","ordinal":%d,`
	out := fmt.Sprintf(at+`"type":"session_meta","payload":{"id":"s1","base_instructions":{"text":"You are Codex."},"context_window":{"window_id":"w0"}}}`+"\n", 0, 0)
	for i, it := range items {
		n := i + 1
		switch {
		case strings.HasPrefix(it, `{"full"`):
			out += fmt.Sprintf(at+`"type":"world_state","payload":%s}`+"\n", n, n, it)
		case strings.HasPrefix(it, `{"turn_id"`):
			out += fmt.Sprintf(at+`"type":"turn_context","payload":%s}`+"\n", n, n, it)
		default:
			out += fmt.Sprintf(at+`"type":"response_item","metadata":{"history_sequence":%d},"payload":%s}`+"\n", n, n, n, it)
		}
	}
	return []byte(out)
}

func TestCodexIsWrittenAsItsOwnCompactionsAre(t *testing.T) {
	const world, turn = `{"full":true,"state":{}}`, `{"turn_id":"t1","model":"gpt-6.2-sol","comp_hash":"3000","multi_agent_version":"v2"}`
	src := rollout(codexTools, codexBase, codexSkills, world, turn, codexAsks, codexCall, codexOutput, codexDone)
	d := parse(t, src)
	if n := len(d.Conversation.Messages); n != 4 {
		t.Errorf("got %d messages, want 4: tools and developer messages are the fixed part", n)
	}
	if f := d.Conversation.Fixed; len(f.Tools) != 1 || len(f.System) != 2 {
		t.Errorf("got %d tools and %d texts of the system prompt, want 1 and 2", len(f.Tools), len(f.System))
	}
	out, err := d.Render(folded(t, d))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, src) {
		t.Fatal("what stood there was changed")
	}
	var kinds []string
	for i, raw := range bytes.Split(bytes.TrimSpace(out[len(src):]), []byte("\n")) {
		var l struct {
			Ordinal int
			Type    string
			Payload struct {
				History      []json.RawMessage `json:"replacement_history"`
				About        []json.RawMessage `json:"replacement_history_metadata"`
				WindowNumber int               `json:"window_number"`
				WindowID     string            `json:"window_id"`
				PreviousID   string            `json:"previous_window_id"`
				Resume       map[string]any    `json:"resume_metadata"`
				Retained     map[string]any    `json:"retained_context"`
			}
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if kinds = append(kinds, l.Type); l.Ordinal != 10+i {
			t.Errorf("line %d has ordinal %d", i, l.Ordinal)
		}
		if p := l.Payload; i == 0 {
			want := []string{codexTools, codexBase, codexSkills}
			for k, it := range want {
				if string(p.History[k]) != it {
					t.Errorf("item %d of the history is %s", k, p.History[k])
				}
			}
			if len(p.History) != 4 || len(p.About) != 4 || p.WindowNumber != 1 || p.WindowID == "" || p.PreviousID != "w0" || p.Resume == nil || p.Retained == nil {
				t.Errorf("got %s", raw)
			}
		}
	}
	if diff := cmp.Diff([]string{"compacted", "world_state", "turn_context"}, kinds); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	again := parse(t, out)
	if n := len(again.Conversation.Live()); n != 1 || len(again.Conversation.Fixed.Tools) != 1 || len(again.Conversation.Fixed.System) != 2 {
		t.Errorf("read back: %d messages, %+v", n, again.Conversation.Fixed)
	}
}

func TestCodexKeepsWhatOnlyTheProviderReads(t *testing.T) {
	line := `{"timestamp":"2026-11-27T08:01:00.000Z","type":"compacted","payload":{"message":"","replacement_history":[` +
		strings.Join([]string{codexTools, codexAsks, codexEncrypted}, ",") + "]}}\n"
	d := parse(t, slices.Concat(rollout(codexTools, codexAsks, codexCall, codexOutput), []byte(line)))
	out, err := d.Render(folded(t, d))
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := bytes.Cut(out[bytes.LastIndex(out, []byte(`"type":"compacted"`)):], []byte("replacement_history"))
	for _, want := range []string{codexTools, codexEncrypted} {
		if bytes.Count(last, []byte(want)) != 1 {
			t.Errorf("%s stands there %d times", want, bytes.Count(last, []byte(want)))
		}
	}
}
