package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/internal/secret"
)

// Headers that distinguish Decant's own answers from the provider's.
const (
	faultHeader   = "X-Decant-Fault"   // a step of Decant's own failed
	refusedHeader = "X-Decant-Refused" // the request may not pass
	recordHeader  = "X-Decant-Record"  // the request's pour made a record that says too little
)

// refuse returns the answer to a request that may not pass, in its API's shape.
func (x *exchange) refuse(status int, why dialect.Cause, message string) *http.Response {
	return refuse(x.dialect, x.in, status, why, message)
}

// refuseRouted returns the answer to a request that may go nowhere. No client is to send it again.
func (x *exchange) refuseRouted(why error) *http.Response {
	status, cause := http.StatusBadRequest, dialect.Unsupported
	if x.large {
		status, cause = http.StatusRequestEntityTooLarge, dialect.TooLarge
	}
	res := refuseUnread(x.dialect, x.in, status, cause, why.Error())
	res.Header.Set("X-Should-Retry", "false")
	return res
}

// refuseUnknown returns the answer to a request that goes on from an answer which is not stored, and cannot be metered.
func (x *exchange) refuseUnknown(status int, body []byte) *http.Response {
	res := x.refuse(status, dialect.Invalid, "decant: the answer that this goes on from is not stored; send all of the conversation")
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res
}

// fail returns the answer to a request that could not be prepared.
func (x *exchange) fail(message string) *http.Response {
	res := reply(x.dialect, x.in, http.StatusServiceUnavailable, dialect.Failed, message, faultHeader)
	res.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	return res
}

// refuseFull returns the answer to a request for which there is no room.
func (x *exchange) refuseFull() *http.Response {
	res := x.refuse(http.StatusServiceUnavailable, dialect.Overloaded,
		"decant: "+hold.ErrFull.Error()+"; try again later, or raise body_memory in the settings")
	res.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	return res
}

// retryAfter is when a request that could not be prepared may be tried again, in seconds.
const retryAfter = 5

// refuse returns the answer to a request of an API that may not pass.
func refuse(api dialect.API, r *http.Request, status int, why dialect.Cause, message string) *http.Response {
	return reply(api, r, status, why, message, refusedHeader)
}

// refuseUnread is refuse for a request with an unread body.
func refuseUnread(api dialect.API, r *http.Request, status int, why dialect.Cause, message string) *http.Response {
	if r.Body != nil {
		r.Body.Close() // as a RoundTripper must
	}
	return refuse(api, r, status, why, message)
}

// reply returns an answer in an API's shape, whose message a header repeats.
func reply(api dialect.API, r *http.Request, status int, why dialect.Cause, message, header string) *http.Response {
	body := api.Refuse(why, message)
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}, header: {secret.OneLine(message)}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
