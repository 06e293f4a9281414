package legal

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// API names the API whose rules apply.
type API string

// The APIs.
const (
	Messages  API = "anthropic"
	Chat      API = "openai-chat"
	Responses API = "openai-responses"
)

// ForFormat returns the API whose rules apply to a format, by the format's name. The rules for an agent's
// session file are those of the API that the agent uses.
func ForFormat(format string) API {
	switch format {
	case "openai-chat":
		return Chat
	case "openai-responses", "codex":
		return Responses
	}
	return Messages
}

// KeepsThinking reports whether thinking goes and stays with what the model said behind it, and can never be left out
// alone.
func (a API) KeepsThinking() bool { return a == Responses }

// Rules are what a view must follow. RulesFor makes them.
type Rules struct {
	API       API
	Thinking  decant.Thinking // how the request asks the model to think
	Prefill   bool            // the last message may be the assistant's
	Record    bool            // the view is a session file and not a request: it may end anywhere
	ReuseIDs  bool            // call ids may repeat in later turns, as in the session files of some clients
	Claude    bool            // the model is Anthropic's, or not known: thinking is signed, and calls have the form that is asked for
	Binds     bool            // thinking is bound to everything before it
	MaxOutput int             // most output tokens that may be asked for, 0: not known
	// the request has an automatic cache breakpoint, of five minutes unless the view says otherwise
	Automatic bool

	// Original is what the view was made of. With it Check knows what thinking must look like and
	// which reasoning belongs to which call, and what thinking is bound to; without it those rules are not
	// checked. Where thinking was written on top of an earlier view, it is that view.
	Original *decant.Conversation
}

// RulesFor returns the rules of an API and a model for a request that thinks in the given mode.
func RulesFor(api API, m token.Model, thinking decant.Thinking) Rules {
	return Rules{
		API:       api,
		Thinking:  thinking,
		Prefill:   api != Messages || !m.Since(4, 6),
		Claude:    api == Messages && (m.Provider == token.Anthropic || m.ID == ""),
		Binds:     api == Messages && m.Binds,
		MaxOutput: m.MaxOutput,
	}
}

// Of returns the rules for a view of c.
func (r Rules) Of(c *decant.Conversation) Rules {
	r.Original = c
	return r
}

// A Rule is the id of a rule. Ids are words, are shown to people, and never change;
// docs/reference/anthropic.md, "Rules", and docs/reference/openai.md, "Rules", explain each.
type Rule string

// The rules of the Messages API.
const (
	FirstMessage          Rule = "first-message"
	ToolResultMissing     Rule = "tool-result-missing"
	ToolResultOrphan      Rule = "tool-result-orphan"
	CallIDForm            Rule = "call-id-form"
	CallIDUnique          Rule = "call-id-unique"
	CallInputForm         Rule = "call-input-form"
	ToolResultsFirst      Rule = "tool-results-first"
	TextEmpty             Rule = "text-empty"
	Prefill               Rule = "prefill"
	ThinkingChanged       Rule = "thinking-changed"
	ThinkingFirst         Rule = "thinking-first"
	ThinkingUnsigned      Rule = "thinking-unsigned"
	SystemPlace           Rule = "system-place"
	CacheMarkersMany      Rule = "cache-markers-many"
	CacheLifetimesOrder   Rule = "cache-lifetimes-order"
	ServerResultMissing   Rule = "server-result-missing"
	ServerResultOrphan    Rule = "server-result-orphan"
	OutputLimit           Rule = "output-limit"
	ThinkingBound         Rule = "thinking-bound"
	ThinkingGap           Rule = "thinking-gap"
	CacheMarkerOnThinking Rule = "cache-marker-on-thinking"
	MessagesMany          Rule = "messages-many"
)

// The rules of OpenAI's APIs.
const (
	ToolMessageMissing Rule = "tool-message-missing"
	ToolMessageOrphan  Rule = "tool-message-orphan"
	ItemOutputMissing  Rule = "item-output-missing"
	ItemOutputOrphan   Rule = "item-output-orphan"
	ReasoningAlone     Rule = "reasoning-alone"
	ReasoningMissing   Rule = "reasoning-missing"
	FixedMissing       Rule = "fixed-missing"
)

// A Violation is one place where a view breaks a rule.
type Violation struct {
	Message int    `json:"message"` // number of the message; 0: a message that Decant wrote, or none
	Index   int    `json:"index"`   // index of the message in the view, -1: system, tools or the request as a whole
	Block   int    `json:"block"`   // index of the block in the message, -1: the message as a whole
	Rule    Rule   `json:"rule"`
	Text    string `json:"text"` // what is wrong, for people
}

// Error describes the violation in one line.
func (v Violation) Error() string {
	where := "request"
	if v.Index >= 0 {
		where = fmt.Sprintf("messages[%d]", v.Index)
	}
	if v.Message > 0 {
		where += fmt.Sprintf(" (m%d)", v.Message)
	}
	if v.Block >= 0 {
		where += fmt.Sprintf(" block %d", v.Block)
	}
	return fmt.Sprintf("%s: %s: rule %s", where, v.Text, v.Rule)
}

// Unwrap makes errors.Is(v, decant.ErrIllegal) true.
func (v Violation) Unwrap() error { return decant.ErrIllegal }
