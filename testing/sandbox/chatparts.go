package sandbox

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// chatParts are the parts that the content of a message may have, by its role (docs/reference/openai.md, "Chat Completions").
var chatParts = map[string][]string{
	"system": {"text"}, "developer": {"text"}, "tool": {"text"}, "assistant": {"text", "refusal"}, "user": {"text", "image_url", "input_audio", "file"},
}

// checkParts checks the parts of a message. Only what the user says may hold images; those that are in the request must be what they say. Where Options.Blind says so,
// a model looks at none.
func (q *chat) checkParts(i int, m *node) *apiError {
	content := m.get("content")
	if content == nil || content.kind != '[' {
		return nil
	}
	for k, part := range content.list() {
		at := number(i, index("content", k))
		switch kind := part.str("type"); {
		case !slices.Contains(chatParts[m.str("role")], kind):
			return about(at, "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", kind, strings.Join(chatParts[m.str("role")], "', '"))
		case kind == "text" && (part.get("text") == nil || part.get("text").kind != '"'):
			return about(at+".text", "invalid_type", "Invalid type for '%s.text': expected a string.", at)
		case kind == "image_url" && q.blind:
			return about(at, "invalid_value", "image input is not supported by this model")
		case kind == "image_url" && !isImageURL(part.get("image_url").str("url")):
			return about(at+".image_url.url", "invalid_image_url", "Invalid image: expected an address, or data of a PNG, JPEG, GIF or WebP in base64.")
		}
	}
	return nil
}

// isImageURL reports whether a URL is the address of an image, or holds one.
func isImageURL(u string) bool {
	if strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://") {
		return true
	}
	kind, data, ok := strings.Cut(strings.TrimPrefix(u, "data:"), ";base64,")
	b, err := base64.StdEncoding.DecodeString(data)
	is := slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
	return ok && err == nil && is && http.DetectContentType(b) == kind
}
