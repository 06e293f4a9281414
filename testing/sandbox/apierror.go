package sandbox

import (
	"fmt"
	"net/http"
	"time"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An apiError is a refusal in the API's shape (docs/reference/anthropic.md, "Refusals"). Functions that check
// something return nil when there is nothing to refuse.
type apiError struct {
	status  int
	kind    string // "invalid_request_error", ...
	message string
	code    string        // error.details.error_code, or the code of Chat Completions; "" when there is none
	param   string        // of Chat Completions
	retry   time.Duration // for retry-after, 0: no such header
}

// The error types that the sandbox gives out.
const (
	kindInvalid    = "invalid_request_error"
	kindAuth       = "authentication_error"
	kindNotFound   = "not_found_error"
	kindTooLarge   = "request_too_large"
	kindRateLimit  = "rate_limit_error"
	kindInternal   = "api_error"
	kindOverloaded = "overloaded_error"
)

// statusOverloaded is the status of an overloaded_error, which net/http has no name for.
const statusOverloaded = 529

// invalid returns a 400.
func invalid(format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: kindInvalid, message: fmt.Sprintf(format, args...)}
}

// coded returns a 400 that says by a code what is wrong.
func coded(code, format string, args ...any) *apiError {
	err := invalid(format, args...)
	err.code = code
	return err
}

// internal returns a 500 that names the step that went wrong.
func internal(step string, err error) *apiError {
	return &apiError{status: http.StatusInternalServerError, kind: kindInternal, message: step + ": " + err.Error()}
}

// body returns the error as it is sent, also as the data of an error event.
func (e *apiError) body(requestID string) []byte {
	b := append([]byte(nil), `{"type":"error","error":{"type":`...)
	b = jsonspan.AppendQuote(b, e.kind)
	b = append(b, `,"message":`...)
	b = jsonspan.AppendQuote(b, e.message)
	if e.code != "" {
		b = append(jsonspan.AppendQuote(append(b, `,"details":{"error_code":`...), e.code), '}')
	}
	b = append(b, `},"request_id":`...)
	b = jsonspan.AppendQuote(b, requestID)
	return append(b, '}')
}
