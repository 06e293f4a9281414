package wire

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/draft"
)

// Detect tells the format of src by what it contains, never by a file's name. It reads the members of
// the first objects and does not check that the rest is valid. Where a body could be of the Messages
// API and of Chat Completions alike, which only a few lines of plain text can, the model and
// max_tokens, which the Messages API demands, decide.
//
// Errors wrap ErrFormat and say what src looks like.
func Detect(src []byte) (Format, error) {
	sc := jsonspan.Scan(src, len(byteOrderMarkOf(src)))
	if f := exportFormat(src, sc.Pos()); f != "" {
		return f, nil
	}
	if sc.Kind() != '{' {
		return "", unknown(src, sc.Pos())
	}
	if f := bodyFormat(src, sc.Pos()); f != "" {
		return f, nil
	}
	if f := sessionFormat(src[sc.Pos():]); f != "" {
		return f, nil
	}
	return "", unknown(src, sc.Pos())
}

// byteOrderMarkOf returns the byte order mark that src starts with.
func byteOrderMarkOf(src []byte) []byte {
	if bytes.HasPrefix(src, draft.ByteOrderMark) {
		return draft.ByteOrderMark
	}
	return nil
}

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

// starts reports whether the value at v begins with one of the bytes in set.
func starts(src []byte, v jsonspan.Span, set string) bool {
	return !v.IsZero() && v.Start < len(src) && strings.IndexByte(set, src[v.Start]) >= 0
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

// sessionFormat tells which agent wrote a session file that begins with src, "" when it is none of
// the known. The first lines may be of any type, so some are read until one decides.
func sessionFormat(src []byte) Format {
	const lines = 100
	for range lines {
		line, rest, _ := bytes.Cut(src, []byte("\n"))
		if f := lineFormat(line); f != "" {
			return f
		}
		if src = rest; len(src) == 0 {
			break
		}
	}
	return ""
}

// lineFormat tells which agent writes lines like this one, "" when it cannot be told.
func lineFormat(line []byte) Format {
	var kind string
	has := map[string]bool{}
	sc := jsonspan.Scan(line, 0)
	if sc.Kind() != '{' {
		return ""
	}
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		v := sc.Skip()
		has[name] = true
		if name == "type" {
			kind = jsonspan.Unquote(v.Of(line))
		}
	}
	switch {
	case kind != "" && has["payload"] && has["timestamp"]:
		return Codex
	case has["leafUuid"] || has["sessionId"] && (has["isSidechain"] || has["userType"]) || kind == "file-history-snapshot":
		return ClaudeCode
	case kind == "session" && (has["cwd"] || has["version"]):
		return Pi
	case strings.HasPrefix(kind, "session.") && has["data"] && has["parentId"]:
		return Copilot
	case has["projectHash"] && has["sessionId"]:
		return Gemini
	}
	return ""
}

// unknown says what src looks like and what is accepted instead.
func unknown(src []byte, at int) error {
	return fmt.Errorf("%s: %w; accepted are request bodies of the Messages, Chat Completions and Responses APIs, lists of messages, "+
		"session files of Claude Code, Codex and pi, and logs of Copilot CLI, Gemini CLI, opencode, SWE-agent, tau-bench and OpenHands, "+
		"plain or gzip", looks(src, at), ErrFormat)
}

// looks describes src for somebody who wonders why it is not accepted.
func looks(src []byte, at int) string {
	switch rest := bytes.TrimSpace(src[min(at, len(src)):]); {
	case len(rest) == 0:
		return "the input is empty"
	case bytes.HasPrefix(src, []byte{0x1f, 0x8b}):
		return "the input is packed with gzip: unpack it with Read"
	case rest[0] == '[':
		return "the input is a JSON array, and its first element is no message"
	case rest[0] == '{':
		return fmt.Sprintf("the input is a JSON object with the members %s", memberList(src, at))
	case bytes.IndexByte(rest[:min(len(rest), 512)], 0) >= 0:
		return "the input is binary"
	default:
		return fmt.Sprintf("the input is not JSON: it starts with %q", cutText(string(rest), 40))
	}
}

// memberList returns the names of the first members of the object at an offset.
func memberList(src []byte, at int) string {
	const most = 8
	var names []string
	sc := jsonspan.Scan(src, at)
	for sc.Open(); sc.Next() && len(names) < most; {
		names = append(names, fmt.Sprintf("%q", cutText(string(sc.Name()), 40)))
		sc.Skip()
	}
	return strings.Join(names, ", ")
}

// cutText returns the first n bytes of s, and what is left out as an ellipsis.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
