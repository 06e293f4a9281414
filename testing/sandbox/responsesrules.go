package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The members of requests to the Responses API. A name stands alone if its value may be anything; else a word behind it
// says what it must be. An exclamation mark says that it must be there.
const (
	countedFields = `model:text! input instructions:text previous_response_id:text parallel_tool_calls:bool
		reasoning:object text:object tool_choice tools:list truncation:text personality:text`
	compactFields = `model:text! input instructions:text previous_response_id:text prompt_cache_key:text
		prompt_cache_options:object prompt_cache_retention:text service_tier:text image:object`
	responseFields = countedFields + ` include:list max_output_tokens:int max_tool_calls:int metadata:object
		prompt_cache_key:text prompt_cache_options:object prompt_cache_retention:text safety_identifier:text
		service_tier:text store:bool stream:bool stream_options:object temperature:number top_p:number
		top_logprobs:int user:text context_management:list client_metadata:object image:object`
)

// itemMembers are the types of items, and their members beside the type.
var itemMembers = map[string]string{
	"message":                 `role:text! content! status:text phase:text`,
	"function_call":           `call_id:text! name:text! arguments:text! status:text namespace:text caller:object async:bool`,
	"function_call_output":    `call_id:text! output! status:text caller:object name:text namespace:text`,
	"custom_tool_call":        `call_id:text! name:text! input:text! status:text namespace:text caller:object async:bool`,
	"custom_tool_call_output": `call_id:text! output! status:text caller:object name:text`,
	"local_shell_call":        `call_id:text! action:object! status:text`,
	"local_shell_call_output": `call_id:text output:text! status:text`,
	"shell_call":              `call_id:text! action:object! status:text environment:object caller:object`,
	"shell_call_output":       `call_id:text! output:list! status:text max_output_length:int caller:object`,
	"apply_patch_call":        `call_id:text! operation:object! status:text caller:object`,
	"apply_patch_call_output": `call_id:text! output:text status:text! caller:object`,
	"computer_call":           `call_id:text! action actions pending_safety_checks status:text`,
	"computer_call_output":    `call_id:text! output:object! status:text acknowledged_safety_checks`,
	"tool_search_call":        `call_id:text arguments! execution:text status:text`,
	"tool_search_output":      `call_id:text tools:list! execution:text status:text`,
	"program":                 `call_id:text! code:text! fingerprint:text!`,
	"program_output":          `call_id:text! result:text! status:text!`,
	"mcp_approval_request":    `arguments:text! name:text! server_label:text!`,
	"mcp_approval_response":   `approval_request_id:text! approve:bool! reason:text`,
	"mcp_call":                `arguments:text! name:text! server_label:text! approval_request_id error output status:text`,
	"mcp_list_tools":          `server_label:text! tools:list! error`,
	"web_search_call":         `action status:text`,
	"file_search_call":        `queries:list! results status:text`,
	"code_interpreter_call":   `code container_id:text outputs status:text`,
	"image_generation_call":   `result status:text action background output_format quality revised_prompt size`,
	"reasoning":               `summary:list! content encrypted_content:text status:text`,
	"compaction":              `encrypted_content:text!`,
	"compaction_trigger":      ``,
	"item_reference":          ``,
	"additional_tools":        `role:text! tools:list!`,
	"configuration_update":    `reasoning:object text:object`,
}

// everyMember are the members that every item may have.
const everyMember = ` type:text id:text internal_chat_message_metadata_passthrough created_by:text`

// idPrefixes are how the ids of items begin that the model says.
var idPrefixes = map[string]string{
	"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs", "compaction": "cmp", "message": "msg",
}

// wants are the words behind names of members: what the JSON value is, and how a refusal says that.
var wants = map[string]struct {
	kinds, says string
}{
	"text": {`"`, "a string"}, "bool": {"tf", "a boolean"}, "int": {"0", "an integer"}, "number": {"0", "a decimal"},
	"list": {"[", "an array of objects"}, "object": {"{", "an object"},
}

// checkMembers checks that an object has the members it must have, no unknown ones, and what may be in them.
func checkMembers(path string, n *node, spec string) *apiError {
	known := map[string]string{}
	for _, word := range strings.Fields(spec) {
		name, want, _ := strings.Cut(strings.TrimSuffix(word, "!"), ":")
		known[name] = want
		if strings.HasSuffix(word, "!") && n.get(name) == nil {
			return about(join(path, name), "missing_required_parameter",
				"Missing required parameter: '%s'.", join(path, name))
		}
	}
	for i, name := range n.names {
		at := join(path, name)
		want, ok := known[name]
		w := wants[want]
		switch kind := n.items[i].kind; {
		case !ok:
			return about(at, "unknown_parameter", "Unknown parameter: '%s'.", at)
		case kind == 'n' || want == "":
		case !strings.ContainsRune(w.kinds, rune(kind)):
			return about(at, "invalid_type",
				"Invalid type for '%s': expected %s, but got something else instead.", at, w.says)
		}
	}
	return nil
}

// checkLimits checks how long the answer may be, and how the model chooses.
func (q *input) checkLimits() *apiError {
	if q.max = q.model.MaxOutput; q.max == 0 {
		q.max = q.model.Window
	}
	if n, given := q.body.get("max_output_tokens").integer(); given {
		if n < 16 {
			return tooLow("max_output_tokens", 16, n)
		}
		if q.model.MaxOutput > 0 && n > q.model.MaxOutput {
			return about("max_output_tokens", "invalid_value",
				"Invalid 'max_output_tokens': expected a value <= %d, but got %d instead.", q.model.MaxOutput, n)
		}
		q.max = n
	}
	for _, name := range []string{"temperature", "top_p"} {
		if v, given := q.body.get(name).number(); given && q.reasons() && v != 1 {
			return about(name, "", "Unsupported parameter: '%s' is not supported with this model.", name)
		}
	}
	for _, one := range []struct {
		path, value string
		may         []string
	}{
		{"truncation", q.body.str("truncation"), []string{"auto", "disabled"}},
		{"prompt_cache_options.mode", q.body.get("prompt_cache_options").str("mode"), []string{"implicit", "explicit"}},
		{"prompt_cache_options.ttl", q.body.get("prompt_cache_options").str("ttl"), []string{"30m", "12h"}},
	} {
		if one.value != "" && !slices.Contains(one.may, one.value) {
			return unsupported(one.path, one.value, one.may)
		}
	}
	return q.checkThreshold()
}

// checkThreshold checks when the server is to compact by itself.
func (q *input) checkThreshold() *apiError {
	for i, e := range q.body.get("context_management").list() {
		at := fmt.Sprintf("context_management[%d]", i)
		if e.str("type") != "compaction" {
			return unsupported(at+".type", e.str("type"), []string{"compaction"})
		}
		if n, given := e.get("compact_threshold").integer(); given && n < 1000 {
			return tooLow(at+".compact_threshold", 1000, n)
		}
	}
	return nil
}

// tooLow refuses a number.
func tooLow(path string, least, n int) *apiError {
	return about(path, "integer_below_min_value",
		"Invalid '%s': integer below minimum value. Expected a value >= %d, but got %d instead.", path, least, n)
}

// unsupported refuses a value that is none of those that may be.
func unsupported(path, value string, may []string) *apiError {
	return about(path, "invalid_value",
		"Invalid value: '%s'. Supported values are: '%s'.", value, strings.Join(may, "', '"))
}

// The words of parameters about reasoning.
var (
	efforts  = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	includes = []string{
		"file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url",
		"computer_call_output.output.image_url", "code_interpreter_call.outputs", "reasoning.encrypted_content", "message.output_text.logprobs",
	}
)

// checkReasoning checks how the model shall think, and what of that the answer shall hold.
func (q *input) checkReasoning() *apiError {
	effort := q.body.get("reasoning").str("effort")
	switch {
	case effort != "" && !slices.Contains(efforts, effort):
		return unsupported("reasoning.effort", effort, efforts)
	case effort == "none" && since(q.model.ID, 6, 1) && strings.HasSuffix(q.model.ID, "-sol"):
		return about("reasoning.effort", "unsupported_value",
			"Unsupported value: 'none' is not supported with the '%s' model. Supported values are: '%s'.",
			q.model.ID, strings.Join(efforts[1:], "', '"))
	}
	for i, v := range q.body.get("include").list() {
		if !slices.Contains(includes, v.text) {
			return unsupported(fmt.Sprintf("include[%d]", i), v.text, includes)
		}
	}
	return nil
}

// reasons reports whether the model thinks before it answers.
func (q *input) reasons() bool {
	return !q.local && len(q.model.Thinking) > 0 && q.body.get("reasoning").str("effort") != "none"
}

// since reports whether a model is of a version or a later one: 6.2 of gpt-6.2-sol.
func since(id string, major, minor int) bool {
	a, b := 0, 0
	n, _ := fmt.Sscanf(id, "gpt-%d.%d", &a, &b) // no number is no version
	return n > 0 && (a > major || a == major && b >= minor)
}

// checkItems checks each item by itself.
func (q *input) checkItems() *apiError {
	ids := map[string]bool{}
	for i, n := range q.items {
		if i < q.given {
			continue
		}
		at := q.paths[i]
		if n.kind != '{' {
			return about(at, "invalid_type",
				"Invalid type for '%s': expected an object, but got something else instead.", at)
		}
		it := shownItem{node: n}
		kind := it.kindOf()
		spec, ok := itemMembers[kind]
		if !ok {
			return unsupported(at, kind, slices.Sorted(maps.Keys(itemMembers)))
		}
		if err := checkMembers(at, n, spec+everyMember); err != nil {
			return err
		}
		id, prefix := n.str("id"), idPrefixes[kind]
		switch {
		case id == "":
		case prefix != "" && (kind != "message" || n.str("role") == "assistant") && !strings.HasPrefix(id, prefix):
			return about(at+".id", "invalid_value",
				"Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", at, id, prefix)
		case ids[id] && kind != "item_reference":
			return about("input", "",
				"Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)
		}
		ids[id] = true
		if err := it.checkContent(at); err != nil {
			return err
		}
		if kind == "compaction_trigger" && i < len(q.items)-1 {
			return about(at, "invalid_value",
				"Invalid value at '%s': 'compaction_trigger' must be the last item of the input.", at)
		}
	}
	return nil
}

// The parts of contents, and who may say what.
var (
	inputParts = []string{"input_text", "input_image", "input_file", "input_audio"}
	itemParts  = map[string][]string{
		"user": inputParts, "system": inputParts, "developer": inputParts, "assistant": {"output_text", "refusal"},
	}
)

// checkContent checks the content of a message, and what a call brought.
func (it *shownItem) checkContent(at string) *apiError {
	switch kind, role := it.kindOf(), it.str("role"); kind {
	case "message":
		may, ok := itemParts[role]
		if !ok {
			return unsupported(at+".role", role, []string{"assistant", "system", "developer", "user"})
		}
		phase, phases := it.str("phase"), []string{"commentary", "final_answer"}
		if role == "assistant" && phase != "" && !slices.Contains(phases, phase) {
			return unsupported(at+".phase", phase, phases)
		}
		return checkItemParts(at+".content", it.get("content"), may)
	case "function_call_output", "custom_tool_call_output":
		return checkItemParts(at+".output", it.get("output"), inputParts[:3])
	case "additional_tools":
		if role != "developer" {
			return unsupported(at+".role", role, []string{"developer"})
		}
	}
	return nil
}

// checkItemParts checks a string or a list of parts.
func checkItemParts(at string, n *node, may []string) *apiError {
	if n.kind == '"' {
		return nil
	}
	if n.kind != '[' {
		return about(at, "invalid_type",
			"Invalid type for '%s': expected one of an array of objects or string, but got something else instead.", at)
	}
	for k, part := range n.items {
		here, kind := at+"["+strconv.Itoa(k)+"]", part.str("type")
		if !slices.Contains(may, kind) {
			return unsupported(here, kind, may)
		}
		if t := part.get("text"); strings.HasSuffix(kind, "_text") && (t == nil || t.kind != '"') {
			return about(here+".text", "missing_required_parameter", "Missing required parameter: '%s.text'.", here)
		}
	}
	return nil
}

// checkPairs checks that calls are answered behind them, and that nothing else is.
func (q *input) checkPairs() *apiError {
	kinds, open := map[string]string{}, map[string]bool{}
	for _, n := range q.items {
		it := shownItem{node: n}
		if id, _ := it.call(); id != "" {
			if _, again := kinds[id]; again {
				return about("input", "",
					"Duplicate call_id %s found. Remove duplicate items from your input and try again.", id)
			}
			kinds[id], open[id] = it.kindOf(), true
		}
		if from := n.get("caller").str("caller_id"); from != "" && kinds[from] != "program" {
			return about("input", "", "No program found for %s with caller_id %s.", spaced(it.kindOf()), from)
		}
		id, answers := it.answers()
		if !answers {
			continue
		}
		if !fits(kinds[id], it.kindOf()) || !open[id] {
			return about("input", "", "No tool call found for %s with call_id %s.", spaced(it.kindOf()), id)
		}
		delete(open, id)
	}
	for _, n := range q.items {
		it := shownItem{node: n}
		// A program waits for what its calls bring, and what runs beside the model may come later.
		if id, _ := it.call(); open[id] && kinds[id] != "program" && kinds[id] != "mcp_approval_request" && !n.is("async") {
			return about("input", "", "No tool output found for %s %s.", spaced(kinds[id]), id)
		}
	}
	return nil
}

// spaced returns a type of items as refusals say it.
func spaced(kind string) string {
	if kind == "tool_search_output" {
		return "tool search call output"
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// fits reports whether a type of items answers a type of calls.
func fits(call, output string) bool {
	switch output {
	case "function_call_output": // Codex answers its shell so
		return call == "function_call" || call == "local_shell_call"
	case "tool_search_output", "mcp_approval_response":
		return call == strings.NewReplacer("output", "call", "response", "request").Replace(output)
	}
	return call == strings.TrimSuffix(output, "_output")
}

// checkThoughts checks that what the model said or called follows its reasoning.
func (q *input) checkThoughts() *apiError {
	for i, n := range q.items {
		if n.str("type") != "reasoning" {
			continue
		}
		k := i + 1
		for k < len(q.items) && q.items[k].str("type") == "reasoning" {
			k++
		}
		if k == len(q.items) || !(&shownItem{node: q.items[k]}).speaks() {
			return about("input", "",
				"Item '%s' of type 'reasoning' was provided without its required following item.", n.str("id"))
		}
	}
	return nil
}

// checkCompany checks that items which came with reasoning are sent with it.
func (s *Server) checkCompany(account string, q *input) *apiError {
	seen := map[string]bool{}
	for _, n := range q.items {
		id, kind := n.str("id"), (&shownItem{node: n}).kindOf()
		if kind == "reasoning" {
			seen[id] = true
		}
		if need, known := s.memory.of(account, id); known && id != "" && !s.opts.ForgetAnswers && !seen[need[0]] {
			return about("input", "",
				"Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, kind, need[0])
		}
	}
	return nil
}
