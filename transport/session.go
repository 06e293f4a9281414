package transport

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/jsonspan"
)

// sessionHeaders are where clients name their session, best first: what was meant for Decant, then
// what Claude Code, opencode and Codex send.
var sessionHeaders = [...]string{
	"X-Decant-Session", "X-Claude-Code-Session-Id", "X-Session-Id", "X-Session-Affinity", "X-Opencode-Session",
	"Session-Id",
}

// maxSession is the longest session id that is taken for one, in bytes.
const maxSession = 256

// sessionOf returns the session that a header names.
func sessionOf(h http.Header) string {
	for _, name := range sessionHeaders {
		if v := legible(strings.TrimSpace(h.Get(name))); v != "" && len(v) <= maxSession {
			return v
		}
	}
	return ""
}

// legible returns s with bytes that are no UTF-8 as "%9b": what is stored is printed as JSON some day.
func legible(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02x", s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// modelOf returns the model that a request asks for, as the provider reads it, and reports whether the body can be read.
func modelOf(body []byte) (string, bool) {
	if jsonspan.Validate(body) != nil {
		return "", false
	}
	return jsonspan.MemberText(body, "model"), true
}
