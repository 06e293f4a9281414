package dialecttest

import (
	"net/http"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/dialect"
)

// refusals checks what refusals of the provider are about.
func refusals(t *testing.T, d dialect.Dialect, list []Refusal) {
	size := false
	for _, c := range list {
		got := d.ReadRefusal(c.Status, c.Body)
		if got.Text == "" {
			t.Errorf("%d %s has no text", c.Status, c.Body)
		}
		got.Text, c.Want.Text = "", ""
		if got != c.Want {
			t.Errorf("%d %s is about %+v, want %+v", c.Status, c.Body, got, c.Want)
		}
		size = size || c.Want.Topic == dialect.Size
		if other := d.ReadRefusal(http.StatusTooManyRequests, c.Body); other.Topic != "" {
			t.Errorf("with status 429 %s is about %q; another form of the request does not help", c.Body, other.Topic)
		}
	}
	if !size {
		t.Error("no refusal for the size of a request is tried")
	}
	for _, body := range []string{"", "null", "{}", `{"error":null}`, `{"error":{"message":7}}`, "<html>busy</html>", "\xff"} {
		for _, status := range []int{400, 401, 403, 404, 429, 500, 503, 529} {
			if got := d.ReadRefusal(status, []byte(body)); got.Topic == dialect.Thinking || got.Topic == dialect.Editing {
				t.Errorf("%d %q is about %q", status, body, got.Topic)
			}
		}
	}
}

// statuses are those with which Decant refuses for a cause.
var statuses = map[dialect.Cause]int{
	dialect.Invalid: 400, dialect.Unauthenticated: 401, dialect.Forbidden: 403, dialect.Unpaid: 402, dialect.TooLarge: 413,
	dialect.TooMany: 429, dialect.Overloaded: 503, dialect.Failed: 503, dialect.Unsupported: 400,
}

// refuse checks that refusals of ours are errors of the API to its clients.
func refuse(t *testing.T, s *Sample) {
	const message = "decant: it says \"no\":\n<\u00e9> \\ and why"
	for _, why := range dialect.Causes() {
		body := s.Dialect.Refuse(why, message)
		if !jsontext.Value(body).IsValid() {
			t.Errorf("cause %d: %s is no JSON", why, body)
		}
		got, ok := s.ReadError(t, statuses[why], body)
		if !ok || got != message {
			t.Errorf("cause %d: a client reads %q from %s, and knows it for an error: %t", why, got, body, ok)
		}
		if topic := s.Dialect.ReadRefusal(statuses[why], body).Topic; topic != "" && topic != dialect.Size {
			t.Errorf("cause %d: a refusal of ours is about %q", why, topic)
		}
	}
}
