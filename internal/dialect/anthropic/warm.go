package anthropic

import (
	"strings"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

var _ dialect.Warmer = Dialect{}

// Warm implements dialect.Warmer. A request with max_tokens 0 is answered with nothing; where an output
// format or a tool is demanded, which goes with 1 only, with one token. Nothing else may differ, or the
// messages would not be found: manual thinking cannot be left out, and its budget is less than max_tokens, so
// such a request cannot be kept small. One that may have the provider write a summary is none of those that
// read only, and one of a thread is not the whole conversation.
func (Dialect) Warm(body []byte) ([]byte, bool) {
	most := jsonspan.Member(body, 0, "max_tokens")
	if most.IsZero() || !onlyReads(body) {
		return nil, false
	}
	out := spliced(body, most, []byte(fewest(body)))
	if stream := jsonspan.Member(out, 0, "stream"); !stream.IsZero() {
		out = spliced(out, stream, []byte("false"))
	}
	return out, true
}

// onlyReads reports whether a request without an answer does nothing but read its prompt.
func onlyReads(body []byte) bool {
	if typeOf(body, "thinking") == "enabled" {
		return false
	}
	for _, name := range []string{"compaction", "thread"} {
		if at := jsonspan.Member(body, 0, name); !at.IsZero() && string(at.Of(body)) != "null" {
			return false
		}
	}
	edits := jsonspan.Member(body, 0, "context_management")
	return edits.IsZero() || !strings.Contains(string(edits.Of(body)), compactEdit)
}

// fewest returns the least max_tokens that goes with a request.
func fewest(body []byte) string {
	if forced := typeOf(body, "tool_choice"); forced == "any" || forced == "tool" {
		return "1"
	}
	if out := jsonspan.Member(body, 0, "output_config"); !out.IsZero() &&
		!jsonspan.Member(body, out.Start, "format").IsZero() {
		return "1"
	}
	return "0"
}

// typeOf returns the type of a parameter that is an object, or "".
func typeOf(body []byte, name string) string {
	at := jsonspan.Member(body, 0, name)
	if at.IsZero() || body[at.Start] != '{' {
		return ""
	}
	return jsonspan.MemberText(at.Of(body), "type")
}
