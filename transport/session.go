package transport

import (
	"net/http"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// sessionHeaders are where clients name their session, best first: what was meant for Decant, then
// what Claude Code, opencode and Codex send.
var sessionHeaders = [...]string{
	"X-Decant-Session", "X-Claude-Code-Session-Id", "X-Session-Id", "X-Session-Affinity", "X-Opencode-Session", "Session-Id",
}

// maxSession is the longest session id that is taken for one, in bytes.
const maxSession = 256

// Session returns the client's own id of a conversation: from a header, or from metadata.user_id in
// the body, in which Claude Code writes a JSON object. It is empty when the client names none: a
// user id alone is not a session.
func Session(h http.Header, body []byte) string {
	if s := namedSession(h); s != "" {
		return s
	}
	return sessionIn([]byte(member(body, "metadata", true)))
}

// namedSession returns the session that a header names.
func namedSession(h http.Header) string {
	for _, name := range sessionHeaders {
		if v := strings.TrimSpace(h.Get(name)); v != "" && len(v) <= maxSession {
			return v
		}
	}
	return ""
}

// sessionIn returns the session that a request's metadata names.
func sessionIn(metadata []byte) string {
	user := member(metadata, "user_id", false)
	switch {
	case strings.HasPrefix(user, "{") && jsonspan.Validate([]byte(user)) == nil:
		user = member([]byte(user), "session_id", false)
	default:
		_, user, _ = strings.Cut(user, "_session_")
	}
	if len(user) > maxSession {
		return ""
	}
	return user
}

// member returns a member of a JSON object: its source, or its text when it is a string. It stops
// at the first one of that name.
func member(object []byte, name string, raw bool) string {
	sc := jsonspan.Scan(object, 0)
	if sc.Kind() != '{' {
		return ""
	}
	for sc.Open(); sc.Next(); {
		if string(sc.Name()) != name {
			sc.Skip()
			continue
		}
		v := sc.Skip().Of(object)
		if raw {
			return string(v)
		}
		if len(v) > 0 && v[0] == '"' {
			return jsonspan.Unquote(v)
		}
		return ""
	}
	return ""
}
