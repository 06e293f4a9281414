package anthropic

import (
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// errorTypes are the API's words for causes (docs/reference/anthropic.md, "Refusals").
var errorTypes = map[dialect.Cause]string{
	dialect.Invalid:         "invalid_request_error",
	dialect.Unauthenticated: "authentication_error",
	dialect.Forbidden:       "permission_error",
	dialect.Unpaid:          "billing_error",
	dialect.TooLarge:        "request_too_large",
	dialect.TooMany:         "rate_limit_error",
	dialect.Overloaded:      "overloaded_error",
	dialect.Failed:          "api_error",
	dialect.Unsupported:     "not_found_error",
}

// Refuse implements dialect.API.
func (Dialect) Refuse(why dialect.Cause, message string) []byte {
	body := jsonspan.AppendQuote([]byte(`{"type":"error","error":{"type":`), errorTypes[why])
	return append(jsonspan.AppendQuote(append(body, `,"message":`...), message), `}}`...)
}
