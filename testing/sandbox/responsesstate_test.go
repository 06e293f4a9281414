package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// rawItems returns the items of the next input as JSON.
func (r *respondent) rawItems() (out []string) {
	for _, it := range r.p.Input.OfInputItemList {
		b, err := json.Marshal(it)
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// ask sends items in place of those that were said, and returns what came and which reasoning was taken out, and why.
func (r *respondent) ask(items []string, more ...openaioption.RequestOption) (*responses.Response, []string) {
	r.t.Helper()
	p := r.p
	p.Input.OfInputItemList = itemsOf(items...)
	res, err := r.c.Responses.New(r.t.Context(), p, more...)
	if err != nil {
		r.t.Fatal(err)
	}
	var body struct {
		Gone []struct{ ID, Action, Reason, Type string } `json:"input_transformations"`
	}
	if err := json.Unmarshal([]byte(res.RawJSON()), &body); err != nil {
		r.t.Fatal(err)
	}
	var why []string
	for _, g := range body.Gone {
		if !strings.HasPrefix(g.ID, "rs_") || g.Action != "removed" || g.Type != "reasoning" {
			r.t.Errorf("%+v", g)
		}
		why = append(why, g.Reason)
	}
	return res, why
}

// without leaves out a member of items, of reasoning too if all.
func without(items []string, member string, all bool) (out []string) {
	for _, s := range items {
		var m map[string]any
		if json.Unmarshal([]byte(s), &m); all || m["type"] != "reasoning" {
			delete(m, member)
		}
		b, _ := json.Marshal(m)
		out = append(out, string(b))
	}
	return out
}

func isReasoning(s string) bool { return strings.Contains(s, `"type":"reasoning"`) }

// Reasoning that is not in its place is taken out and reported, from the version on that binds it.
func TestBindingOfReasoning(t *testing.T) {
	s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2, Thought: 60}})
	for _, model := range []string{boundModel, freeModel} {
		r := newRespondent(t, url, model, false)
		for i := range 3 {
			r.turn(fmt.Sprint("turn ", i))
		}
		items := r.rawItems()
		thoughts := len(slices.DeleteFunc(slices.Clone(items), func(s string) bool { return !isReasoning(s) }))
		second := 0 // of the reasoning behind the first output
		for _, it := range items[slices.IndexFunc(items, func(s string) bool { return strings.Contains(s, "_output\"") }):] {
			if isReasoning(it) {
				second++
			}
		}
		changed := slices.Clone(items)
		k := slices.IndexFunc(items, func(s string) bool { return strings.Contains(s, "_output\"") })
		changed[k] = strings.Replace(changed[k], "result of", "cut", 1)
		for _, tt := range []struct {
			name   string
			items  []string
			more   []openaioption.RequestOption
			reason string
			n      int
		}{
			{name: "AsItWas", items: items},
			{name: "WithoutIDs", items: without(without(items, "id", false), "status", true)},
			{name: "OtherKeyOfTheCache", items: items, more: []openaioption.RequestOption{openaioption.WithJSONSet("prompt_cache_key", "two")}},
			{name: "Appended", items: append(slices.Clone(items), itemUser, `{"role":"developer","content":"x"}`)},
			{name: "OutputIsCut", items: changed, reason: "prefix_mismatch", n: second},
			{name: "FirstIsGone", items: items[1:], reason: "prefix_mismatch", n: thoughts},
			{name: "OtherTools", items: items, more: []openaioption.RequestOption{openaioption.WithJSONSet("tools", []any{})}, reason: "prefix_mismatch", n: thoughts},
			{name: "OtherModel", items: items, more: []openaioption.RequestOption{openaioption.WithJSONSet("model", "gpt-6.2-astra")}, reason: "model_mismatch", n: thoughts},
			{name: "OtherUser", items: items, more: []openaioption.RequestOption{openaioption.WithJSONSet("safety_identifier", "u")}, reason: "end_user_mismatch", n: thoughts},
			{name: "OtherAccount", items: items, more: []openaioption.RequestOption{openaioption.WithAPIKey("other")}, reason: "organization_mismatch", n: thoughts},
		} {
			want := tt.n
			if model == freeModel && tt.name != "OtherModel" {
				want = 0
			}
			if _, why := r.ask(tt.items, tt.more...); len(why) != want || len(why) > 0 && (why[0] != tt.reason || why[len(why)-1] != tt.reason) {
				t.Errorf("%s, %s: %q, want %d times %q", model, tt.name, why, want, tt.reason)
			} else if s.Log.Last().Dropped != want {
				t.Errorf("%s: logged %d", tt.name, s.Log.Last().Dropped)
			}
		}
		if _, why := r.ask(items, openaioption.WithJSONSet("reasoning.context", "current_turn")); len(why) == 0 || why[0] != "turn_boundary" || len(why) >= thoughts {
			t.Errorf("%s, current turn: %q of %d", model, why, thoughts)
		}
		bare := slices.DeleteFunc(slices.Clone(items), isReasoning)
		got := askFor(t, url, "/v1/responses", "", bare...)
		checkRefusal(t, got, "was provided without its required 'reasoning' item: 'rs_", "input")
		checkRefusal(t, askFor(t, url, "/v1/responses", "", without(bare, "id", true)...), "", "")
	}
}

// reading is a model that knows what it is sent.
func reading() sandbox.Options {
	return sandbox.Options{Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		noted := sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer {
			return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Noted."}}}
		})
		a, _ := sandbox.Reader{Else: noted}.Answer(context.Background(), p) // it fails at nothing
		a.Blocks = append([]sandbox.Block{{Kind: decant.KindThinking, Text: "Let me see."}}, a.Blocks...)
		return a
	})}
}

// A compaction that the client asks for is one item, and stands for everything before it. What the client puts beside
// it is live, and what is thought behind it stays valid.
func TestCompactionTrigger(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s, url := start(t, reading())
		r := newRespondent(t, url, boundModel, stream)
		r.turn("The port is 8443.\n" + long(6000))
		r.turn("What is the port?")
		items := r.rawItems()
		r.p.Input.OfInputItemList = itemsOf(append(items, `{"type":"compaction_trigger"}`)...)
		res, err := respond(t, r.c, r.p, stream)
		if err != nil || len(res.Output) != 1 || res.Output[0].Type != "compaction" || strings.Contains(res.Output[0].EncryptedContent, "8443") {
			t.Fatalf("%v, %+v", err, res)
		}
		r.p.Input.OfInputItemList = append(itemsOf(`{"type":"additional_tools","role":"developer","tools":[]}`, userItem("Be brief. The host is north.")), again(res)...)
		r.turn("What is the port?")
		r.turn("What is the host?")
		all := strings.Join(r.rawItems(), "\n")
		if !strings.Contains(all, "The port is 8443") || !strings.Contains(all, "The host is north") || s.Log.Last().Dropped > 0 || s.Log.Last().Prompt > 2500 {
			t.Errorf("%+v\n%s", s.Log.Last(), all)
		}
	}
}

// A compaction at a threshold comes with the answer. What it stands for may be left out or sent again.
func TestCompactionAtAThreshold(t *testing.T) {
	s, url := start(t, reading())
	r := newRespondent(t, url, boundModel, true)
	r.p.ContextManagement = []responses.ResponseNewParamsContextManagement{{Type: "compaction", CompactThreshold: openai.Int(3000)}}
	r.p.Input.OfInputItemList = itemsOf(`{"type":"configuration_update","reasoning":{"effort":"low"}}`)
	r.turn("The port is 8443.\n" + long(2000))
	if k := s.Log.Last().Compactions; k != 0 {
		t.Errorf("%d compactions", k)
	}
	r.turn("The host is north.\n" + long(2000))
	r.turn("What is the port? What is the host?")
	kinds := ""
	for _, it := range r.rawItems() {
		var m struct{ Type string }
		json.Unmarshal([]byte(it), &m)
		kinds += m.Type + " "
	}
	if want := "message compaction configuration_update reasoning message "; !strings.Contains(kinds, want) || strings.Count(kinds, " compaction") != 1 {
		t.Errorf("%s, want %s", kinds, want)
	}
	if last := r.last.OutputText(); !strings.Contains(last, "8443") || !strings.Contains(last, "north") {
		t.Errorf("%s", last)
	}
	items := append(r.rawItems(), itemUser)
	_, why := r.ask(items)
	all := s.Log.Last().Prompt
	if k := slices.IndexFunc(items, func(s string) bool { return strings.Contains(s, `"compaction"`) }); len(why) > 0 || k < 0 {
		t.Errorf("%q", why)
	} else if _, why := r.ask(items[k:]); len(why) > 0 || s.Log.Last().Prompt != all || all > 3000 {
		t.Errorf("%q, %d tokens with what the compaction stands for, %d without", why, all, s.Log.Last().Prompt)
	}
}

// The endpoint compacts what it is given; reasoning that came later stays valid behind it.
func TestCompactEndpoint(t *testing.T) {
	s, url := start(t, reading())
	r := newRespondent(t, url, boundModel, false)
	r.turn("The port is 8443.")
	old := r.rawItems()
	r.turn("What is the port?")
	kept := r.rawItems()[len(old):]
	got := do(t, "POST", url+"/v1/responses/compact", `{"model":"`+boundModel+`","input":[`+strings.Join(old, ",")+`]}`, "authorization", "Bearer key")
	var res responses.CompactedResponse
	if err := json.Unmarshal([]byte(got.body), &res); err != nil || res.Object != "response.compaction" || len(res.Output) != 2 || res.Output[0].Type != "message" || res.Output[1].Type != "compaction" || res.Usage.InputTokens == 0 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	items := append([]string{res.Output[0].RawJSON(), res.Output[1].RawJSON()}, kept...)
	if _, why := r.ask(append(items, itemUser)); len(why) > 0 || s.Log.Last().Dropped > 0 {
		t.Errorf("%q", why)
	}
}

// The server goes on from responses that it stores, and from no others; it counts as it bills.
func TestStateOfResponses(t *testing.T) {
	s, url := start(t, reading())
	c := chatClient(url)
	p := responses.ResponseNewParams{Model: boundModel, Instructions: openai.String("Be brief.")}
	p.Input.OfString = openai.String("The port is 8443.")
	first, err := c.Responses.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	p.PreviousResponseID = openai.String(first.ID)
	p.Input.OfString = openai.String("What is the port?")
	second, err := respond(t, c, p, true)
	if err != nil || !strings.Contains(second.OutputText(), "8443") || s.Log.Last().Dropped > 0 {
		t.Fatalf("%v, %+v", err, second)
	}
	n, err := c.Responses.InputTokens.Count(t.Context(), responses.InputTokenCountParams{
		Model: openai.String(boundModel), PreviousResponseID: p.PreviousResponseID, Instructions: p.Instructions,
		Input: responses.InputTokenCountParamsInputUnion{OfString: p.Input.OfString},
	})
	if err != nil || n.InputTokens != second.Usage.InputTokens {
		t.Errorf("%v, %+v, want %d", err, n, second.Usage.InputTokens)
	}
	whole, err := c.Responses.Get(t.Context(), second.ID, responses.ResponseGetParams{})
	if err != nil || whole.OutputText() != second.OutputText() {
		t.Errorf("%v, %+v", err, whole)
	}
	list, err := c.Responses.InputItems.List(t.Context(), second.ID, responses.InputItemListParams{})
	if err != nil || len(list.Data) != 4 { // message, reasoning, message; message
		t.Errorf("%v, %+v", err, list)
	}
	for _, it := range first.Output { // the server has what the client was not given
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(fmt.Sprintf(`{"type":"item_reference","id":%q}`, it.ID))))
	}
	p.Input.OfString, p.PreviousResponseID = param.Opt[string]{}, param.Opt[string]{}
	if _, err := c.Responses.New(t.Context(), p); err != nil {
		t.Error(err)
	}
	if err := c.Responses.Delete(t.Context(), first.ID); err != nil {
		t.Error(err)
	}
	p.PreviousResponseID = openai.String(first.ID)
	if _, err := c.Responses.New(t.Context(), p); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("deleted: %v", err)
	}
	p = responses.ResponseNewParams{Model: boundModel, Store: openai.Bool(false)}
	p.Input.OfString = openai.String("hello")
	if first, err = c.Responses.New(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.PreviousResponseID = openai.String(first.ID)
	if _, err = c.Responses.New(t.Context(), p); err == nil {
		t.Error("a response that is not stored was found")
	}
}

// Tools of every kind are called in their own words.
func TestCallsOfResponses(t *testing.T) {
	tools := `"tools":[{"type":"function","name":"slow","async":true},{"type":"custom","name":"exec"},{"type":"shell"},{"type":"apply_patch"},
		{"type":"tool_search","execution":"client"},{"type":"programmatic_tool_calling"},{"type":"namespace","name":"files","tools":[{"type":"function","name":"read"}]}],`
	for name, want := range map[string]string{
		"slow":        `"type":"function_call","status":"completed","call_id":"c9","name":"slow","arguments":"{\"commands\":[\"ls\"]}","async":true}`,
		"exec":        `"type":"custom_tool_call","status":"completed","call_id":"c9","name":"exec","input":"{\"commands\":[\"ls\"]}"}`,
		"shell":       `"type":"shell_call","status":"completed","call_id":"c9","action":{"commands":["ls"]}}`,
		"apply_patch": `"type":"apply_patch_call","status":"completed","call_id":"c9","operation":{"commands":["ls"]}}`,
		"tool_search": `"type":"tool_search_call","status":"completed","call_id":"c9","execution":"client","arguments":{"commands":["ls"]}}`,
		"program":     `"type":"program","call_id":"c9","code":"{\"commands\":[\"ls\"]}","fingerprint":`,
		"read":        `"name":"read","arguments":"{\"commands\":[\"ls\"]}","namespace":"files"}`,
		"unknown":     `"type":"function_call","status":"completed","call_id":"c9","name":"unknown"`,
	} {
		_, url := start(t, sandbox.Options{Model: sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, ID: "c9", Name: name, Input: []byte(`{"commands":["ls"]}`)}}}
		})})
		if got := askFor(t, url, "/v1/responses", tools, itemUser); got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", name, got.body, want)
		}
	}
}

// What a model says arrives in the terms of this API.
func TestAnswersOfResponses(t *testing.T) {
	for _, tt := range []struct {
		name, fields, want string
		answer             sandbox.Answer
	}{
		{"Cut", `"max_output_tokens":16,`, `"status":"incomplete"`, sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: long(99)}}}},
		{"CutInThought", `"max_output_tokens":16,`, `"incomplete_details":{"reason":"max_output_tokens"}`, sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindThinking, Text: long(99)}}}},
		{"Refusal", "", `{"type":"refusal","refusal":"No."}`, sandbox.Answer{Stop: "refusal", Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "No."}}}},
		{"Nothing", "", `"text":"Done."`, sandbox.Answer{}},
		{"Prewarm", `"prompt_cache_options":{"prewarm":true},`, `"output":[]`, sandbox.Answer{}},
		{"LongCache", `"prompt_cache_options":{"ttl":"12h"},`, `"cache_write_tokens_details":{"ttl_30m_tokens":0,"ttl_12h_tokens":1`, sandbox.Answer{}},
		{"NoCache", `"prompt_cache_options":{"mode":"explicit"},`, `"cached_tokens":0,"cache_write_tokens":0`, sandbox.Answer{}},
	} {
		for _, stream := range []string{"", `"stream":true,`} {
			_, url := start(t, sandbox.Options{Model: sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return tt.answer })})
			if got := askFor(t, url, "/v1/responses", tt.fields+stream, userItem(long(2000))); got.status != 200 || !strings.Contains(got.body, tt.want) {
				t.Errorf("%s: %s, want %s", tt.name, got.body, tt.want)
			}
		}
	}
}
