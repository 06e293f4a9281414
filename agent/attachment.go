package agent

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An Attachment is something that the user shows beside what he says: an image, or a text.
type Attachment struct {
	Name      string
	MediaType string // image/png, image/jpeg, image/gif, image/webp, or text of any kind
	Data      []byte
}

// Check says why no model can be shown the attachment.
func (a *Attachment) Check() error {
	_, err := a.block()
	return err
}

// images are the media types of images that models look at.
var images = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// block returns an attachment as a block.
func (a *Attachment) block() ([]byte, error) {
	kind, _, _ := strings.Cut(a.MediaType, ";")
	switch {
	case len(a.Data) == 0:
		return nil, fmt.Errorf("agent: attachment %q is empty", a.Name)
	case images[kind]:
		b := jsonspan.AppendQuote([]byte(`{"type":"image","source":{"type":"base64","media_type":`), kind)
		b = append(b, `,"data":"`...)
		b = base64.StdEncoding.AppendEncode(b, a.Data)
		return append(b, `"}}`...), nil
	case strings.HasPrefix(kind, "text/") || kind == "application/json":
		if !utf8.Valid(a.Data) {
			return nil, fmt.Errorf("agent: attachment %q is no text in UTF-8", a.Name)
		}
		b := jsonspan.AppendQuote([]byte(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":`), string(a.Data))
		b = jsonspan.AppendQuote(append(b, `},"title":`...), a.Name)
		return append(b, '}'), nil
	}
	return nil, fmt.Errorf("agent: attachment %q is %s, not a text, PNG, JPEG, GIF or WebP", a.Name, a.MediaType)
}
