package sandbox_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/token"
)

// A rule is one request and what the API says to it.
type rule struct {
	name     string // what it is about, then the case
	model    string // claude-opus-5-5 when empty
	fields   string // further members of the body, each with its comma behind
	messages string // one user message when empty
	beta     string
	status   int    // 200 when 0
	text     string // part of the message
}

const (
	user   = `{"role":"user","content":"hello"}`
	old    = "claude-sonnet-4-5"
	newest = "claude-opus-5-5"
	bash   = `"tools":[{"name":"Bash","input_schema":{"type":"object"}}],`
	call   = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}`
	result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}`
)

func (r rule) body() string {
	if r.model == "" {
		r.model = newest
	}
	if r.messages == "" {
		r.messages = user
	}
	if !strings.Contains(r.fields, `max_tokens`) {
		r.fields += `"max_tokens":4096,`
	}
	return `{"model":"` + r.model + `",` + r.fields + `"messages":[` + r.messages + `]}`
}

// A turn with a call of the server beside one of the client, the client's result, and the server's behind it.
const (
	beside   = `{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}`
	answered = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`
	found    = `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},{"type":"text","text":"x"}]}`
)

var rules = []rule{
	// The body.
	{name: "request/MaxTokensMissing", fields: `"max_tokens":null,`, status: 400, text: "max_tokens: Input should be a valid integer"},
	{name: "request/UnknownField", fields: `"foo":1,`, status: 400, text: "foo: Extra inputs are not permitted"},
	{name: "request/UnknownMessageField", messages: `{"role":"user","content":"x","id":"m"}`, status: 400, text: "messages.0.id: Extra inputs are not permitted"},
	{name: "request/UnknownBlockField", messages: `{"role":"user","content":[{"type":"text","text":"x","foo":1}]}`, status: 400, text: "messages.0.content.0.text.foo: Extra inputs are not permitted"},
	{name: "request/UnknownToolField", fields: `"tools":[{"name":"a","input_schema":{"type":"object"},"foo":1}],`, status: 400, text: "tools.0.custom.foo: Extra inputs are not permitted"},
	{name: "request/UnknownBlock", messages: `{"role":"user","content":[{"type":"poem","text":"x"}]}`, status: 400, text: "Input tag 'poem' found using 'type' does not match"},
	{name: "request/NoMessages", messages: ` `, status: 400, text: "messages: at least one message is required"},
	{name: "request/NoMaxTokens", fields: `"metadata":{"user_id":"\"max_tokens\""},`, status: 400, text: "max_tokens: Field required"},
	{name: "request/BadRole", messages: `{"role":"tool","content":"x"}`, status: 400, text: "messages.0.role: Input should be 'user', 'assistant' or 'system'"},
	{name: "request/StringForInteger", fields: `"max_tokens":"10",`, status: 400, text: "max_tokens: Input should be a valid integer"},
	{name: "request/MaxTokensNegative", fields: `"max_tokens":-1,`, status: 400, text: "greater than or equal to 0"},
	{name: "request/UnknownModel", model: "claude-nonesuch-9", status: 404, text: "model: claude-nonesuch-9"},
	{name: "request/ForeignModel", model: "gpt-5", status: 404, text: "model: gpt-5"},
	{name: "request/HostPrefixedModel", model: "anthropic/claude-opus-5-5", status: 404, text: "model: anthropic/"},
	{name: "request/DatedModel", model: "claude-sonnet-4-5-20250929"},
	{name: "request/KnownFields", fields: `"system":"s","stop_sequences":["x"],"stream":false,"metadata":{"user_id":"u"},"service_tier":"auto","speed":"standard","inference_geo":"us","container":"c",`},
	{name: "request/BadSpeed", fields: `"speed":"warp",`, status: 400, text: "speed: Input should be"},
	{name: "request/NullOptional", fields: `"system":null,"tools":null,"cache_control":null,`},
	{name: "request/BudgetTooSmall", model: old, fields: `"thinking":{"type":"enabled","budget_tokens":1023},`, status: 400, text: "budget_tokens: Input should be greater than or equal to 1024"},
	{name: "request/BudgetNotUnderMax", model: old, fields: `"thinking":{"type":"enabled","budget_tokens":4096},`, status: 400, text: "`max_tokens` must be greater than `thinking.budget_tokens`"},
	{name: "request/BudgetMissing", model: old, fields: `"thinking":{"type":"enabled"},`, status: 400, text: "budget_tokens: Field required"},
	{name: "request/BudgetFits", model: old, fields: `"thinking":{"type":"enabled","budget_tokens":4095},`},
	{name: "request/ManualRefusedByNewer", fields: `"thinking":{"type":"enabled","budget_tokens":1024},`, status: 400, text: `thinking.type: "enabled" is not supported`},
	{name: "request/AdaptiveRefusedByOlder", model: old, fields: `"thinking":{"type":"adaptive"},`, status: 400, text: `thinking.type: "adaptive" is not supported`},
	{name: "request/AdaptiveWithEffort", fields: `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},`},
	{name: "request/AdaptiveWithBudget", fields: `"thinking":{"type":"adaptive","budget_tokens":1024},`, status: 400, text: "Extra inputs are not permitted"},
	{name: "request/BadEffort", fields: `"output_config":{"effort":"huge"},`, status: 400, text: "output_config.effort"},
	{name: "request/TemperatureNewer", fields: `"temperature":0.5,`, status: 400, text: "temperature"},
	{name: "request/TemperatureDefaultNewer", fields: `"temperature":1,`},
	{name: "request/TopPNewer", fields: `"top_p":0.9,`, status: 400, text: "top_p"},
	{name: "request/TopKNewer", fields: `"top_k":5,`, status: 400, text: "top_k"},
	{name: "request/TemperatureOlder", model: old, fields: `"temperature":0.5,`},
	{name: "request/TemperatureWithManual", model: old, fields: `"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":1024},`, status: 400, text: "`temperature` may only be set to 1 when thinking is enabled"},
	{name: "request/WarmupStream", fields: `"max_tokens":0,"stream":true,`, status: 400, text: "max_tokens: 0"},
	{name: "request/WarmupManual", model: old, fields: `"max_tokens":0,"thinking":{"type":"enabled","budget_tokens":1024},`, status: 400, text: "max_tokens: 0"},
	{name: "request/WarmupChoice", model: old, fields: bash + `"max_tokens":0,"tool_choice":{"type":"any"},`, status: 400, text: "max_tokens: 0"},
	{name: "request/WarmupFormat", fields: `"max_tokens":0,"output_config":{"format":{"type":"json_schema"}},`, status: 400, text: "max_tokens: 0"},
	{name: "request/BetaFieldWithoutBeta", fields: `"diagnostics":{"previous_message_id":null},`, status: 400, text: "diagnostics: Extra inputs are not permitted"},
	{name: "request/TaskBudgetWithBeta", fields: `"output_config":{"task_budget":{"type":"tokens","total":20000}},`, beta: "task-budgets-2026-03-13"},
	{name: "request/TaskBudgetWithoutBeta", fields: `"output_config":{"task_budget":{"type":"tokens","total":20000}},`, status: 400, text: "output_config.task_budget: Extra inputs are not permitted"},

	// What may stand where.
	{name: "first-message/FirstIsAssistant", messages: `{"role":"assistant","content":"x"},` + user, status: 400, text: `first message must use the "user" role`},
	{name: "first-message/NeighboursAreMerged", messages: user + "," + user + `,{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},` + user},
	{name: "tool-result-missing/CallWithoutResult", fields: bash, messages: user + "," + call + "," + user, status: 400, text: "`tool_use` ids were found without `tool_result` blocks immediately after: t1"},
	{name: "tool-result-missing/ResultTooLate", fields: bash, messages: user + "," + call + "," + user + `,{"role":"assistant","content":"x"},` + result, status: 400, text: "without `tool_result` blocks immediately after: t1"},
	{name: "tool-result-missing/ResultsOverMergedMessages", fields: bash, messages: user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},` + result + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"}]}`},
	{name: "tool-result-missing/OneOfTwoMissing", fields: bash, messages: user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},` + result, status: 400, text: "immediately after: t2"},
	{name: "tool-result-missing/CallIsLast", model: old, fields: bash, messages: user + "," + call, status: 400, text: "immediately after: t1"},
	{name: "tool-result-missing/Paired", fields: bash, messages: user + "," + call + "," + result},
	{name: "tool-result-orphan/ResultWithoutCall", messages: result, status: 400, text: "unexpected `tool_use_id` found in `tool_result` blocks: t1"},
	{name: "CallsWithoutTools", messages: user + "," + call + "," + result, status: 400, text: "must define tools"},
	{name: "BlankStopSequence", fields: `"stop_sequences":["x"," "],`, messages: user, status: 400, text: "stop_sequences.1: each stop sequence must contain non-whitespace"},
	{name: "ImageOfAnotherType", messages: `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"AAAA"}}]}`, status: 400, text: "media_type: Input should be 'image/jpeg'"},
	{name: "ImageThatIsNoBase64", messages: `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"not base64!"}}]}`, status: 400, text: "data: Input should be valid base64"},
	{name: "EmptyImage", messages: `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]}`, status: 400, text: "data: Input should be valid base64"},
	{name: "DocumentOfAnotherType", messages: `{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"AAAA"}}]}`, status: 400, text: "media_type: Input should be 'application/pdf'"},
	{name: "PaddedImage", messages: `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"AAA="}}]}`},
	{name: "tool-result-orphan/ResultOfEarlierCall", fields: bash, messages: user + "," + call + "," + result + `,{"role":"assistant","content":"x"},` + result, status: 400, text: "unexpected `tool_use_id`"},
	{name: "tool-result-orphan/ResultTwice", fields: bash, messages: user + "," + call + "," + result + "," + result, status: 400, text: "multiple `tool_result` blocks with id: t1"},
	{name: "call-id-unique/IDTwice", fields: bash, messages: user + "," + call + "," + result + "," + call + "," + result, status: 400, text: "`tool_use` ids must be unique"},
	{name: "call-id-form/IDPattern", fields: bash, messages: user + "," + strings.ReplaceAll(call, "t1", "t.1") + "," + strings.ReplaceAll(result, "t1", "t.1"), status: 400, text: "String should match pattern '^[a-zA-Z0-9_-]+$'"},
	{name: "tool-results-first/TextBeforeResult", fields: bash, messages: user + "," + call + "," + user + "," + result, status: 400, text: "`tool_result` blocks must come before"},
	{name: "tool-results-first/TextAfterResult", fields: bash, messages: user + "," + call + "," + result + "," + user},
	{name: "text-empty/EmptyText", messages: `{"role":"user","content":[{"type":"text","text":""}]}`, status: 400, text: "text content blocks must be non-empty"},
	{name: "text-empty/WhitespaceText", messages: `{"role":"user","content":[{"type":"text","text":" \n"}]}`, status: 400, text: "must contain non-whitespace text"},
	{name: "text-empty/WhitespaceString", messages: `{"role":"user","content":"  "}`, status: 400, text: "must contain non-whitespace text"},
	{name: "text-empty/EmptyString", messages: `{"role":"user","content":""}`, status: 400, text: "must have non-empty content"},
	{name: "text-empty/EmptyList", messages: user + `,{"role":"assistant","content":[]},` + user, status: 400, text: "must have non-empty content"},
	{name: "text-empty/EmptySystem", fields: `"system":[{"type":"text","text":""}],`, status: 400, text: "system: text content blocks must be non-empty"},
	{name: "text-empty/EmptyTextInResult", fields: bash, messages: user + "," + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":""}]}]}`, status: 400, text: "must be non-empty"},
	{name: "text-empty/EmptyResult", fields: bash, messages: user + "," + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":""}]}`},
	{name: "prefill/PrefillNewer", model: "claude-sonnet-4-6", messages: user + `,{"role":"assistant","content":"I"}`, status: 400, text: "This model does not support assistant message prefill. The conversation must end with a user message."},
	{name: "prefill/PrefillOlder", model: old, messages: user + `,{"role":"assistant","content":"I"}`},
	{name: "prefill/PrefillTrailingSpace", model: old, messages: user + `,{"role":"assistant","content":"I "}`, status: 400, text: "trailing whitespace"},
	{name: "thinking-first/ManualTurnStartsWithText", model: old, fields: bash + `"thinking":{"type":"enabled","budget_tokens":1024},`, messages: user + `,{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},` + result, status: 400, text: "Expected `thinking` or `redacted_thinking`, but found `text`"},
	{name: "thinking-first/ManualFinishedTurn", model: old, fields: bash + `"thinking":{"type":"enabled","budget_tokens":1024},`, messages: user + "," + call + "," + result + `,{"role":"assistant","content":"done"},` + user},
	{name: "thinking-changed/ForeignSignature", messages: user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"EqQB"},{"type":"text","text":"y"}]},` + user, status: 400, text: "messages.1.content.0: Invalid `signature` in `thinking` block"},
	{name: "system-place/SystemFirst", messages: `{"role":"system","content":"x"},` + user, status: 400, text: `first message must use the "user" role`},
	{name: "system-place/SystemAfterAssistant", messages: user + `,{"role":"assistant","content":"x"},{"role":"system","content":"x"}`, status: 400, text: "a `system` message must follow a `user` message"},
	{name: "system-place/SystemBeforeUser", messages: user + `,{"role":"system","content":"x"},` + user, status: 400, text: "must be last or be followed by an `assistant` message"},
	{name: "system-place/SystemBetweenCallAndResult", fields: bash, messages: user + "," + call + `,{"role":"system","content":"x"},` + result, status: 400, text: "immediately after: t1"},
	{name: "system-place/SystemLast", messages: user + `,{"role":"system","content":"x"}`},
	{name: "system-place/SystemInPlace", messages: user + `,{"role":"system","content":"x"},{"role":"assistant","content":"x"},` + user},
	{name: "markers/FiveMarkers", messages: strings.Repeat(marked("x", "")+",", 4) + marked("x", ""), status: 400, text: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
	{name: "markers/FourMarkers", messages: strings.Repeat(marked("x", "")+",", 3) + marked("x", "")},
	{name: "markers/FourAndAutomatic", fields: `"cache_control":{"type":"ephemeral"},`, messages: strings.Repeat(marked("x", "")+",", 4) + user, status: 400, text: "Found 5."},
	{name: "markers/AutomaticOnMarker", fields: `"cache_control":{"type":"ephemeral"},`, messages: strings.Repeat(marked("x", "")+",", 3) + marked("x", "")},
	{name: "markers/AutomaticContradictsMarker", fields: `"cache_control":{"type":"ephemeral","ttl":"1h"},`, messages: marked("x", ""), status: 400, text: "cache_control.ttl"},
	{name: "markers/MarkerInsideResult", fields: bash, messages: user + "," + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`, status: 400, text: "Found 5."},
	{name: "markers/LongAfterShort", messages: marked("x", "5m") + "," + marked("x", "1h"), status: 400, text: "a ttl='1h' cache_control block must not come after a ttl='5m'"},
	{name: "markers/ShortAfterLong", messages: marked("x", "1h") + "," + marked("x", "5m")},
	{name: "markers/LongInSystemAfterShortTool", fields: `"tools":[{"name":"a","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],`, status: 400, text: "must not come after"},
	{name: "markers/BadTTL", messages: marked("x", "2h"), status: 400, text: "cache_control.ttl: Input should be '5m' or '1h'"},
	{name: "markers/MarkerOnThinking", messages: user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s","cache_control":{"type":"ephemeral"}}]},` + user, status: 400, text: "thinking.cache_control: Extra inputs are not permitted"},
	{name: "markers/ScopeWithoutBeta", messages: `{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","scope":"global"}}]}`, status: 400, text: "cache_control.scope: Extra inputs"},
	{name: "markers/ScopeWithBeta", messages: `{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","scope":"global"}}]}`, beta: "prompt-caching-scope-2026-01-05"},
	{name: "server-result-missing/ServerToolWithoutResult", messages: user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]},` + user, status: 400, text: "`web_search` tool use with id srvtoolu_1 was found without a corresponding `web_search_tool_result` block"},
	{name: "server-result-missing/ServerToolWithResult", messages: user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"x"}]},` + user},
	{name: "server-result-missing/WaitsBesideACall", fields: bash, messages: user + "," + beside + "," + answered},
	{name: "server-result-missing/ConnectorWaits", fields: bash, messages: user + "," + strings.Replace(beside, "server_tool_use", "mcp_tool_use", 1) + "," + answered},
	{name: "server-result-missing/AnsweredBehindTheClientsResults", fields: bash, messages: user + "," + beside + "," + answered + "," + found + "," + user},
	{name: "server-result-missing/AnsweredSomeRoundsLater", fields: bash, messages: user + "," + beside + "," + answered + `,{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"x"}]},` + found + "," + user},
	{name: "server-result-missing/TextWhileItWaits", fields: bash, messages: user + "," + beside + "," + answered + "," + user, status: 400, text: "`web_search` tool use with id s1 was found without a corresponding `web_search_tool_result` block"},
	{name: "server-result-missing/ConnectorWithoutResult", messages: user + `,{"role":"assistant","content":[{"type":"mcp_tool_use","id":"s1","name":"issues","server_name":"x","input":{}}]},` + user, status: 400, text: "`issues` tool use with id s1 was found without a corresponding `mcp_tool_result` block"},
	{name: "server-result-missing/PausedTurn", messages: user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}]}`},
	{name: "server-result-orphan/NoCall", messages: user + "," + found + "," + user, status: 400, text: "unexpected `tool_use_id` found in `web_search_tool_result` blocks: s1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it."},
	{name: "server-result-orphan/ConnectorWithoutCall", messages: user + `,{"role":"assistant","content":[{"type":"mcp_tool_result","tool_use_id":"s1","content":[]}]},` + user, status: 400, text: "must have a corresponding `mcp_tool_use` block before it."},
	{name: "output-limit/MaxTokensOverModel", fields: `"max_tokens":128001,`, status: 400, text: "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens"},
	{name: "output-limit/MaxTokensOfModel", fields: `"max_tokens":128000,`},
	{name: "tool-choice/ChoiceWithManual", model: old, fields: bash + `"tool_choice":{"type":"any"},"thinking":{"type":"enabled","budget_tokens":1024},`, status: 400, text: "Thinking may not be enabled when tool_choice forces tool use"},
	{name: "tool-choice/ChoiceOfAlwaysThinking", fields: bash + `"tool_choice":{"type":"tool","name":"Bash"},`, status: 400, text: "Thinking may not be enabled"},
	{name: "tool-choice/ChoiceOlder", model: old, fields: bash + `"tool_choice":{"type":"any"},`},
	{name: "tool-choice/ChoiceAuto", fields: bash + `"tool_choice":{"type":"auto"},`},
	{name: "tool-choice/ChoiceWithoutTools", fields: `"tool_choice":{"type":"auto"},`, status: 400, text: "tool_choice may only be specified while providing `tools`"},
	{name: "blocks/BlockOfOtherRole", messages: `{"role":"user","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}`, status: 400, text: "`tool_use` blocks are not permitted in messages of the role `user`"},
	{name: "blocks/ToolNameTwice", fields: `"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}],`, status: 400, text: "Tool names must be unique"},
	{name: "blocks/ToolName", fields: `"tools":[{"name":"a b","input_schema":{"type":"object"}}],`, status: 400, text: "name: String should match pattern"},
	{name: "blocks/ServerTool", fields: `"tools":[{"type":"memory_20250818","name":"memory"}],`},

	// Context editing.
	{name: "editing/KeepAll", fields: edits(keepAll), beta: editingBeta},
	{name: "editing/KeepAllObject", fields: edits(`{"type":"clear_thinking_20251015","keep":{"type":"all"}}`), beta: editingBeta},
	{name: "editing/KeepTurns", fields: edits(`{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}}`), beta: editingBeta},
	{name: "editing/KeepNoTurn", fields: edits(`{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":0}}`), beta: editingBeta, status: 400, text: "keep.value: Input should be greater than 0"},
	{name: "editing/KeepUses", fields: edits(`{"type":"clear_thinking_20251015","keep":{"type":"tool_uses","value":2}}`), beta: editingBeta, status: 400, text: "Input tag 'tool_uses'"},
	{name: "editing/WithoutBeta", fields: edits(keepAll), status: 400, text: "context_management: Extra inputs are not permitted"},
	{name: "editing/ThinkingOff", model: old, fields: `"context_management":{"edits":[` + keepAll + `]},`, beta: editingBeta, status: 400, text: "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive"},
	{name: "editing/Defaults", fields: edits(`{"type":"clear_tool_uses_20250919"}`), beta: editingBeta},
	{name: "editing/EveryField", fields: edits(keepAll + `,{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":1},"keep":{"type":"tool_uses","value":0},"clear_at_least":{"type":"input_tokens","value":1},"exclude_tools":["a"],"clear_tool_inputs":["b"]}`), beta: editingBeta},
	{name: "editing/Order", fields: edits(`{"type":"clear_tool_uses_20250919"},` + keepAll), beta: editingBeta, status: 400, text: "`clear_thinking_20251015` must be the first strategy in `context_management.edits`"},
	{name: "editing/Twice", fields: edits(keepAll + `,` + keepAll), beta: editingBeta, status: 400, text: "is given twice"},
	{name: "editing/UnknownField", fields: edits(`{"type":"clear_tool_uses_20250919","after":1}`), beta: editingBeta, status: 400, text: "after: Extra inputs are not permitted"},
	{name: "editing/UnknownStrategy", fields: edits(`{"type":"clear_all_20270101"}`), beta: editingBeta, status: 400, text: "does not support the 'clear_all_20270101' context management strategy"},
	{name: "editing/TriggerWithoutValue", fields: edits(`{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens"}}`), beta: editingBeta, status: 400, text: "trigger.value: Field required"},
	{name: "editing/InputsOfNumbers", fields: edits(`{"type":"clear_tool_uses_20250919","clear_tool_inputs":[1]}`), beta: editingBeta, status: 400, text: "clear_tool_inputs.0: Input should be a valid string"},

	// Tools that are loaded later.
	{name: "blocks/ReferenceInMessage", fields: deferred, messages: `{"role":"user","content":[{"type":"tool_reference","tool_name":"Later"}]}`, status: 400, text: "`tool_reference` blocks are not permitted"},
	{name: "blocks/ReferenceInResult", fields: deferred, messages: user + `,` + call + `,` + refers("Later")},
	{name: "blocks/ReferenceToNothing", fields: deferred, messages: user + `,` + call + `,` + refers("Never"), status: 400, text: "Tool reference 'Never' not found in available tools"},
	{name: "request/OnlyDeferredTools", fields: `"tools":[{"name":"Later","defer_loading":true,"input_schema":{"type":"object"}}],`, status: 400, text: "At least one tool must have defer_loading=false"},

	// Compaction without its betas; what they permit is in compaction_test.go.
	{name: "compaction/Field", fields: `"compaction":{"type":"summarize"},`, status: 400, text: "the `compaction` parameter requires anthropic-beta: compact-2026-09-04"},
	{name: "compaction/FieldWithTheOtherBeta", fields: `"compaction":{"type":"summarize"},`, beta: "compact-2026-01-12", status: 400, text: "requires anthropic-beta: compact-2026-09-04"},
	{name: "compaction/EditWithoutBeta", fields: edits(`{"type":"compact_20260112"}`), beta: editingBeta, status: 400, text: "Input tag 'compact_20260112' found using 'type' does not match any of the expected tags"},
	{name: "compaction/Block", messages: user + `,{"role":"assistant","content":[{"type":"compaction","content":"x"}]},` + user, status: 400, text: "Input tag 'compaction'"},

	// The control of bound thinking.
	{name: "binding/BindingWithoutBeta", fields: `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`, status: 400, text: "thinking.block_binding: Extra inputs are not permitted"},
	{name: "binding/BindingWithBeta", fields: `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`, beta: "thinking-binding-controls-2026-08-01"},
	{name: "binding/BindingValue", fields: `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"ignore"}},`, beta: "thinking-binding-controls-2026-08-01", status: 400, text: "prefix_mismatch_behavior: Input should be 'error' or 'drop_block'"},

	// Betas.
	{name: "betas/AbsentBeta", beta: "message-threads-2026-08-12", status: 400, text: "this sandbox does not offer it"},
	{name: "betas/UnknownBeta", beta: "nonesuch-2026-01-01", status: 400, text: "invalid beta flag"},
	{name: "betas/BetasOfClaudeCode", beta: "claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05, mid-conversation-system-2026-04-07,effort-2025-11-24"},
	{name: "betas/BetasOfClaudeCodeToday", beta: "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,per-turn-control-2026-07-01,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24"},
	{name: "betas/EffortOfAMessage", beta: "per-turn-control-2026-07-01", messages: user + `,{"role":"system","content":"s","output_config":{"effort":"medium"}}`},
	{name: "betas/EffortAlone", beta: "per-turn-control-2026-07-01", messages: user + `,{"role":"system","content":[],"output_config":{"effort":"medium"}}`},
	{name: "betas/EffortWithoutBeta", messages: user + `,{"role":"system","content":"s","output_config":{"effort":"medium"}}`, status: 400, text: "messages.1.output_config: Extra inputs are not permitted"},
	{name: "betas/EmptyWithoutEffort", beta: "per-turn-control-2026-07-01", messages: user + `,{"role":"system","content":[]}`, status: 400, text: "non-empty content"},
	{name: "betas/ToolAddition", beta: "mid-conversation-tool-changes-2026-07-01", messages: user + `,{"role":"system","content":[{"type":"tool_addition"}]}`, status: 400, text: "Input tag 'tool_addition'"},
	{name: "betas/BetasOfOpencode", beta: "structured-outputs-2025-11-13"},
}

const (
	editingBeta = "context-management-2025-06-27"
	keepAll     = `{"type":"clear_thinking_20251015","keep":"all"}`
	deferred    = `"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"name":"Later","defer_loading":true,"input_schema":{"type":"object"}}],`
)

// edits returns the members of a request that thinks and asks for context editing.
func edits(list string) string { return adaptive + `"context_management":{"edits":[` + list + `]},` }

// refers returns a result that refers to a tool.
func refers(tool string) string {
	return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"tool_reference","tool_name":"` + tool + `"}]}]}`
}

// marked returns a user message with a cache marker.
func marked(text, ttl string) string {
	if ttl != "" {
		ttl = `,"ttl":"` + ttl + `"`
	}
	return `{"role":"user","content":[{"type":"text","text":"` + text + `","cache_control":{"type":"ephemeral"` + ttl + `}}]}`
}

func TestRules(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			got := do(t, "POST", url+"/v1/messages", r.body(), "anthropic-beta", r.beta)
			want := max(r.status, 200)
			if got.status != want {
				t.Fatalf("status %d, want %d\n%s", got.status, want, got.body)
			}
			if want != 200 {
				checkError(t, got, want, r.text)
			}
		})
	}
}

// aboutMessages are the rules that a count has in common with a request.
var aboutMessages = []string{
	"first-message", "tool-result-missing", "tool-result-orphan", "call-id-form", "call-id-unique", "tool-results-first", "text-empty",
	"prefill", "thinking-changed", "thinking-first", "system-place", "markers", "server-result-missing", "server-result-orphan",
}

// TestRulesHoldForCounts checks that a count refuses what its messages would be refused for.
func TestRulesHoldForCounts(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, r := range rules {
		if about, _, _ := strings.Cut(r.name, "/"); !slices.Contains(aboutMessages, about) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			body := strings.Replace(r.body(), `"max_tokens":4096,`, "", 1)
			got := do(t, "POST", url+"/v1/messages/count_tokens", body, "anthropic-beta", r.beta)
			if want := max(r.status, 200); got.status != want {
				t.Errorf("status %d, want %d\n%s", got.status, want, got.body)
			}
		})
	}
	got := do(t, "POST", url+"/v1/messages/count_tokens", rule{}.body())
	checkError(t, got, 400, "max_tokens: Extra inputs are not permitted")
}

// checkError checks the shape of an error (docs/reference/anthropic.md, "Refusals").
func checkError(t *testing.T, got answer, status int, text string) {
	t.Helper()
	var e struct {
		Type  string
		Error struct{ Type, Message string }
		ID    string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(got.body), &e); err != nil {
		t.Fatalf("error body %q: %v", got.body, err)
	}
	types := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 405: "invalid_request_error",
		413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
	}
	if got.status != status || e.Type != "error" || e.Error.Type != types[status] || !strings.Contains(e.Error.Message, text) {
		t.Errorf("got %d %s\nwant %d %s with %q", got.status, got.body, status, types[status], text)
	}
	if e.ID == "" || e.ID != got.header.Get("request-id") {
		t.Errorf("request_id %q, header %q", e.ID, got.header.Get("request-id"))
	}
}

func TestHeaders(t *testing.T) {
	_, url := start(t, sandbox.Options{Keys: []string{"key", "other"}, Betas: []string{"mine-2026-01-01"}})
	body := rule{}.body()
	tests := []struct {
		name   string
		header []string
		status int
		text   string
	}{
		{"headers/Key", nil, 200, ""},
		{"headers/Bearer", []string{"x-api-key", "", "authorization", "Bearer other"}, 200, ""},
		{"headers/NoKey", []string{"x-api-key", ""}, 401, "x-api-key header is required"},
		{"headers/WrongKey", []string{"x-api-key", "wrong"}, 401, "invalid x-api-key"},
		{"headers/NotABearer", []string{"x-api-key", "", "authorization", "Basic other"}, 401, "x-api-key header is required"},
		{"headers/NoVersion", []string{"anthropic-version", ""}, 400, "anthropic-version: header is required"},
		{"headers/BadVersion", []string{"anthropic-version", "2020-01-01"}, 400, "is not a valid version"},
		{"headers/NextVersion", []string{"anthropic-version", "2026-10-21"}, 200, ""},
		{"headers/ContentType", []string{"content-type", "text/plain"}, 400, "content-type: must be application/json"},
		{"headers/ContentTypeWithCharset", []string{"content-type", "application/json; charset=utf-8"}, 200, ""},
		{"headers/ContentEncoding", []string{"content-encoding", "br"}, 400, "content-encoding: br is not supported"},
		{"betas/OwnBeta", []string{"anthropic-beta", "mine-2026-01-01"}, 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t, "POST", url+"/v1/messages?beta=true", body, tt.header...)
			if tt.status != 200 {
				checkError(t, got, tt.status, tt.text)
				return
			}
			if got.status != 200 || got.header.Get("anthropic-organization-id") == "" || got.header.Get("anthropic-ratelimit-requests-limit") == "" {
				t.Errorf("got %d %v %s", got.status, got.header, got.body)
			}
		})
	}
}

// From 2026-10-21 on, sampling is not for clients to set, not even to its defaults.
func TestSamplingIsOfTheFirstVersion(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, field := range []string{`"temperature":1`, `"top_p":1`, `"top_k":0`} {
		body := rule{fields: field + ","}.body()
		name, _, _ := strings.Cut(field, ":")
		if got := do(t, "POST", url+"/v1/messages", body); got.status != 200 {
			t.Errorf("%s with the first version: %d %s", name, got.status, got.body)
		}
		got := do(t, "POST", url+"/v1/messages", body, "anthropic-version", "2026-10-21")
		checkError(t, got, 400, strings.Trim(name, `"`)+": Extra inputs are not permitted")
	}
}

func TestBodies(t *testing.T) {
	_, url := start(t, sandbox.Options{MaxText: 100})
	big := strings.Repeat("x", 32<<20)
	tests := []struct {
		name, body string
		status     int
		text       string
	}{
		{"NotJSON", `{"model":`, 400, "not valid JSON"},
		{"MoreBehind", rule{}.body() + "{}", 400, "not valid JSON"},
		{"NameTwice", `{"model":"a","model":"b"}`, 400, "not valid JSON"},
		{"BadUTF8", "{\"model\":\"\xff\"}", 400, "not valid JSON"},
		{"NotAnObject", `[]`, 400, "Input should be an object"},
		{"Empty", ``, 400, "not valid JSON"},
		{"headers/Over32MB", `{"model":"` + big + `"}`, 413, "exceeds the maximum size"},
		{"size/TooMuchText", rule{messages: `{"role":"user","content":"` + strings.Repeat("x", 101) + `"}`}.body(), 400, "too many total text bytes: 101 > 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkError(t, do(t, "POST", url+"/v1/messages", tt.body), tt.status, tt.text)
		})
	}
}

func TestPaths(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	if got := do(t, "HEAD", url+"/", "", "x-api-key", ""); got.status != 200 {
		t.Errorf("HEAD /: %d", got.status)
	}
	checkError(t, do(t, "GET", url+"/v1/messages", ""), http.StatusMethodNotAllowed, "Method Not Allowed")
	checkError(t, do(t, "POST", url+"/v1/messages/threads", "{}"), 404, "Not found")
	checkError(t, do(t, "GET", url+"/v1/models/claude-nonesuch-9", ""), 404, "model: claude-nonesuch-9")
}

func TestModels(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	type list struct {
		Data []struct {
			ID     string
			Window int `json:"max_input_tokens"`
		}
		More  bool   `json:"has_more"`
		First string `json:"first_id"`
		Last  string `json:"last_id"`
	}
	var all []string
	for after := ""; ; {
		var page list
		got := do(t, "GET", url+"/v1/models?limit=7&after_id="+after, "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatalf("%s: %v", got.body, err)
		}
		for _, m := range page.Data {
			if m.Window == 0 {
				t.Errorf("%s has no window", m.ID)
			}
			all = append(all, m.ID)
		}
		if page.First != page.Data[0].ID || page.Last != page.Data[len(page.Data)-1].ID {
			t.Errorf("first %q, last %q do not match the data", page.First, page.Last)
		}
		if after = page.Last; !page.More {
			break
		}
	}
	seen := strings.Join(all, " ") + " "
	for _, id := range []string{"claude-opus-5-5 ", "claude-haiku-4-5 ", "claude-fable-5-1 "} {
		if strings.Count(seen, id) != 1 {
			t.Errorf("%s is %d times in %s", id, strings.Count(seen, id), seen)
		}
	}
	if got := do(t, "GET", url+"/v1/models/claude-sonnet-4-5-20250929", ""); !strings.Contains(got.body, `"max_input_tokens":200000`) {
		t.Errorf("one model: %s", got.body)
	}
}

func TestWindowOfAMillion(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, tt := range []struct {
		model, beta string
		status      int
	}{
		{old, "", 400},
		{old, "context-1m-2025-08-07", 200},
		{"claude-haiku-4-5", "context-1m-2025-08-07", 400},
		{newest, "", 200},
	} {
		got := do(t, "POST", url+"/v1/messages", rule{model: tt.model, messages: `{"role":"user","content":"` + strings.Repeat("x", 700_000) + `"}`}.body(), "anthropic-beta", tt.beta)
		if got.status != tt.status {
			t.Errorf("%s with beta %q: %d %s", tt.model, tt.beta, got.status, got.body)
		}
	}
}

// TestOverflowBeforeGeneration45 is the second and third row of docs/reference/anthropic.md, "Refusals", for a model that the built-in
// catalogue no longer has.
func TestOverflowBeforeGeneration45(t *testing.T) {
	catalog, err := (&token.Catalog{}).Add([]byte(`{"models":[{"id":"claude-opus-4-1","provider":"anthropic","context_window":5000,"max_output":5000}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, url := start(t, sandbox.Options{Catalog: catalog})
	body := rule{model: "claude-opus-4-1"}.body()
	if got := do(t, "POST", url+"/v1/messages", body); got.status != 200 {
		t.Errorf("4096 + 6 tokens: %d %s", got.status, got.body)
	}
	body = strings.Replace(body, "4096", "4999", 1)
	checkError(t, do(t, "POST", url+"/v1/messages", body), 400, "input length and `max_tokens` exceed context limit: 6 + 4999 > 5000, decrease input length or `max_tokens` and try again")
	if got := do(t, "POST", url+"/v1/messages", body, "anthropic-beta", "model-context-window-exceeded-2025-08-26"); got.status != 200 {
		t.Errorf("with the beta of newer models: %d %s", got.status, got.body)
	}
}

func TestOverflow(t *testing.T) {
	long := func(tokens int) string { // a user message of so many tokens by the default counter, framing included
		return `{"role":"user","content":"` + strings.Repeat("x", 3*(tokens-4)) + `"}`
	}
	model := &sandbox.Script{Count: true, Answers: []sandbox.Answer{{Blocks: []sandbox.Block{{Kind: "text", Text: strings.Repeat("word ", 600)}}}}}
	_, url := start(t, sandbox.Options{Window: 5000, Model: model})
	tests := []struct {
		name   string
		rule   rule
		status int
		text   string
	}{
		{"size/PromptTooLong", rule{messages: long(5001)}, 400, "prompt is too long: 5001 tokens > 5000 maximum"},
		{"size/PromptFits", rule{messages: long(3900)}, 200, `"stop_reason":"end_turn"`},
		{"size/OutputDoesNotFit", rule{messages: long(4900)}, 200, `"stop_reason":"model_context_window_exceeded"`},
		{"size/MaxTokens", rule{messages: long(3900), fields: `"max_tokens":10,`}, 200, `"stop_reason":"max_tokens"`},
		{"request/Warmup", rule{fields: `"max_tokens":0,`}, 200, `"content":[],"stop_reason":"max_tokens"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t, "POST", url+"/v1/messages", tt.rule.body())
			if got.status != tt.status || !strings.Contains(got.body, tt.text) {
				t.Errorf("got %d %s\nwant %d with %s", got.status, got.body, tt.status, tt.text)
			}
		})
	}
	count := do(t, "POST", url+"/v1/messages/count_tokens", strings.Replace(rule{messages: long(6000)}.body(), `"max_tokens":4096,`, "", 1))
	if want := `{"input_tokens":` + strconv.Itoa(6000) + `}`; count.body != want {
		t.Errorf("count %s, want %s", count.body, want)
	}
}

// The models say which of the server's ways of managing a context they take; compaction on demand only to those who
// name its beta.
func TestCapabilities(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	supported := `{"supported":true}`
	for model, compacts := range map[string]bool{newest: true, "claude-haiku-5-5": true, "claude-sonnet-4-6": true, old: false, "claude-opus-4-5": false, "claude-3-haiku": false} {
		for _, beta := range []string{"", demandBeta} {
			got := do(t, "GET", url+"/v1/models/"+model, "", "anthropic-beta", beta)
			var m struct {
				Capabilities struct {
					Batch      struct{ Supported bool }
					Compaction *struct {
						Supported bool
						Summarize struct{ Supported bool }
					}
					Context map[string]json.RawMessage `json:"context_management"`
				}
			}
			if err := json.Unmarshal([]byte(got.body), &m); err != nil {
				t.Fatal(err)
			}
			c := m.Capabilities
			if !c.Batch.Supported || (string(c.Context["compact_20260112"]) == supported) != compacts || (c.Compaction != nil) != (beta != "") {
				t.Errorf("%s with %q: %s", model, beta, got.body)
			}
			if c.Compaction != nil && (c.Compaction.Supported != compacts || c.Compaction.Summarize.Supported != compacts) {
				t.Errorf("%s: %s", model, got.body)
			}
			if edits := string(c.Context["clear_tool_uses_20250919"]) == supported; edits != (model != "claude-3-haiku") || string(c.Context["supported"]) != strconv.FormatBool(edits) {
				t.Errorf("%s: %s", model, got.body)
			}
		}
	}
}
