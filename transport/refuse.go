package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// refuse returns an answer of Decant's own in the API's shape.
func refuse(r *http.Request, status int, kind, message string, retry int) *http.Response {
	body := []byte(`{"type":"error","error":{"type":`)
	body = jsonspan.AppendQuote(body, kind)
	body = append(body, `,"message":`...)
	body = jsonspan.AppendQuote(body, message)
	body = append(body, `}}`...)
	h := http.Header{"Content-Type": {"application/json"}, "X-Decant-Fault": {oneLine(message)}}
	if retry > 0 {
		h.Set("Retry-After", strconv.Itoa(retry))
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
