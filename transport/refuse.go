package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// Headers by which an answer of Decant's own is told from the provider's.
const (
	faultHeader   = "X-Decant-Fault"   // a step of Decant's own failed
	refusedHeader = "X-Decant-Refused" // the request may not pass
	recordHeader  = "X-Decant-Record"  // the request's pour made a record that says too little
)

// refuse returns the answer to a request that may not pass, in the API's shape.
func refuse(r *http.Request, status int, kind, message string) *http.Response {
	return reply(r, status, kind, message, refusedHeader)
}

// fail returns the answer to a request that could not be prepared.
func fail(r *http.Request, message string) *http.Response {
	res := reply(r, http.StatusServiceUnavailable, "api_error", message, faultHeader)
	res.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	return res
}

// refuseFull returns the answer to a request for which there is no room.
func refuseFull(r *http.Request) *http.Response {
	res := refuse(r, http.StatusServiceUnavailable, "overloaded_error", "decant: "+errFull.Error()+"; try again later, or raise body_memory in the settings")
	res.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	return res
}

// refuseUnread is refuse for a request whose body nobody has read.
func refuseUnread(r *http.Request, status int, kind, message string) *http.Response {
	if r.Body != nil {
		r.Body.Close() // as a RoundTripper must
	}
	return refuse(r, status, kind, message)
}

// retryAfter is when a request that could not be prepared may be tried again, in seconds.
const retryAfter = 5

// reply returns an answer in the API's shape, whose message a header repeats.
func reply(r *http.Request, status int, kind, message, header string) *http.Response {
	body := []byte(`{"type":"error","error":{"type":`)
	body = jsonspan.AppendQuote(body, kind)
	body = append(body, `,"message":`...)
	body = jsonspan.AppendQuote(body, message)
	body = append(body, `}}`...)
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}, header: {OneLine(message)}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
