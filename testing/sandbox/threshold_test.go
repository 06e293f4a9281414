package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// compactAt is the edit that compacts at a number of tokens.
func compactAt(tokens int, more string) string {
	return fmt.Sprintf(`"context_management":{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":%d}%s}]},`, tokens, more)
}

// thresholdRules are what is refused of the edit and of requests that carry its block, and what is not.
func thresholdRules() []rule {
	edit := func(fields string) string {
		return `"context_management":{"edits":[{"type":"compact_20260112",` + fields + `}]},`
	}
	const (
		block = `{"role":"assistant","content":[{"type":"compaction","content":"The port is 8443."},{"type":"text","text":"Yes."}]}`
		null  = `{"role":"assistant","content":[{"type":"compaction","content":null},{"type":"text","text":"Yes."}]}`
	)
	return []rule{
		{name: "Defaults", fields: edge},
		{name: "WithEditing", fields: adaptive + `"context_management":{"edits":[` + keepAll + `,{"type":"clear_tool_uses_20250919"},{"type":"compact_20260112"}]},`},
		{name: "EditingWithThisBetaAlone", fields: `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`},
		{name: "ThinkingNotFirst", fields: adaptive + `"context_management":{"edits":[{"type":"compact_20260112"},` + keepAll + `]},`, status: 400, text: "must be the first strategy"},
		{name: "EveryField", fields: compactAt(50_000, `,"pause_after_compaction":true,"instructions":"x"`)},
		{name: "NullInstructions", fields: edit(`"instructions":null`)},
		{name: "TooLow", fields: compactAt(49_999, ""), status: 400, text: "context_management.edits.0.compact_20260112: trigger.value must be at least 50000"},
		{name: "OtherTrigger", fields: edit(`"trigger":{"type":"tool_uses","value":60000}`), status: 400, text: "Input tag 'tool_uses'"},
		{name: "TriggerWithoutValue", fields: edit(`"trigger":{"type":"input_tokens"}`), status: 400, text: "trigger.value: Field required"},
		{name: "PauseIsNotABoolean", fields: edit(`"pause_after_compaction":1`), status: 400, text: "should be a valid boolean"},
		{name: "UnknownField", fields: edit(`"keep":3`), status: 400, text: "keep: Extra inputs are not permitted"},
		{name: "Twice", fields: `"context_management":{"edits":[{"type":"compact_20260112"},{"type":"compact_20260112"}]},`, status: 400, text: "is given twice"},
		{name: "OldModel", model: old, fields: edge, status: 400, text: "claude-sonnet-4-5 does not support the 'compact_20260112' context management strategy"},

		{name: "BlockSentBack", fields: edge, messages: user + "," + block + "," + user},
		{name: "BlockFirst", fields: edge, messages: block + "," + user},
		{name: "BlockTwice", fields: edge, messages: user + "," + block + "," + user + "," + block + "," + user},
		{name: "BlockMarked", fields: edge, messages: user + `,{"role":"assistant","content":[{"type":"compaction","content":"x","cache_control":{"type":"ephemeral"}}]},` + user},
		{name: "BlockOfTheUser", fields: edge, messages: `{"role":"user","content":[{"type":"compaction","content":"x"},{"type":"text","text":"y"}]}`, status: 400, text: "`compaction` blocks are not permitted in messages of the role `user`"},
		{name: "FailedBlock", fields: edge, messages: user + "," + null + "," + user},
		{name: "FailedBlockFirst", fields: edge, messages: null + "," + user, status: 400, text: `first message must use the "user" role`},
		{name: "EmptyBlock", fields: edge, messages: user + `,{"role":"assistant","content":[{"type":"compaction","content":""}]},` + user, status: 400, text: "content: String should have at least 1 character"},
		{name: "BlockWithoutBeta", beta: editingBeta, messages: user + "," + block + "," + user, status: 400, text: "Input tag 'compaction' found using 'type' does not match"},
		{name: "BlockWithoutEdit", messages: user + "," + block + "," + user, status: 400, text: "`compaction` blocks require a `compact_20260112` strategy in `context_management.edits`."},
		{name: "BlockWithTheOtherBeta", beta: demandBeta, messages: user + "," + block + "," + user, status: 400, text: "a `compaction` block with `content` requires its `signature`"},
		{name: "RulesHoldBeforeTheBlock", fields: edge + bash, messages: user + "," + call + "," + user + "," + block + "," + user, status: 400, text: "immediately after: t1"},
	}
}

func TestThresholdRefusals(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, r := range thresholdRules() {
		t.Run(r.name, func(t *testing.T) {
			if r.beta == "" {
				r.beta = edgeBeta
			}
			got := do(t, "POST", url+"/v1/messages", r.body(), "anthropic-beta", r.beta)
			if want := max(r.status, 200); got.status != want {
				t.Fatalf("status %d, want %d\n%s", got.status, want, got.body)
			}
			if r.status != 0 {
				checkError(t, got, r.status, r.text)
			}
		})
	}
}

// long is a text of about n tokens, as the sandbox counts.
func long(n int) string { return strings.Repeat("The port is 8443, they said again. ", n*3/35) }

// edgeTalk is a conversation that has passed the threshold.
func edgeTalk(t *testing.T, o sandbox.Options, fields string) (*sandbox.Server, *talk) {
	t.Helper()
	if o.Model == nil {
		o.Model = &sandbox.Rules{Calls: 2, Thought: 100}
	}
	s, url := start(t, o)
	k := &talk{t: t, url: url, model: newest, header: []string{"anthropic-beta", edgeBeta}}
	k.fields = `"system":[{"type":"text","text":` + quote(long(2000)) + `,"cache_control":{"type":"ephemeral"}}],` + bash + fields
	k.turn("short")
	k.turn(long(60_000))
	return s, k
}

func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// At the threshold the answer begins with what the summarizer wrote, and the model goes on from it; the client may
// send everything back or only what stands behind the block.
func TestThresholdCompaction(t *testing.T) {
	s, k := edgeTalk(t, sandbox.Options{}, compactAt(50_000, ""))
	var compacting []sandbox.Entry
	for _, e := range s.Log.Entries() {
		if e.Compactions > 0 {
			compacting = append(compacting, e)
		}
	}
	if len(compacting) != 1 || len(s.Log.Refused()) != 0 {
		t.Fatalf("%d compactions, refused %v", len(compacting), s.Log.Refused())
	}
	body := string(compacting[0].Answer)
	if !strings.Contains(body, `"content":[{"type":"compaction","content":"`) || !strings.Contains(body, `"context_management":{"applied_edits":[]}`) || !strings.Contains(body, `"tool_use"`) {
		t.Error(body)
	}
	top, list, sum := passes(t, body)
	if fmt.Sprint(list) != "[compaction message]" || top.Input+top.Read > 5000 || sum.Input < 60_000 || top.Read < 1900 {
		t.Errorf("top %+v, passes %v, together %+v", top, list, sum)
	}
	if u := compacting[0].Usage; u.Input != sum.Input || u.Output != sum.Out {
		t.Errorf("logged %+v, passes %+v", u, sum)
	}
	if last := s.Log.Last(); last.Prompt > 5000 {
		t.Errorf("behind the block a prompt has %d tokens", last.Prompt)
	}
	cut := k.copy()
	cut.msgs = cut.msgs[7:] // from the message with the block on
	if !strings.Contains(cut.msgs[0].Content[0], `"type":"compaction"`) || len(cut.thoughts()) == 0 {
		t.Fatalf("message %q", cut.msgs[0].Content[0])
	}
	k.turn("and on")
	whole := s.Log.Last().Prompt
	cut.turn("and on")
	if got := s.Log.Last().Prompt; got != whole {
		t.Errorf("the prompt has %d tokens, with what is ignored %d", got, whole)
	}
	cut.msgs[0].Content[0] = strings.Replace(cut.msgs[0].Content[0], "8443", "8444", 1)
	cut.add(say("and on"))
	cut.send()
	checkError(t, cut.last, 400, "bound to a different conversation")
}

// With a pause the answer is the block alone.
func TestThresholdCompactionPauses(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	k := &talk{t: t, url: url, model: newest, fields: compactAt(50_000, `,"pause_after_compaction":true`), header: []string{"anthropic-beta", edgeBeta}}
	k.add(say(long(60_000)))
	k.ask()
	top, list, sum := passes(t, k.last.body)
	if !strings.Contains(k.last.body, `"stop_reason":"compaction"`) || len(k.msgs[1].Content) != 1 || top != (usage{}) || fmt.Sprint(list) != "[compaction]" || sum.Input < 60_000 {
		t.Errorf("top %+v, passes %v, together %+v\n%.300s", top, list, sum, k.last.body)
	}
	k.turn("go on")
}

// A summary that fails leaves a block that says so; nothing is ignored because of it.
func TestThresholdCompactionFails(t *testing.T) {
	s, k := edgeTalk(t, sandbox.Options{Summarizer: sandbox.Misbehave{As: sandbox.MisbehaveRefusal, Model: sandbox.Summarizer{}}}, compactAt(50_000, `,"pause_after_compaction":true`))
	if !strings.Contains(k.msgs[7].Content[0], `{"type":"compaction","content":null}`) || s.Log.Last().Prompt < 60_000 {
		t.Errorf("%s, and then %d tokens", k.msgs[7].Content[0], s.Log.Last().Prompt)
	}
	k.turn("and on")
	if refused := s.Log.Refused(); len(refused) != 0 {
		t.Error(refused[0].Error)
	}
}

// The request's own instructions ask for the summary.
func TestCompactionInstructions(t *testing.T) {
	var asked []string
	seen := sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		asked = append(asked, p.Last(decant.RoleUser))
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Sum."}}}
	})
	_, url := start(t, sandbox.Options{Summarizer: seen})
	for _, fields := range []string{`"compaction":{"type":"summarize","instructions":"Mind the ports."},`, `"compaction":{"type":"summarize","instructions":" "},`} {
		do(t, "POST", url+"/v1/messages", rule{fields: fields}.body(), "anthropic-beta", demandBeta)
	}
	do(t, "POST", url+"/v1/messages", rule{fields: compactAt(50_000, `,"instructions":"Mind the names."`), messages: `{"role":"user","content":` + quote(long(60_000)) + `}`}.body(), "anthropic-beta", edgeBeta)
	if len(asked) != 3 || asked[0] != "Mind the ports.\n" || !strings.HasPrefix(asked[1], "Write a summary") || asked[2] != "Mind the names.\n" {
		t.Errorf("asked %q", asked)
	}
}

// The official client goes on over the threshold, with and without streams.
func TestOfficialClientPassesTheThreshold(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("Stream=", stream), func(t *testing.T) {
			s, url := start(t, sandbox.Options{})
			p := anthropic.BetaMessageNewParams{
				Model: newest, MaxTokens: 4096, Betas: []anthropic.AnthropicBeta{edgeBeta},
				Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(long(60_000)))},
				ContextManagement: anthropic.BetaContextManagementConfigParam{Edits: []anthropic.BetaContextManagementConfigEditUnionParam{{
					OfCompact20260112: &anthropic.BetaCompact20260112EditParam{Trigger: anthropic.BetaInputTokensTriggerParam{Value: 50_000}},
				}}},
			}
			for turn := range 2 {
				m := createBeta(t, client(url), p, stream)
				if has := m.Content[0].Type == "compaction"; has != (turn == 0) || has && !strings.Contains(m.Content[0].Content.OfString, "8443") || m.StopReason != "end_turn" {
					t.Fatalf("message %s", m.RawJSON())
				}
				if n := len(m.Usage.Iterations); n != 2-turn {
					t.Errorf("%d passes", n)
				}
				p.Messages = append(p.Messages, m.ToParam(), anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("Go on.")))
			}
			if refused := s.Log.Refused(); len(refused) > 0 {
				t.Errorf("refused: %s", refused[0].Error)
			}
		})
	}
}

// In a stream the block starts empty, and one delta brings all of it.
func TestThresholdBlockStreams(t *testing.T) {
	_, url := start(t, sandbox.Options{Chunk: 5})
	got := do(t, "POST", url+"/v1/messages", rule{fields: compactAt(50_000, "") + `"stream":true,`, messages: `{"role":"user","content":` + quote(long(60_000)) + `}`}.body(), "anthropic-beta", edgeBeta)
	if !strings.Contains(got.body, `"content_block":{"type":"compaction","content":null}}`) || strings.Count(got.body, `"type":"compaction_delta","content":"`) != 1 {
		t.Errorf("%.800s", got.body)
	}
	_, end, _ := strings.Cut(got.body, "event: message_delta")
	if !strings.Contains(end, `"iterations":[{"type":"compaction",`) || !strings.Contains(end, `"context_management":{"applied_edits":[]}`) {
		t.Error(end)
	}
}

// A count honours blocks and compacts nothing.
func TestCountsDoNotCompact(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	body := rule{fields: compactAt(50_000, ""), messages: `{"role":"user","content":` + quote(long(60_000)) + `}`}.body()
	got := do(t, "POST", url+"/v1/messages/count_tokens", strings.Replace(body, `"max_tokens":4096,`, "", 1), "anthropic-beta", edgeBeta)
	if e := s.Log.Last(); e.Compactions != 0 || e.Prompt < 59_000 || got.status != 200 {
		t.Errorf("%d %s: %d compactions", got.status, got.body, e.Compactions)
	}
}
