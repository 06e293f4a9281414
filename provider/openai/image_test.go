package openai_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/testing/sandbox"
)

// dot is a PNG of one point, in base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// looks is a model that says how many images it sees, and what texts.
type looks struct{}

func (looks) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	images, texts := 0, ""
	for _, m := range p.Messages {
		for _, b := range m.Blocks {
			if b.Kind == decant.KindImage {
				images++
			}
			texts += b.Text + "\n"
		}
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: fmt.Sprintf("%d images. %s", images, texts)}}}, nil
}

// shown is a conversation with an image and a text that the user shows, and a result with two images beside another one.
const shown = `{"model":"qwen","max_tokens":3000,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[` +
	`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + dot + `"}},` +
	`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"all of the notes"},"title":"notes.txt"},{"type":"text","text":"What is this?"}]},` +
	`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{}},{"type":"tool_use","id":"b","name":"look","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"two"},` +
	`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + dot + `"}},{"type":"image","source":{"type":"url","url":"https://example.com/b.png"}}]},` +
	`{"type":"tool_result","tool_use_id":"b","content":"none"},{"type":"text","text":"And these?"}]}]}`

// Images of messages and of results are shown over Chat Completions, where results have texts alone, and texts that are attached are read.
func TestSpeakShowsImages(t *testing.T) {
	s, c := local(t, looks{})
	a, err := c.Speak(t.Context(), &provider.Turn{Body: []byte(shown)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 images.", "all of the notes", "What is this?", "And these?", "[image in the result of a]"} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("%q is missing in %q", want, a.Text)
		}
	}
	body := string(s.Log.Last().Body)
	if strings.Count(body, `"url":"data:image/png;base64,`+dot+`"`) != 2 || !strings.Contains(body, `"url":"https://example.com/b.png"`) {
		t.Errorf("sent: %s", body)
	}
	alone := `{"model":"qwen","max_tokens":30,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + dot + `"}}]}]}`
	if a, err = c.Speak(t.Context(), &provider.Turn{Body: []byte(alone)}, nil); err != nil || !strings.HasPrefix(a.Text, "1 images.") {
		t.Errorf("an image alone: %+v, %v", a, err)
	}
	last := `{"model":"qwen","max_tokens":30,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + dot + `"}}]}]}]}`
	if a, err = c.Speak(t.Context(), &provider.Turn{Body: []byte(last)}, nil); err != nil || !strings.HasPrefix(a.Text, "1 images.") {
		t.Errorf("a result at the end: %+v, %v", a, err)
	}
	for _, e := range s.Log.Refused() {
		t.Errorf("refused: %s", e.Error)
	}
}

// A model that looks at no images is told that there are some, and is asked once only whether it does.
func TestSpeakToTheBlind(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: looks{}, Local: []string{"qwen"}, Blind: true})
	c := client(t, s, openai.Options{})
	for range 2 {
		a, err := c.Speak(t.Context(), &provider.Turn{Body: []byte(shown)}, nil)
		if err != nil || !strings.Contains(a.Text, "0 images.") || !strings.Contains(a.Text, "[image/png]") {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if n := len(s.Log.Refused()); n != 1 {
		t.Errorf("%d requests were refused, want 1", n)
	}
}
