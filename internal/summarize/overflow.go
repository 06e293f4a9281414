package summarize

import (
	"errors"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/provider"
)

// tooLong is how providers and local servers say that a prompt does not fit.
var tooLong = lazyregexp.New(`(?i)prompt is too long|input is too long|exceeds? (the |this model's )?(available |maximum |model )*context|` +
	`input token count.{0,40}exceeds|maximum prompt length|reduce the length of the (messages|prompt)|maximum context length|` +
	`exceeds the limit of \d+|greater than the context length|context window exceeds|exceeded model token limit|` +
	`too large for model|context_length_exceeded|too many (input )?tokens|token limit exceeded|request_too_large`)

// overflows reports whether an error says that a prompt does not fit its model. That there were too many requests is
// something else.
func overflows(err error) bool {
	return errors.Is(err, provider.ErrRefused) && tooLong.MatchString(err.Error())
}
