package openai

import (
	"net/http"
	"strconv"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// codes are the APIs' words for causes that have one.
var codes = map[dialect.Cause]string{
	dialect.Unauthenticated: "invalid_api_key",
	dialect.Unpaid:          "insufficient_quota",
	dialect.TooMany:         "rate_limit_exceeded",
	dialect.Overloaded:      "server_is_overloaded",
	dialect.Unsupported:     "not_implemented",
}

// refuse returns the body of an answer by which Decant refuses a request.
func refuse(why dialect.Cause, message string) []byte {
	body := jsonspan.AppendQuote([]byte(`{"error":{"message":`), message)
	body = append(body, `,"type":`...)
	if why == dialect.Failed || why == dialect.Overloaded {
		body = append(body, `"server_error"`...)
	} else {
		body = append(body, `"invalid_request_error"`...)
	}
	body = append(body, `,"param":null,"code":`...)
	if code := codes[why]; code != "" {
		body = jsonspan.AppendQuote(body, code)
	} else {
		body = append(body, "null"...)
	}
	return append(body, `}}`...)
}

// tooLong are the texts by which servers of these APIs refuse a request for its size (docs/reference/openai.md,
// "Refusals"). Wording drifts, so they are matched loosely.
var tooLong = lazyregexp.New(`(?i)context[_ ](?:length|size|window)[_ ](?:is|of|exceeded|exceeds)|context_size_error|` +
	`exceed(?:s|ed|ing)? (?:the |the model's |max |maximum |model |available )*(?:context|token limit)|` +
	`maximum (?:context|prompt) length|available context size|longer than the (?:model's context|maximum model) length|` +
	`greater than the context length|context length is only|tokens in request more than max tokens allowed|` +
	`prompt (?:is )?too long|prompt exceeds max length|input is too long for requested model|` +
	`reduce the length of (?:the|either)|input token count.{0,40}exceeds|range of input length should be|` +
	"`inputs` tokens \\+ `max_new_tokens` must be|token limit exceeded|request entity too large|request_too_large")

// transient are texts that have some of the same words, and another remedy: to wait.
var transient = lazyregexp.New(`(?i)rate.?limit|too many requests|throttl|service unavailable|per minute`)

// The numbers in such texts. Where several expressions fit, the first counts.
var (
	windows = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)(?:context (?:length|size|window)|model length|prompt length)\W+(?:(?:is|of|only)\W+)*(\d+)`),
		lazyregexp.New(`(?i)(\d+) maximum context length`),
		lazyregexp.New("(?i)`max_new_tokens` must be <= (\\d+)"),
		lazyregexp.New(`(?i)maximum number of tokens allowed \((\d+)\)`),
		lazyregexp.New(`(?i)token limit: (\d+)`),
		lazyregexp.New(`n_ctx\\?":\s*(\d+)`),
	}
	prompts = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)resulted in (\d+) tokens`),
		lazyregexp.New(`(?i)(\d+) in the messages`),
		lazyregexp.New(`(?i)(?:passed|prompt has|request has|your request has|keep the first) (\d+) (?:input )?tokens`),
		lazyregexp.New(`(?i)(?:prompt|input|request) \((?:length )?(\d+)(?: tokens)?\)`),
		lazyregexp.New("(?i)given: (\\d+) `inputs` tokens"),
		lazyregexp.New(`(?i)(?:token count|the request contains|\(requested:) \(?(\d+)`),
		lazyregexp.New(`n_prompt_tokens\\?":\s*(\d+)`),
	}
	sums    = []*lazyregexp.Regexp{lazyregexp.New(`(?i)requested (?:about )?(\d+) tokens`)}
	outputs = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)(\d+) in the (?:completion|output)`),
		lazyregexp.New(`(?i)requested (\d+) output tokens`),
		lazyregexp.New("(?i)`inputs` tokens and (\\d+)"),
		lazyregexp.New(`(?i)max_(?:completion_)?tokens' is too large: (\d+)`),
	}
)

// readRefusal returns what an answer with another status than 200 is about. Some servers write the numbers
// beside the message, so that all of the body is looked at.
func readRefusal(status int, body []byte) dialect.Refusal {
	all := string(body)
	text, code := message(body)
	switch status {
	case http.StatusRequestEntityTooLarge:
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		if code != "context_length_exceeded" && (!tooLong.MatchString(all) || transient.MatchString(all)) {
			return dialect.Refusal{Text: text}
		}
	default:
		return dialect.Refusal{Text: text}
	}
	r := dialect.Refusal{
		Topic: dialect.Size, Text: text,
		Tokens: number(all, prompts), Window: number(all, windows), Output: number(all, outputs),
	}
	if r.Tokens == 0 { // the sum is all that is said of the prompt
		r.Tokens = max(0, number(all, sums)-r.Output)
	}
	return r
}

// number returns the number that the first of some expressions finds, or 0.
func number(in string, of []*lazyregexp.Regexp) int {
	for _, re := range of {
		if m := re.FindStringSubmatch(in); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}

// message returns the message and the code of an error body: {"error":{"message":...}}, {"error":"..."} or
// {"message":...}. Of anything else it is the body.
func message(body []byte) (text, code string) {
	if jsonspan.Validate(body) != nil || len(body) == 0 || body[0] != '{' {
		return string(body), ""
	}
	at := body
	if e := jsonspan.Member(body, 0, "error"); !e.IsZero() {
		at = e.Of(body)
	}
	switch at[0] {
	case '"':
		return jsonspan.Unquote(at), ""
	case '{':
		if m := jsonspan.MemberText(at, "message"); m != "" {
			return m, jsonspan.MemberText(at, "code")
		}
	}
	return string(body), ""
}
