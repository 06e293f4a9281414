package sandbox

import (
	"slices"
	"strings"
)

// chatFields are the fields of a request for a completion. What the sandbox does not honour stands in the last lines.
var chatFields = strings.Fields(`
	model messages tools tool_choice parallel_tool_calls max_completion_tokens max_tokens reasoning_effort stream
	stream_options response_format temperature top_p stop n seed
	prompt_cache_key prompt_cache_options prompt_cache_retention service_tier store metadata safety_identifier verbosity user
	frequency_penalty presence_penalty logit_bias logprobs top_logprobs modalities`)

// readChat checks a request for a completion.
func (s *Server) readChat(root *node) (*chat, *apiError) {
	if root.kind != '{' {
		return nil, invalid("We could not parse the JSON body of your request.")
	}
	for _, name := range root.names {
		if !slices.Contains(chatFields, name) {
			return nil, about(name, "unknown_parameter", "Unknown parameter: '%s'.", name)
		}
	}
	if root.str("model") == "" {
		return nil, invalid("you must provide a model parameter")
	}
	q := &chat{body: root, messages: root.get("messages").list(), tools: root.get("tools").list()}
	var err *apiError
	if q.model, q.local, err = s.lookupChat(root.str("model")); err != nil {
		return nil, err
	}
	q.blind = q.local && s.opts.Blind
	for _, check := range []func() *apiError{q.checkLimit, q.checkSampling, q.checkTools, q.checkShape, q.checkCalls} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// about returns a 400 that names a parameter.
func about(param, code, format string, args ...any) *apiError {
	err := coded(code, format, args...)
	err.param = param
	return err
}

// checkLimit checks how long the answer may be. Models that reason refuse the old name of that.
func (q *chat) checkLimit() *apiError {
	if q.max = q.model.MaxOutput; q.max == 0 {
		q.max = q.model.Window
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		v := q.body.get(name)
		n, whole := v.integer()
		switch {
		case v == nil:
			continue
		case name == "max_tokens" && !q.local && len(q.model.Thinking) > 0:
			return about(name, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		case !whole || n < 1:
			return about(name, "integer_below_min_value", "Invalid '%s': expected an integer of at least 1.", name)
		case q.model.MaxOutput > 0 && n > q.model.MaxOutput:
			return about(name, "invalid_value", "max_tokens is too large: %d. This model supports at most %d completion tokens.", n, q.model.MaxOutput)
		}
		q.max = n
	}
	return nil
}

// checkSampling checks what says how the model chooses.
func (q *chat) checkSampling() *apiError {
	efforts := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	effort, t := q.body.get("reasoning_effort"), q.body.get("temperature")
	temperature, number := t.number()
	answers, given := q.body.get("n").integer()
	switch {
	case effort != nil && !slices.Contains(efforts, effort.text):
		return about("reasoning_effort", "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", effort.text, strings.Join(efforts, "', '"))
	case t != nil && (!number || temperature < 0 || temperature > 2):
		return about("temperature", "invalid_value", "Invalid 'temperature': expected a number from 0 to 2.")
	case number && temperature != 1 && !q.local && len(q.model.Thinking) > 0:
		return about("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support %s with this model. Only the default (1) value is supported.", t.raw)
	case given && answers != 1:
		return about("n", "invalid_value", "Invalid 'n': this sandbox gives one answer.")
	}
	return nil
}

// checkTools checks the definitions of tools. Some models take them only without reasoning.
func (q *chat) checkTools() *apiError {
	for i, t := range q.tools {
		if f := t.get("function"); t.str("type") != "function" || !toolName.MatchString(f.str("name")) {
			return about(index("tools", i), "invalid_value", "Invalid value at 'tools[%d]': expected a function with a name.", i)
		}
	}
	if len(q.tools) > 0 && !q.local && q.model.NoChatCall && q.reasons() {
		return about("reasoning_effort", "", "Function tools with reasoning_effort are not supported for %s in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", q.model.ID)
	}
	return nil
}

// checkShape checks each message by itself.
func (q *chat) checkShape() *apiError {
	if len(q.messages) == 0 {
		return about("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	roles := []string{"system", "developer", "user", "assistant", "tool"}
	for i, m := range q.messages {
		content, calls := m.get("content"), m.get("tool_calls").list()
		switch {
		case !slices.Contains(roles, m.str("role")):
			return about(number(i, "role"), "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", m.str("role"), strings.Join(roles, "', '"))
		case content == nil && (m.str("role") != "assistant" || len(calls) == 0 && m.get("refusal") == nil):
			return about(number(i, "content"), "", "Invalid value for 'content': expected a string, got null.")
		case content != nil && content.kind != '"' && content.kind != '[':
			return about(number(i, "content"), "invalid_type", "Invalid type for '%s': expected one of a string or array of objects.", number(i, "content"))
		case m.str("role") == "tool" && m.str("tool_call_id") == "":
			return about(number(i, "tool_call_id"), "missing_required_parameter", "Missing required parameter: '%s'.", number(i, "tool_call_id"))
		}
		if err := q.checkParts(i, m); err != nil {
			return err
		}
		for k, c := range calls {
			if f := c.get("function"); c.str("id") == "" || f.str("name") == "" || f.get("arguments") == nil || f.get("arguments").kind != '"' {
				return about(number(i, index("tool_calls", k)), "missing_required_parameter", "A call needs an id, a name and arguments as a string.")
			}
		}
	}
	return nil
}

// checkCalls checks that calls are answered directly behind the message that makes them, and that nothing else is.
func (q *chat) checkCalls() *apiError {
	var open []string
	for i, m := range q.messages {
		if m.str("role") == "tool" {
			k := slices.Index(open, m.str("tool_call_id"))
			if k < 0 {
				return about(number(i, "role"), "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			open = slices.Delete(open, k, k+1)
			continue
		}
		if len(open) > 0 {
			return unanswered(i, open)
		}
		for _, c := range m.get("tool_calls").list() {
			if open = append(open, c.str("id")); slices.Contains(open[:len(open)-1], c.str("id")) {
				return about(number(i, "tool_calls"), "", "Duplicate value for 'tool_call_id' of '%s' found.", c.str("id"))
			}
		}
	}
	if len(open) > 0 {
		return unanswered(len(q.messages), open)
	}
	return nil
}

func unanswered(i int, open []string) *apiError {
	return about(number(i, "role"), "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
}
