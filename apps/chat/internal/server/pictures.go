package chatserver

import (
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
)

// imagesIn returns the images in a content of Chat Completions. Only those whose data is there are taken: nobody here fetches what a client names.
func imagesIn(role string, content stdjson.RawMessage) (out []agent.Attachment, err error) {
	if jsontext.Value(content).Kind() != jsontext.KindBeginArray {
		return nil, nil
	}
	var parts []struct {
		Type  string `json:"type"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	for i, p := range parts {
		switch {
		case p.Type == "text" || p.Type == "refusal":
			continue
		case p.Type != "image_url" || role != "user":
			return nil, fmt.Errorf("content[%d].type: text, or image_url of the user: %q", i, p.Type)
		}
		a, err := imageOf(p.Image.URL)
		if err != nil {
			return nil, fmt.Errorf("content[%d].image_url.url: %w", i, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// imageOf returns the image that a URL holds.
func imageOf(u string) (a agent.Attachment, err error) {
	rest, ok := strings.CutPrefix(u, "data:")
	kind, data, cut := strings.Cut(rest, ";base64,")
	if !ok || !cut || !strings.HasPrefix(kind, "image/") {
		return a, errors.New("an image in base64 is needed, as data:image/png;base64,...: other addresses are not fetched")
	}
	a = agent.Attachment{Name: "image", MediaType: kind}
	if a.Data, err = base64.StdEncoding.DecodeString(data); err == nil {
		err = a.Check()
	}
	return a, err
}

// earlier returns a message of the Messages API. Its bytes are those that an agent writes for what it is told: the provider may have them in its
// cache.
func earlier(role, text string, images []agent.Attachment) (stdjson.RawMessage, error) {
	type source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	}
	type part struct {
		Type   string  `json:"type"`
		Source *source `json:"source,omitzero"`
		Text   string  `json:"text,omitzero"`
	}
	var m struct {
		Role    string `json:"role"`
		Content []part `json:"content"`
	}
	m.Role = role
	for _, a := range images {
		m.Content = append(m.Content, part{Type: "image", Source: &source{"base64", a.MediaType, a.Data}})
	}
	m.Content = append(m.Content, part{Type: "text", Text: text})
	return json.Marshal(&m)
}
