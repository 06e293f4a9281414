package anthropic

import (
	"net/http"
	"regexp"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// A Topic is what a refusal is about, as far as another form of the request may help.
type Topic string

// The topics. Any other refusal is the client's to deal with.
const (
	Size     Topic = "size"     // the request is too large
	Thinking Topic = "thinking" // thinking in it does not belong to what stands before it
	Editing  Topic = "editing"  // the clearing that it asks for is not known, or not to be had with this model
)

// A Refusal is a provider's answer to a request that it does not take.
type Refusal struct {
	Topic  Topic  // empty: something else
	Text   string // the provider's message
	Tokens int    // of the request, as the provider has counted; 0: it does not say
	Window int    // tokens that the model takes, 0: it does not say
	Output int    // tokens of output that it has counted in besides, 0: none
	Bytes  int    // most bytes that it takes, 0: it does not say

	// Bound says that the provider has found thinking bound to another conversation, so it does look.
	Bound bool
}

// The texts by which the provider refuses a request for its size (docs/reference/anthropic.md, "Refusals") or for its
// thinking. Wording drifts, so they are matched loosely.
var (
	tooLong   = regexp.MustCompile(`(?i)prompt is too long(?:: (\d+) tokens > (\d+) maximum)?`)
	overLimit = regexp.MustCompile("(?i)input length and `?max_tokens`? exceed context limit: (\\d+) \\+ (\\d+) > (\\d+)")
	tooMany   = regexp.MustCompile(`(?i)too many total text bytes: (\d+) > (\d+)`)
	bound     = regexp.MustCompile("(?i)bound to a different conversation")
	unsigned  = regexp.MustCompile("(?i)invalid `?signature`? in `?(redacted_)?thinking`? block")

	// The model does not have the strategy, or the provider knows neither the field nor its beta.
	uneditable = regexp.MustCompile("(?i)context.management|clear_tool_uses|anthropic-beta|beta (flag|header)")
)

// RefusalOf returns what an answer with a status and a body is about.
func RefusalOf(status int, body []byte) Refusal {
	r := Refusal{Text: message(body)}
	switch status {
	case http.StatusRequestEntityTooLarge:
		r.Topic = Size
	case http.StatusBadRequest:
		r.read()
	}
	return r
}

// read finds out what the text says.
func (r *Refusal) read() {
	if m := overLimit.FindStringSubmatch(r.Text); m != nil {
		r.Topic, r.Tokens, r.Output, r.Window = Size, digits(m[1]), digits(m[2]), digits(m[3])
		return
	}
	if m := tooMany.FindStringSubmatch(r.Text); m != nil {
		r.Topic, r.Bytes = Size, digits(m[2])
		return
	}
	if m := tooLong.FindStringSubmatch(r.Text); m != nil {
		r.Topic, r.Tokens, r.Window = Size, digits(m[1]), digits(m[2])
		return
	}
	r.Bound = bound.MatchString(r.Text)
	switch {
	case r.Bound || unsigned.MatchString(r.Text):
		r.Topic = Thinking
	case uneditable.MatchString(r.Text):
		r.Topic = Editing
	}
}

// digits returns what digits say, 0 where there are none.
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
