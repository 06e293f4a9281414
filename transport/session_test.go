package transport

import (
	"net/http"
	"strings"
	"testing"
)

func TestSession(t *testing.T) {
	for _, c := range []struct{ name, header, value, want string }{
		{"OwnHeader", "X-Decant-Session", "mine", "mine"},
		{"ClaudeCode", "X-Claude-Code-Session-Id", "uuid", "uuid"},
		{"Opencode", "X-Session-Affinity", "ses_1", "ses_1"},
		{"Nothing", "", "", ""},
		{"NoUTF8", "X-Decant-Session", "a\x9bä\xff", `a%9bä%ff`},
		{"TooLong", "X-Session-Id", strings.Repeat("x", 300), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			if c.header != "" {
				h.Set(c.header, c.value)
			}
			if got := sessionOf(h); got != c.want {
				t.Errorf("session %q, want %q", got, c.want)
			}
		})
	}
}
