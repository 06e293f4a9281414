package anthropic

import (
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// LimitOutput returns the body of a request whose answer has at most n tokens beside thinking: max_tokens
// becomes less, and never more. It is no part of what the provider has in its cache.
func LimitOutput(body []byte, n int) []byte {
	at := jsonspan.Member(body, 0, "max_tokens")
	was, err := strconv.Atoi(string(at.Of(body)))
	if err != nil {
		return body
	}
	if thinking := jsonspan.Member(body, 0, "thinking"); !thinking.IsZero() && body[thinking.Start] == '{' {
		n += thoughts(thinking.Of(body), n)
	}
	if n >= was {
		return body
	}
	return spliced(body, at, strconv.AppendInt(nil, int64(n), 10))
}

// thoughts returns how many tokens a request leaves for thinking: what it says, or as many as for the answer.
func thoughts(thinking []byte, answer int) int {
	if jsonspan.MemberText(thinking, "type") == "disabled" {
		return 0
	}
	if budget, err := strconv.Atoi(string(jsonspan.Member(thinking, 0, "budget_tokens").Of(thinking))); err == nil {
		return budget
	}
	return answer
}

// MaxOutput returns the most tokens that the body of a request asks for, 0 where it says nothing.
func MaxOutput(body []byte) int {
	n, err := strconv.Atoi(string(jsonspan.Member(body, 0, "max_tokens").Of(body)))
	if err != nil {
		return 0
	}
	return n
}
