package wire

import (
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// bodyFormat tells which request body the object at an offset is, "" when it is none. It reads no
// further than it has to, which for a large body is a small part of it.
func bodyFormat(src []byte, at int) Format {
	c := chooser{src: src}
	sc := jsonspan.Scan(src, at)
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		switch {
		case name == "messages" && sc.Kind() == '[':
			c.messages = true
			c.choose(sc.Pos())
		case name == "input" && (sc.Kind() == '[' || sc.Kind() == '"'):
			c.input = true
		}
		if f := c.proven(); f != "" {
			return f
		}
		c.member(name, sc.Skip())
	}
	return c.format()
}

// messagesAPI tells which API the bare list of messages at an offset is for: what only one of them has decides, and
// where nothing does, it is that of Chat Completions.
func messagesAPI(src []byte, at int) Format {
	c := chooser{src: src, messages: true}
	if c.choose(at); c.anthropic > c.chat {
		return Anthropic
	}
	return OpenAIChat
}

// A chooser weighs what tells the Messages API from Chat Completions.
type chooser struct {
	src             []byte
	anthropic, chat int
	messages, input bool // there is such a member
	limit           bool // max_tokens is there, which the Messages API demands
	session         bool // there are members that only a session file's lines have
}

// proven returns the format once it is beyond doubt.
func (c *chooser) proven() Format {
	switch {
	case c.messages && c.anthropic >= proof && c.chat < proof:
		return Anthropic
	case c.messages && c.chat >= proof && c.anthropic < proof:
		return OpenAIChat
	}
	return ""
}

// format returns the format when everything is weighed.
func (c *chooser) format() Format {
	if !c.limit {
		c.chat += 2 * hint
	}
	switch {
	case c.messages && c.anthropic > c.chat:
		return Anthropic
	case c.messages:
		return OpenAIChat
	case c.input && !c.session:
		return OpenAIResponses
	}
	return ""
}

// The weights of evidence: what only one API accepts, and what the other may hold too.
const (
	proof = 100
	hint  = 1
)

func (c *chooser) member(name string, v jsonspan.Span) {
	switch name {
	case "system", "thinking", "anthropic_version", "anthropic_beta", "context_management", "stop_sequences":
		c.anthropic += proof
	case "max_tokens":
		c.anthropic += hint
		c.limit = true
	case "max_completion_tokens", "reasoning_effort", "response_format", "stream_options", "parallel_tool_calls", "kwargs",
		"frequency_penalty", "presence_penalty", "n", "seed", "stop", "logprobs":
		c.chat += proof
	case "model":
		c.model(string(v.Of(c.src)))
	case "tools":
		c.tools(v)
	case "payload", "uuid", "sessionId", "parentId":
		c.session = true
	}
}

func (c *chooser) model(name string) {
	if strings.Contains(name, "claude") {
		c.anthropic += 2 * hint
	} else {
		c.chat += 2 * hint
	}
}

// tools looks at the first tool.
func (c *chooser) tools(v jsonspan.Span) {
	sc := jsonspan.Scan(c.src, v.Start)
	sc.Open()
	if !sc.Next() {
		return
	}
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "input_schema":
			c.anthropic += proof
		case "function":
			c.chat += proof
		}
		sc.Skip()
	}
}

// choose looks at the messages in the list at an offset until one of them is proof.
func (c *chooser) choose(at int) {
	first := true
	sc := jsonspan.Scan(c.src, at)
	for sc.Open(); c.proven() == "" && sc.Next(); {
		for sc.Open(); sc.Next(); {
			name := string(sc.Name())
			c.messageMember(name, sc.Skip(), first)
		}
		first = false
	}
}

func (c *chooser) messageMember(name string, v jsonspan.Span, first bool) {
	switch name {
	case "tool_calls", "tool_call_id", "name", "refusal", "reasoning_content":
		c.chat += proof
	case "role":
		switch role := string(v.Of(c.src)); {
		case role == `"tool"` || role == `"developer"` || role == `"system"` && first:
			c.chat += proof
		}
	case "content":
		c.parts(v)
	}
}

// parts looks for parts that only one API has.
func (c *chooser) parts(v jsonspan.Span) {
	if !starts(c.src, v, "[") {
		return
	}
	sc := jsonspan.Scan(c.src, v.Start)
	for sc.Open(); sc.Next(); {
		for sc.Open(); sc.Next(); {
			switch name := string(sc.Name()); {
			case name == "tool_use_id" || name == "cache_control" || name == "source" || name == "signature":
				c.anthropic += hint // "name" and "id" of a call are followed by a tool_use_id
			case name == "image_url":
				c.chat += proof
			case name == "type":
				c.partType(string(sc.Skip().Of(c.src)))
				continue
			}
			sc.Skip()
		}
	}
}

func (c *chooser) partType(kind string) {
	switch kind {
	case `"tool_use"`, `"tool_result"`, `"thinking"`, `"redacted_thinking"`, `"image"`, `"document"`, `"compaction"`:
		c.anthropic += proof
	case `"image_url"`, `"input_audio"`:
		c.chat += proof
	}
}

// starts reports whether the value at v begins with one of the bytes in set.
func starts(src []byte, v jsonspan.Span, set string) bool {
	return !v.IsZero() && v.Start < len(src) && strings.IndexByte(set, src[v.Start]) >= 0
}
