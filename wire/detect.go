package wire

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// detect tells the format of src by what it contains, never by a file's name. It reads the members of
// the first objects and does not check that the rest is valid. Where a body could be of the Messages
// API and of Chat Completions alike, which only a few lines of plain text can, the model and
// max_tokens, which the Messages API demands, decide.
//
// Errors wrap ErrFormat and say what src looks like.
func detect(src []byte) (Format, error) {
	sc := jsonspan.Scan(src, source.Blank(src))
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
		"session files of Claude Code, Codex and pi, and logs of Copilot CLI, Gemini CLI and opencode, "+
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
