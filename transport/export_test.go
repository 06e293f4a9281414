package transport

import (
	"net/http"

	"github.com/decantdev/decant/internal/jsonspan"
)

// Session returns the session of a request, which the transport and the engine find together.
func Session(h http.Header, body []byte) string {
	if s := namedSession(h); s != "" {
		return s
	}
	if jsonspan.Validate(body) != nil {
		return ""
	}
	return sessionIn(jsonspan.Member(body, 0, "metadata").Of(body))
}
