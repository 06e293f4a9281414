package chatserver

import (
	"reflect"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// dot is a PNG of one point, in base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// What a listener is told of the user while it happens is what a snapshot says of it later: the text, where it stands, and what was shown with it.
func TestTheUsersEventIsTheMessage(t *testing.T) {
	w := newWorld(t, echo)
	id := w.session()
	w.say(id, "first")
	body := object(map[string]any{"text": "what is this?", "attachments": []map[string]string{
		{"name": "dot.png", "media_type": "image/png", "data": dot}, {"name": "notes.txt", "media_type": "text/plain", "data": "bm90ZXM="},
	}})
	var user *event
	events(t, w.do(httpCall{method: "POST", path: "/v1/sessions/" + id + "/messages", body: body}), func(e arrived) bool {
		if e.Kind == "user" {
			user = &e.event
		}
		return e.Kind != "done"
	})
	ms := get[[]message](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/messages"})
	var last message
	for _, m := range ms {
		if m.Role == "user" {
			last = m
		}
	}
	if user == nil || user.Index == nil || *user.Index != last.Index || user.Text != last.Text || !reflect.DeepEqual(user.Attachments, last.Attachments) || len(last.Attachments) != 2 {
		t.Errorf("the event %+v, the message %+v", user, last)
	}
	w.legal()
}

// counts is a model that says how many images it sees.
var counts = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
	n := 0
	for _, m := range p.Messages {
		for _, b := range m.Blocks {
			if b.Kind == decant.KindImage {
				n++
			}
		}
	}
	return says(strings.Repeat("image ", n))
})

// A front end for OpenAI's API shows images whose data it sends; what is elsewhere is not fetched.
func TestCompletionsWithImages(t *testing.T) {
	w := newWorld(t, counts)
	ask := func(want int, messages ...any) string {
		t.Helper()
		out := get[map[string]any](w, want, httpCall{method: "POST", path: "/v1/chat/completions", body: object(map[string]any{"model": "default", "messages": messages})})
		if want != 200 {
			return out["error"].(map[string]any)["message"].(string)
		}
		return out["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"].(string)
	}
	shows := func(role, url string) any {
		return map[string]any{"role": role, "content": []any{map[string]string{"type": "text", "text": "look"}, map[string]any{"type": "image_url", "image_url": map[string]string{"url": url}}}}
	}
	said := map[string]string{"role": "assistant", "content": "I looked."}
	if got := ask(200, shows("user", "data:image/png;base64,"+dot), said, shows("user", "data:image/png;base64,"+dot)); got != "image image " {
		t.Errorf("the model says %q", got)
	}
	for _, bad := range []any{shows("user", "http://169.254.169.254/a.png"), shows("user", "data:image/png;base64,%"), shows("user", "data:text/html;base64,PGI+"), shows("assistant", "data:image/png;base64,"+dot)} {
		if got := ask(400, bad, map[string]string{"role": "user", "content": "go"}); !strings.HasPrefix(got, "messages[0].content[1].") {
			t.Errorf("refused with %q", got)
		}
	}
	w.legal()
}
