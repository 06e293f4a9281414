package transport

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
)

// spent is a budget that nothing fits.
var spent = []budget.Budget{{Per: "day", Tokens: 1}}

// Where a budget applies nothing leaves it by a header, an encoding, a byte order mark or another path. Without one
// all of it passes as it came.
func TestNothingLeavesABudget(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	free, limited := newWorld(t, sandbox.Options{}, engine.Options{}), newWorld(t, sandbox.Options{}, engine.Options{Budgets: spent})
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int // with a budget
		says                     string
	}{
		{"Plain", "POST", "/v1/messages", hello, nil, 402, "budget of 1 tokens"},
		{"ModeOff", "POST", "/v1/messages", hello, []string{"X-Decant-Mode", "off"}, 400, "x-decant-mode"},
		{"ModeObserve", "POST", "/v1/messages", hello, []string{"X-Decant-Mode", "observe"}, 400, "x-decant-mode"},
		{"ModeManage", "POST", "/v1/messages", hello, []string{"X-Decant-Mode", "manage"}, 402, "budget of 1 tokens"},
		{"Encoding", "POST", "/v1/messages", hello, []string{"Content-Encoding", "br"}, 415, "gzip, zstd and identity"},
		{"TwoEncodings", "POST", "/v1/messages", hello, []string{"Content-Encoding", "gzip, gzip"}, 415, "gzip, gzip"},
		{"NotPacked", "POST", "/v1/messages", hello, []string{"Content-Encoding", "gzip"}, 415, "gzip"},
		{"ByteOrderMark", "POST", "/v1/messages", bom + hello, nil, 402, "budget of 1 tokens"},
		{"NoJSON", "POST", "/v1/messages", "{", nil, 400, "cannot be read"},
		{"TooLarge", "POST", "/v1/messages", strings.Replace(hello, "Hello.", strings.Repeat("x", 1<<16), 1), nil, 413, "65536 bytes"},
		{"Slash", "POST", "/v1/messages/", hello, nil, 403, "/v1/messages/"},
		{"TwoSlashes", "POST", "/v1//messages/x", hello, nil, 403, "write it plainly"},
		{"Parameter", "POST", "/v1/messages;a=1", hello, nil, 403, "write it plainly"},
		{"CountBehindQuestion", "POST", "/v1/messages%3f/v1/messages/count_tokens", hello, nil, 403, "write it plainly"},
		{"Batches", "POST", "/v1/messages/batches", `{"requests":[]}`, nil, 400, "no requests"},
		{"BatchesBelow", "POST", "/v1/messages/batches/b1", "{}", nil, 403, "/v1/messages/batches/b1"},
		{"Complete", "POST", "/v1/complete", "{}", nil, 403, "/v1/complete"},
		{"OtherProvider", "POST", "/model/claude/invoke", hello, nil, 403, "/model/claude/invoke"},
		{"Put", "PUT", "/v1/messages", hello, nil, 403, "PUT"},
		{"SmallLetters", "post", "/v1/messages", hello, nil, 403, "post"},
		{"Upgrade", "GET", "/v1/messages", "", []string{"Upgrade", "websocket"}, 403, "upgraded"},
		{"Count", "POST", "/v1/messages/count_tokens", hello, nil, 200, ""},
		{"CountOfNoJSON", "POST", "/v1/messages/count_tokens", "{", nil, 200, ""},
		{"Models", "GET", "/v1/models", "", nil, 200, ""},
		{"Files", "POST", "/v1/files", "x", nil, 200, ""},
		{"BatchResults", "GET", "/v1/messages/batches/b1/results", "", nil, 200, ""},
		{"BatchCancel", "POST", "/v1/messages/batches/b1/cancel", "x", nil, 200, ""},
		{"BatchDelete", "DELETE", "/v1/messages/batches/b1", "", nil, 200, ""},
	} {
		for _, w := range []*world{free, limited} {
			t.Run(fmt.Sprintf("%s/%t", c.name, w == limited), func(t *testing.T) {
				b := &base{}
				rt := New(w.engine, Options{Base: b, MaxBody: 1 << 16})
				r, err := http.NewRequestWithContext(t.Context(), c.method, "http://api.test"+c.path, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				r.Method = c.method
				for i := 0; i < len(c.header); i += 2 {
					r.Header.Set(c.header[i], c.header[i+1])
				}
				res, text := roundTrip(t, rt, r)
				if w == free || c.status == 200 {
					if res.StatusCode != 200 || len(b.bodies) != 1 || b.bodies[0] != c.body {
						t.Errorf("status %d, %d requests arrived: %s", res.StatusCode, len(b.bodies), text)
					}
					return
				}
				if res.StatusCode != c.status || len(b.bodies) != 0 || !strings.HasPrefix(text, `{"type":"error","error":{"type":"`) ||
					!strings.Contains(text, c.says) || res.Header.Get("X-Decant-Refused") == "" {
					t.Errorf("status %d, %d requests arrived: %s", res.StatusCode, len(b.bodies), text)
				}
			})
		}
	}
}

// A header cannot make less of what is managed where clients are not those who run it. It may ask for more.
func TestModesThatClientsMayChoose(t *testing.T) {
	for _, c := range []struct {
		runs    engine.Mode
		guarded bool
		asks    string
		passes  bool
	}{
		{engine.Manage, false, "off", true}, {engine.Manage, true, "off", false}, {engine.Manage, true, "observe", false}, {engine.Manage, true, "manage", true},
		{engine.Observe, true, "off", false}, {engine.Observe, true, "observe", true}, {engine.Observe, true, "manage", true},
		{engine.Off, true, "off", true}, {engine.Manage, true, "", true},
	} {
		w := newWorld(t, sandbox.Options{}, engine.Options{Mode: c.runs})
		b := &base{}
		res, text := post(t, New(w.engine, Options{Base: b, Guarded: func(*http.Request) bool { return c.guarded }}), "/v1/messages", hello, "X-Decant-Mode", c.asks)
		if (res.StatusCode == 200) != c.passes || (res.StatusCode == 400) == c.passes {
			t.Errorf("%+v: status %d, %s", c, res.StatusCode, text)
		}
	}
}
