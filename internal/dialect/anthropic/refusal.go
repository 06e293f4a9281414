package anthropic

import (
	"net/http"
	"strconv"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// The texts by which the provider refuses a request for its size (docs/reference/anthropic.md, "Refusals") or for its
// thinking. Wording drifts, so they are matched loosely.
var (
	tooLong   = lazyregexp.New(`(?i)prompt is too long(?:: (\d+) tokens > (\d+) maximum)?`)
	overLimit = lazyregexp.New("(?i)input length and `?max_tokens`? exceed context limit: (\\d+) \\+ (\\d+) > (\\d+)")
	tooMany   = lazyregexp.New(`(?i)too many total text bytes: (\d+) > (\d+)`)
	images    = lazyregexp.New(`(?i)many-image requests`)
	bound     = lazyregexp.New("(?i)bound to a different conversation")
	unsigned  = lazyregexp.New("(?i)invalid `?signature`? in `?(redacted_)?thinking`? block")

	// A summary of the provider's is not where or as it must be, or not taken.
	compaction = lazyregexp.New("(?i)compaction|compact_2|compact-2")

	// The model does not have the strategy, or the provider knows neither the field nor its beta.
	uneditable = lazyregexp.New("(?i)context.management|clear_tool_uses|anthropic-beta|beta (flag|header)")
)

// ReadRefusal implements dialect.Answers.
func (Dialect) ReadRefusal(status int, body []byte) dialect.Refusal {
	text := message(body)
	switch status {
	case http.StatusRequestEntityTooLarge:
		return dialect.Refusal{Topic: dialect.Size, Text: text}
	case http.StatusBadRequest:
		r := badRequest(text)
		r.Text = text
		return r
	}
	return dialect.Refusal{Text: text}
}

// badRequest finds out what the text says.
func badRequest(text string) dialect.Refusal {
	if m := overLimit.FindStringSubmatch(text); m != nil {
		return dialect.Refusal{Topic: dialect.Size, Tokens: digits(m[1]), Output: digits(m[2]), Window: digits(m[3])}
	}
	if m := tooMany.FindStringSubmatch(text); m != nil {
		return dialect.Refusal{Topic: dialect.Size, Bytes: digits(m[2])}
	}
	if m := tooLong.FindStringSubmatch(text); m != nil {
		return dialect.Refusal{Topic: dialect.Size, Tokens: digits(m[1]), Window: digits(m[2])}
	}
	switch {
	case images.MatchString(text):
		return dialect.Refusal{Topic: dialect.Size, Images: true}
	case bound.MatchString(text):
		return dialect.Refusal{Topic: dialect.Thinking, Bound: true}
	case unsigned.MatchString(text):
		return dialect.Refusal{Topic: dialect.Thinking}
	case compaction.MatchString(text):
		return dialect.Refusal{Topic: dialect.Compacting}
	case uneditable.MatchString(text):
		return dialect.Refusal{Topic: dialect.Editing}
	}
	return dialect.Refusal{}
}

// digits returns the number that digits spell, or 0.
func digits(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// message returns the message of an error body, or the body when it is no such thing.
func message(body []byte) string {
	if jsonspan.Validate(body) != nil {
		return string(body)
	}
	e := jsonspan.Member(body, 0, "error")
	if e.IsZero() {
		return string(body)
	}
	if m := jsonspan.Member(e.Of(body), 0, "message"); !m.IsZero() {
		return jsonspan.Unquote(m.Of(e.Of(body)))
	}
	return string(body)
}
