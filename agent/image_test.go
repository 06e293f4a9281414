package agent

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// What a call shows reaches the model as an image, in a legal request; what is no image is named.
func TestAResultShowsImages(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("", "look", `{}`))
		}
		return says(text("I see."))
	}))
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	large := append(bytes.Clone(picture.Bytes()), make([]byte, 4<<20)...)
	look := Tool{Name: "look", Run: func(context.Context, *Call) (Result, error) {
		return Result{Text: "a picture", Images: []Attachment{
			{Name: "p.png", MediaType: "image/png", Data: picture.Bytes()}, {Name: "s.bin", MediaType: "application/octet-stream", Data: []byte{1}},
			{Name: "torn.png", MediaType: "image/png", Data: []byte{1, 2, 3}}, {Name: "odd.jpg", MediaType: "image/jpeg", Data: picture.Bytes()},
			{Name: "large.png", MediaType: "image/png", Data: large},
		}}, nil
	}}
	if _, o, err := finished(t, w.agent(Options{Tools: []Tool{look}}).Run(t.Context(), "Look.")); err != nil || o.Text != "I see." {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	sent := string(w.server.Log.Last().Body)
	if strings.Count(sent, `"media_type":"image/png","data":"`+base64.StdEncoding.EncodeToString(picture.Bytes())) != 2 || strings.Contains(sent, "image/jpeg") {
		t.Errorf("sent %s", sent)
	}
	for _, name := range []string{"s.bin", "torn.png", "large.png"} {
		if !strings.Contains(sent, name) {
			t.Errorf("%s is not named: %s", name, sent)
		}
	}
	w.legal()
}
