package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"pgregory.net/rapid"

	"github.com/decantdev/decant/testing/sandbox"
)

const (
	demandBeta = "compact-2026-09-04"
	edgeBeta   = "compact-2026-01-12"
	demand     = `"compaction":{"type":"summarize"},`
	edge       = `"context_management":{"edits":[{"type":"compact_20260112"}]},`
)

// signedBlock lets a server summarize a short conversation.
func signedBlock(t testing.TB, url string) string {
	t.Helper()
	k := &talk{t: t, url: url, fields: demand, header: []string{"anthropic-beta", demandBeta}}
	k.add(say("The port is 8443."))
	k.ask()
	return k.msgs[1].Content[0]
}

// errorCode returns error.details.error_code of a refusal.
func errorCode(body string) string {
	var e struct {
		Error struct {
			Details struct {
				Code string `json:"error_code"`
			}
		}
	}
	json.Unmarshal([]byte(body), &e)
	return e.Error.Details.Code
}

// A codedRule is a rule whose refusal has a code.
type codedRule struct {
	rule
	code string
}

// demandRules are what is refused of a compaction on demand and of requests that carry a block of one, and what is not.
func demandRules(signed string) []codedRule {
	first := func(block string) string { return `{"role":"assistant","content":[` + block + `]}` }
	const null = `{"role":"assistant","content":[{"type":"compaction","content":null}]}`
	return []codedRule{
		{rule{name: "Summarized", fields: demand}, ""},
		{rule{name: "EndsWithTheAssistant", fields: demand, messages: user + `,{"role":"assistant","content":"x"}`}, ""},
		{rule{name: "Instructions", fields: `"compaction":{"type":"summarize","instructions":"Be brief."},`}, ""},
		{rule{name: "UnknownType", fields: `"compaction":{"type":"drop"},`, status: 400, text: "Input tag 'drop'"}, ""},
		{rule{name: "UnknownField", fields: `"compaction":{"type":"summarize","model":"x"},`, status: 400, text: "model: Extra inputs are not permitted"}, ""},
		{rule{name: "InstructionsTooLong", fields: `"compaction":{"type":"summarize","instructions":"` + strings.Repeat("é", 16_385) + `"},`, status: 400, text: "at most 16384 characters"}, ""},
		{rule{name: "InstructionsOfTheLimit", fields: `"compaction":{"type":"summarize","instructions":"` + strings.Repeat("é", 16_384) + `"},`}, ""},
		{rule{name: "OldModel", model: old, fields: demand, status: 400, text: "claude-sonnet-4-5 does not support compaction"}, ""},
		{rule{name: "WithEditing", fields: demand + `"context_management":{"edits":[]},`, beta: demandBeta + "," + editingBeta, status: 400, text: "cannot be combined with `context_management`"}, ""},
		{rule{name: "WithStopSequences", fields: demand + `"stop_sequences":["x"],`, status: 400, text: "cannot be combined with `stop_sequences`"}, ""},
		{rule{name: "WithFormat", fields: demand + `"output_config":{"format":{"type":"json_schema"}},`, status: 400, text: "cannot be combined with `output_config.format`"}, ""},
		{rule{name: "WithForcedTool", model: "claude-opus-4-8", fields: demand + bash + `"tool_choice":{"type":"any"},`, status: 400, text: "cannot be combined with `tool_choice`"}, ""},
		{rule{name: "WithRemainingBudget", fields: demand + `"output_config":{"task_budget":{"type":"tokens","total":20000,"remaining":5}},`, beta: demandBeta + ",task-budgets-2026-03-13", status: 400, text: "task_budget.remaining: cannot be combined"}, ""},
		{rule{name: "NoMessages", fields: demand, messages: " ", status: 400, text: "nothing to summarize"}, "compaction_nothing_to_summarize"},
		{rule{name: "NothingBehindTheBlock", fields: demand, messages: first(signed), status: 400, text: "nothing to summarize"}, "compaction_nothing_to_summarize"},
		{rule{name: "OpenTurn", fields: demand + bash, messages: user + "," + call, status: 400, text: "is not finished (t1 has no result)"}, "compaction_incomplete_turn"},
		{rule{name: "OpenServerTurn", fields: demand, messages: user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}]}`, status: 400, text: "s1 has no result"}, "compaction_incomplete_turn"},
		{rule{name: "AnsweredTurn", fields: demand + bash, messages: user + "," + call + "," + result}, ""},

		{rule{name: "BlockFirst", messages: first(signed) + "," + user}, ""},
		{rule{name: "BlockInTheUsersMessage", messages: `{"role":"user","content":[` + signed + `,{"type":"text","text":"go on"}]}`}, ""},
		{rule{name: "BlockMarked", messages: first(mark(signed, "")) + "," + user}, ""},
		{rule{name: "BlockThenAssistant", messages: first(signed) + `,{"role":"assistant","content":"x"},` + user}, ""},
		{rule{name: "BlockOfAnOlderModel", model: "claude-opus-4-6", messages: first(signed) + "," + user}, ""},
		{rule{name: "NoBeta", beta: "effort-2025-11-24", messages: first(signed) + "," + user, status: 400, text: "Input tag 'compaction' found using 'type' does not match"}, ""},
		{rule{name: "OtherBeta", beta: edgeBeta, messages: first(signed) + "," + user, status: 400, text: "`signature` requires anthropic-beta: compact-2026-09-04"}, ""},
		{rule{name: "Misplaced", messages: user + "," + first(signed) + "," + user, status: 400, text: "messages.1.content.0: `compaction` block must be sent first, in place of the messages it summarizes"}, "compaction_block_misplaced"},
		{rule{name: "MisplacedInItsMessage", messages: `{"role":"user","content":[{"type":"text","text":"x"},` + signed + `]}`, status: 400, text: "must be sent first"}, "compaction_block_misplaced"},
		{rule{name: "Ambiguous", messages: first(signed) + "," + user + "," + first(signed) + "," + user, status: 400, text: "more than one `compaction` block"}, "compaction_block_ambiguous"},
		{rule{name: "FailedOneBeside", messages: first(signed) + "," + user + "," + null + "," + user}, ""},
		{rule{name: "ContentChanged", messages: first(strings.Replace(signed, `"content":"`, `"content":"X`, 1)) + "," + user, status: 400, text: "was changed after it was returned"}, "compaction_content_mismatch"},
		{rule{name: "SignatureChanged", messages: first(strings.Replace(signed, `"signature":"A`, `"signature":"B`, 1)) + "," + user, status: 400, text: "was changed"}, "compaction_signature_invalid"},
		{rule{name: "ForeignSignature", messages: first(`{"type":"compaction","content":"x","signature":"EqQB"}`) + "," + user, status: 400, text: "was changed"}, "compaction_signature_invalid"},
		{rule{name: "NoSignature", messages: first(`{"type":"compaction","content":"x"}`) + "," + user, status: 400, text: "requires its `signature`"}, ""},
		{rule{name: "Empty", messages: first(`{"type":"compaction","content":""}`) + "," + user, status: 400, text: "content: String should have at least 1 character"}, ""},
		{rule{name: "UnknownBlockField", messages: first(strings.Replace(signed, "{", `{"citations":null,`, 1)) + "," + user, status: 400, text: "messages.0.content.0.compaction.citations: Extra inputs are not permitted"}, ""},
		{rule{name: "FieldThatWasNotReturned", messages: first(strings.Replace(signed, "{", `{"encrypted_content":null,`, 1)) + "," + user, status: 400, text: "compaction.encrypted_content: Extra inputs are not permitted"}, ""},
		{rule{name: "WithThreshold", beta: demandBeta + "," + edgeBeta, fields: edge, messages: first(signed) + "," + user, status: 400, text: "cannot run on a request that carries a signed"}, ""},
		{rule{name: "BlockWithRemainingBudget", fields: `"output_config":{"task_budget":{"type":"tokens","total":20000,"remaining":5}},`, beta: demandBeta + ",task-budgets-2026-03-13", messages: first(signed) + "," + user, status: 400, text: "task_budget.remaining"}, ""},
		{rule{name: "ResultOfASummarizedCall", fields: bash, messages: first(signed) + "," + result, status: 400, text: "unexpected `tool_use_id`"}, ""},
	}
}

func TestCompactionRefusals(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, r := range demandRules(signedBlock(t, url)) {
		t.Run(r.name, func(t *testing.T) {
			if r.beta == "" {
				r.beta = demandBeta
			}
			got := do(t, "POST", url+"/v1/messages", r.body(), "anthropic-beta", r.beta)
			if want := max(r.status, 200); got.status != want {
				t.Fatalf("status %d, want %d\n%s", got.status, want, got.body)
			}
			if r.status != 0 {
				checkError(t, got, r.status, r.text)
			}
			if code := errorCode(got.body); code != r.code {
				t.Errorf("error_code %q, want %q", code, r.code)
			}
		})
	}
}

func TestCompactionUnavailable(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultUnavailable})
	got := do(t, "POST", url+"/v1/messages", rule{fields: demand}.body(), "anthropic-beta", demandBeta)
	if got.status != 529 || errorCode(got.body) != "compaction_unavailable" || !strings.Contains(got.body, "overloaded_error") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// passes is usage.iterations of an answer.
func passes(t *testing.T, body string) (top usage, list []string, sum usage) {
	t.Helper()
	var m struct {
		Usage struct {
			usage
			Iterations []struct {
				Type, Model string
				usage
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	for _, i := range m.Usage.Iterations {
		list = append(list, i.Type)
		sum.Input, sum.Write, sum.Read, sum.Out = sum.Input+i.Input, sum.Write+i.Write, sum.Read+i.Read, sum.Out+i.Out
		if (i.Type == "message") != (i.Model != "") {
			t.Errorf("pass %+v", i)
		}
	}
	return m.Usage.usage, list, sum
}

// A compaction costs what its pass uses; the counters at the top are those of answers alone.
func TestCompactionUsage(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	k := &talk{t: t, url: url, model: newest, marks: true, header: []string{"anthropic-beta", demandBeta}}
	k.add(say(strings.Repeat("The port is 8443. ", 200)))
	k.ask()
	if _, list, _ := passes(t, k.last.body); fmt.Sprint(list) != "[message]" {
		t.Errorf("passes %v of an answer", list)
	}
	c := k.copy()
	c.fields, c.marks = demand, false
	c.msgs[0].Content[0] = mark(c.msgs[0].Content[0], "")
	c.ask()
	top, list, sum := passes(t, c.last.body)
	if top != (usage{}) || fmt.Sprint(list) != "[compaction]" || sum.Read < 1200 || sum.Input == 0 || sum.Out == 0 {
		t.Errorf("top %+v, passes %v, together %+v", top, list, sum)
	}
	e := s.Log.Last()
	if e.Compactions != 1 || e.Stop != "compaction" || e.Usage.CacheRead != sum.Read || e.Usage.Output != sum.Out {
		t.Errorf("logged %+v", e.Usage)
	}
	k.msgs = append(c.msgs[2:3], k.msgs[2:]...)
	k.turn("What is the port?")
	if m := s.Log.Last(); m.Prompt == 0 || m.Prompt > e.Prompt {
		t.Errorf("behind the block a prompt has %d tokens, before it had %d", m.Prompt, e.Prompt)
	}
}

// Where the summarizer brings no text, the answer is empty and says why.
func TestCompactionWithoutSummary(t *testing.T) {
	huge := strings.Repeat("word ", 3000)
	for _, tt := range []struct {
		name   string
		answer sandbox.Answer
		fields string
		stop   string
	}{
		{"Refusal", sandbox.Answer{Blocks: []sandbox.Block{{Kind: "text", Text: "I cannot."}}, Stop: "refusal"}, "", "refusal"},
		{"ToolUse", sandbox.Answer{Blocks: []sandbox.Block{{Kind: "use", Name: "Bash"}}}, bash, "tool_use"},
		{"NoText", sandbox.Answer{}, "", "end_turn"},
		{"CutOff", sandbox.Answer{Blocks: []sandbox.Block{{Kind: "text", Text: huge}}}, "", "max_tokens"},
		{"NoRoom", sandbox.Answer{Blocks: []sandbox.Block{{Kind: "text", Text: "x"}}}, `"compaction":{"type":"summarize","instructions":"` + huge + `"},`, "model_context_window_exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, url := start(t, sandbox.Options{Window: 4000, Summarizer: &sandbox.Script{Answers: []sandbox.Answer{tt.answer, tt.answer}}})
			if !strings.Contains(tt.fields, "compaction") {
				tt.fields += demand
			}
			for _, stream := range []string{"", `"stream":true,`} {
				got := do(t, "POST", url+"/v1/messages", rule{fields: tt.fields + stream}.body(), "anthropic-beta", demandBeta)
				if got.status != 200 || stream == "" && !strings.Contains(got.body, `"content":[],"stop_reason":"`+tt.stop+`"`) || strings.Contains(got.body, "content_block_start") {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if stream != "" {
					continue
				}
				if top, list, sum := passes(t, got.body); top != (usage{}) || len(list) != 1 || (sum == usage{}) != (tt.stop == "model_context_window_exceeded") {
					t.Errorf("top %+v, passes %v, together %+v", top, list, sum)
				}
			}
		})
	}
}

// compactedTalk plays a conversation of bound thinking and lets the first n messages be summarized.
func compactedTalk(t *testing.T, turns, n int, more string) (full, swapped *talk) {
	t.Helper()
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2, Thought: 200}})
	full = &talk{t: t, url: url, model: newest, fields: bash + `"system":"be brief",` + more, header: []string{"anthropic-beta", demandBeta}}
	for i := range turns {
		full.turn(fmt.Sprint("turn ", i))
	}
	return full, swap(full, n)
}

// swap lets the first n messages be summarized and puts the block in their place.
func swap(full *talk, n int) *talk {
	full.t.Helper()
	c := full.copy()
	c.fields, c.msgs = full.fields+demand, c.msgs[:n]
	c.ask()
	k := full.copy()
	k.msgs = append([]message{c.msgs[n]}, k.msgs[n:]...)
	return k
}

// Thinking behind the block stays valid when the range ended where the role changes, and through a second compaction.
func TestKeptThinkingStaysValid(t *testing.T) {
	full, k := compactedTalk(t, 4, 6, "") // a turn has six messages
	if len(full.msgs) != 24 || len(k.thoughts()) == 0 {
		t.Fatalf("%d messages, %d thoughts", len(full.msgs), len(k.thoughts()))
	}
	k.turn("and on")
	again := swap(k, 7) // the block and the second turn
	if len(again.thoughts()) >= len(k.thoughts()) {
		t.Errorf("%d thoughts of %d are kept", len(again.thoughts()), len(k.thoughts()))
	}
	again.turn("and on")
	if n := len(again.thoughts()); n < 9 {
		t.Errorf("%d thoughts", n)
	}
}

// While the summary is made the conversation goes on; the block takes the place of what was summarized later.
func TestCompactionInTheBackground(t *testing.T) {
	full, _ := compactedTalk(t, 2, 6, "")
	block := swap(full, 11).msgs[0] // the last message is a result, and the answer to it is not in the range
	full.turn("meanwhile")
	full.msgs = append([]message{block}, full.msgs[11:]...)
	full.turn("and on")
}

func TestKeptThinkingBreaks(t *testing.T) {
	const bound = "bound to a different conversation"
	for _, tt := range []struct {
		name   string
		change func(k *talk)
		text   string
	}{
		{"MessageBetween", func(k *talk) {
			k.msgs = append(k.msgs[:1], append([]message{{Role: "user", Content: []string{say("x")}}}, k.msgs[1:]...)...)
		}, bound},
		{"MessageSkipped", func(k *talk) { k.msgs = append(k.msgs[:1], k.msgs[7:]...) }, bound},
		{"System", func(k *talk) { k.fields = strings.Replace(k.fields, "be brief", "be long", 1) }, "system prompt has changed"},
		{"Tools", func(k *talk) { k.fields = strings.Replace(k.fields, `"Bash",`, `"Bash","description":"x",`, 1) }, "tools have changed"},
		{"NoBlock", func(k *talk) { k.msgs = k.msgs[1:] }, bound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, k := compactedTalk(t, 3, 6, "")
			tt.change(k)
			k.add(say("and on"))
			k.send()
			checkError(t, k.last, 400, tt.text)
		})
	}
	t.Run("SameRole", func(t *testing.T) {
		full, _ := compactedTalk(t, 1, 6, "")
		full.add(say("one"))
		full.add(say("two"))
		full.finish()
		k := swap(full, 7) // it ends with the user, who goes on
		k.add(say("and on"))
		k.send()
		checkError(t, k.last, 400, bound)
	})
	t.Run("OtherModel", func(t *testing.T) {
		full, _ := compactedTalk(t, 2, 6, "")
		other := full.copy()
		other.model = "claude-opus-4-8"
		other.without(0, 1, 2, 3, 4, 5)
		block := swap(other, 6).msgs[0]
		full.msgs = append([]message{block}, full.msgs[6:]...)
		full.add(say("and on"))
		full.send()
		checkError(t, full.last, 400, bound)
	})
	t.Run("AnotherSummary", func(t *testing.T) { // thinking is bound to the block that was there
		full, k := compactedTalk(t, 1, 6, "")
		k.turn("and on")
		c := full.copy()
		c.fields, c.msgs = full.fields+`"compaction":{"type":"summarize","instructions":"In one sentence."},`, c.msgs[:5]
		c.ask()
		k.msgs[0] = c.msgs[5]
		k.add(say("and on"))
		k.send()
		checkError(t, k.last, 400, bound)
	})
}

// The official client asks for a summary, sends the block back and goes on, with and without streams.
func TestOfficialClientCompacts(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("Stream=", stream), func(t *testing.T) {
			s, url := start(t, sandbox.Options{})
			c := client(url)
			p := anthropic.BetaMessageNewParams{
				Model: newest, MaxTokens: 4096, Betas: []anthropic.AnthropicBeta{demandBeta},
				Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("The port is 8443."))},
			}
			p.Compaction = anthropic.BetaCompactionConfigUnionParam{OfSummarize: &anthropic.BetaSummarizeCompactionParam{}}
			m := createBeta(t, c, p, stream)
			if m.StopReason != "compaction" || len(m.Content) != 1 || m.Content[0].Signature == "" || m.Usage.InputTokens != 0 || len(m.Usage.Iterations) != 1 {
				t.Fatalf("message %s", m.RawJSON())
			}
			p.Compaction = anthropic.BetaCompactionConfigUnionParam{}
			p.Messages = []anthropic.BetaMessageParam{m.ToParam(), anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Go on."))}
			if m = createBeta(t, c, p, stream); m.StopReason != "end_turn" {
				t.Errorf("message %s", m.RawJSON())
			}
			if refused := s.Log.Refused(); len(refused) > 0 {
				t.Errorf("refused: %s", refused[0].Error)
			}
		})
	}
}

// createBeta asks with or without a stream, through the client's beta service.
func createBeta(t *testing.T, c anthropic.Client, p anthropic.BetaMessageNewParams, stream bool) *anthropic.BetaMessage {
	t.Helper()
	if !stream {
		m, err := c.Beta.Messages.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	events := c.Beta.Messages.NewStreaming(t.Context(), p)
	defer events.Close()
	var m anthropic.BetaMessage
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := events.Err(); err != nil {
		t.Fatal(err)
	}
	return &m
}

// In a stream a signed block comes whole.
func TestSignedBlockStreamsWhole(t *testing.T) {
	_, url := start(t, sandbox.Options{Chunk: 5})
	got := do(t, "POST", url+"/v1/messages", rule{fields: demand + `"stream":true,`}.body(), "anthropic-beta", demandBeta)
	if strings.Contains(got.body, "content_block_delta") || !strings.Contains(got.body, `"content_block":{"type":"compaction","content":"`) ||
		!strings.Contains(got.body, `"stop_reason":"compaction"`) || !strings.Contains(got.body, `"iterations":[{"type":"compaction","input_tokens":`) {
		t.Error(got.body)
	}
}

// A count leaves the parameter out of account, and counts a block for what it says.
func TestCountsOfCompactions(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	count := func(fields, messages string) string {
		body := strings.Replace(rule{fields: fields, messages: messages}.body(), `"max_tokens":4096,`, "", 1)
		return do(t, "POST", url+"/v1/messages/count_tokens", body, "anthropic-beta", demandBeta).body
	}
	if with, without := count(demand, user), count("", user); with != without || !strings.Contains(with, "input_tokens") {
		t.Errorf("with the parameter %s, without %s", with, without)
	}
	signed := signedBlock(t, url)
	if got := count("", `{"role":"assistant","content":[`+signed+`]},`+user); !strings.Contains(got, "input_tokens") || got == count("", user) {
		t.Errorf("with a block %s", got)
	}
}

// A conversation whose older messages are summarized again and again, at any place where a range may end, is never
// refused: thinking of what was kept holds, and so does thinking from before two compactions.
func TestCompactedConversationsAreAccepted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := sandbox.New(sandbox.Options{Model: &sandbox.Rules{Calls: rapid.IntRange(0, 3).Draw(rt, "calls"), Parallel: rapid.IntRange(1, 2).Draw(rt, "parallel"), Thought: 60}})
		srv := httptest.NewServer(s)
		defer srv.Close()
		k := &talk{t: t, url: srv.URL, model: newest, fields: bash, header: []string{"anthropic-beta", demandBeta}}
		for turn := range rapid.IntRange(2, 6).Draw(rt, "turns") {
			k.add(say(fmt.Sprint("turn ", turn)))
			for calls := k.ask(); len(calls) > 0; calls = k.ask() {
				k.reply(calls, "result")
				k = someSwap(rt, k)
			}
			k = someSwap(rt, k)
		}
		if refused := s.Log.Refused(); len(refused) > 0 {
			rt.Fatalf("refused: %s", refused[0].Error)
		}
	})
}

// someSwap lets a beginning of a conversation be summarized, now and then.
func someSwap(rt *rapid.T, k *talk) *talk {
	var ends []int
	for n := 2; n < len(k.msgs); n++ {
		if k.msgs[n].Role != k.msgs[n-1].Role && !strings.Contains(strings.Join(k.msgs[n-1].Content, ""), `"type":"tool_use"`) {
			ends = append(ends, n)
		}
	}
	if len(ends) == 0 || rapid.IntRange(0, 2).Draw(rt, "compact") > 0 {
		return k
	}
	return swap(k, rapid.SampledFrom(ends).Draw(rt, "end"))
}
