package sandbox

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/token"
)

// checkParams checks everything outside of system, tools and messages against the model
// (docs/reference/anthropic.md, "The request" and "Context editing").
func (q *request) checkParams() *apiError {
	for _, check := range []func() *apiError{
		q.checkMax, q.checkThinking, q.checkBudget, q.checkSampling, q.checkWarmup, q.checkChoice, q.checkEffort, q.checkEdits, q.checkDemand, q.checkWords,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// The versions of the API. The reference knows the first; the next is known from the types of the
// official clients that name it, which differ for messages in one thing: sampling is not theirs to set.
const (
	versionFirst = "2023-06-01"
	versionNext  = "2026-10-21"
)

// checkVersion refuses fields that a version of the API does not have.
func (q *request) checkVersion(version string) *apiError {
	if version != versionNext {
		return nil
	}
	for _, name := range []string{"temperature", "top_p", "top_k"} {
		if q.body.get(name) != nil {
			return invalid("%s: Extra inputs are not permitted", name)
		}
	}
	return nil
}

// checkMax is the rule output-limit.
func (q *request) checkMax() *apiError {
	if q.count {
		return nil
	}
	if q.max < 0 {
		return invalid("max_tokens: Input should be greater than or equal to 0")
	}
	if m := q.model.MaxOutput; m > 0 && q.max > m {
		return invalid("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", q.max, m, q.model.ID)
	}
	return nil
}

// mode returns the thinking mode in force. A model that cannot do without thinks adaptively unasked.
func (q *request) mode() string {
	if mode := q.body.get("thinking").str("type"); mode != "" {
		return mode
	}
	if alwaysThinks(q.model) {
		return "adaptive"
	}
	return "disabled"
}

// thinks reports whether the model may think.
func (q *request) thinks() bool { return q.mode() != "disabled" }

// alwaysThinks reports whether a model is known to have thinking modes, but not the one that is off.
func alwaysThinks(m token.Model) bool { return len(m.Thinking) > 0 && !m.Takes("disabled") }

func (q *request) checkThinking() *apiError {
	t := q.body.get("thinking")
	if t == nil {
		return nil
	}
	mode := t.str("type")
	if !slices.Contains([]string{"adaptive", "enabled", "disabled", "between_tools"}, mode) {
		return invalid("thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'enabled', 'disabled', 'between_tools'", mode)
	}
	if len(q.model.Thinking) > 0 && !q.model.Takes(mode) {
		return invalid("thinking.type: \"%s\" is not supported by %s. Use %q and `output_config.effort`.", mode, q.model.ID, q.model.Thinking)
	}
	if d := t.str("display"); t.get("display") != nil && d != "summarized" && d != "omitted" && d != "updates" {
		return invalid("thinking.display: Input should be 'summarized', 'omitted' or 'updates'")
	}
	if b := t.get("block_binding"); b != nil {
		if w := b.str("prefix_mismatch_behavior"); w != "error" && w != "drop_block" {
			return invalid("thinking.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'")
		}
	}
	return nil
}

// checkBudget checks the budget of manual thinking, which no other mode has.
func (q *request) checkBudget() *apiError {
	t := q.body.get("thinking")
	n, given := t.get("budget_tokens").integer()
	switch manual := t.str("type") == "enabled"; {
	case !manual && given:
		return invalid("thinking.%s.budget_tokens: Extra inputs are not permitted", t.str("type"))
	case !manual:
		return nil
	case !given:
		return invalid("thinking.enabled.budget_tokens: Field required")
	case n < 1024:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case !q.count && q.max > 0 && n >= q.max:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
	}
	return nil
}

// checkSampling refuses values that are not numbers of their range, and all but the defaults on
// newer models and with manual thinking.
func (q *request) checkSampling() *apiError {
	t, hasT := q.body.get("temperature").number()
	p, hasP := q.body.get("top_p").number()
	k, hasK := q.body.get("top_k").integer()
	switch {
	case hasT && (t < 0 || t > 1):
		return invalid("temperature: range: 0..1")
	case hasP && (p < 0 || p > 1):
		return invalid("top_p: range: 0..1")
	case hasK && k < 0:
		return invalid("top_k: Input should be greater than or equal to 0")
	case hasT && t != 1 && q.mode() == "enabled":
		return invalid("`temperature` may only be set to 1 when thinking is enabled.")
	case hasT && t != 1 && q.fixedSampling():
		return invalid("temperature: %s does not support values other than the default", q.model.ID)
	case hasP && p != 1 && q.fixedSampling():
		return invalid("top_p: %s does not support values other than the default", q.model.ID)
	case hasK && k != 0 && q.fixedSampling():
		return invalid("top_k: %s does not support values other than the default", q.model.ID)
	}
	return nil
}

// fixedSampling reports whether the model is one of the newer ones that take the default sampling
// only. docs/reference/anthropic.md, "The request", does not say which those are; the sandbox takes those that take no manual thinking.
func (q *request) fixedSampling() bool { return len(q.model.Thinking) > 0 && !q.model.Takes("enabled") }

// checkWarmup checks what a request without output may ask for (max_tokens 0: docs/reference/anthropic.md, "The request").
func (q *request) checkWarmup() *apiError {
	if q.count || q.max != 0 {
		return nil
	}
	choice := q.body.get("tool_choice").str("type")
	for _, no := range []struct {
		it   bool
		name string
	}{
		{q.body.is("stream"), "`stream`"},
		{q.mode() == "enabled", "`thinking.type` \"enabled\""},
		{q.body.get("output_config").get("format") != nil, "`output_config.format`"},
		{choice == "any" || choice == "tool", "`tool_choice` any or tool"},
	} {
		if no.it {
			return invalid("max_tokens: 0 cannot be combined with %s", no.name)
		}
	}
	return nil
}

// checkChoice checks tool_choice (docs/reference/anthropic.md, "The request").
func (q *request) checkChoice() *apiError {
	c := q.body.get("tool_choice")
	if c == nil {
		return nil
	}
	kind := c.str("type")
	switch {
	case !slices.Contains([]string{"auto", "any", "tool", "none"}, kind):
		return invalid("tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", kind)
	case len(q.tools) == 0:
		return invalid("tool_choice may only be specified while providing `tools`.")
	case kind == "tool" && !q.offers(c.str("name")):
		return invalid("tool_choice: Tool '%s' not found in provided tools", c.str("name"))
	case kind != "any" && kind != "tool":
		return nil
	case q.mode() == "enabled", alwaysThinks(q.model):
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

func (q *request) offers(tool string) bool {
	return slices.ContainsFunc(q.tools, func(t *node) bool { return t.str("name") == tool })
}

func (q *request) checkEffort() *apiError {
	e := q.body.get("output_config").get("effort")
	if e != nil && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, e.text) {
		return invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	return nil
}

// checkWords checks fields that hold one of a few words.
func (q *request) checkWords() *apiError {
	for _, f := range []struct {
		name  string
		words []string
	}{
		{"service_tier", []string{"auto", "standard_only"}},
		{"speed", []string{"standard", "fast"}},
		{"inference_geo", []string{"us", "global"}},
	} {
		if v := q.body.get(f.name); v != nil && !slices.Contains(f.words, v.text) {
			return invalid("%s: Input should be one of %q", f.name, f.words)
		}
	}
	for i, v := range q.body.get("stop_sequences").list() {
		if v.kind != '"' || v.text == "" {
			return invalid("%s: Input should be a valid string", index("stop_sequences", i))
		}
		if strings.TrimSpace(v.text) == "" {
			return invalid("%s: each stop sequence must contain non-whitespace", index("stop_sequences", i))
		}
	}
	return nil
}
