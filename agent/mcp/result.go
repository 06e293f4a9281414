package mcp

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/agent"
)

// resultOf returns what a server has answered.
func resultOf(r *sdk.CallToolResult) agent.Result {
	out := agent.Result{Error: r.IsError}
	var texts []string
	for _, c := range r.Content {
		text, image := contentOf(c)
		if text != "" {
			texts = append(texts, text)
		}
		if image != nil {
			out.Images = append(out.Images, *image)
		}
	}
	if len(texts) == 0 && r.StructuredContent != nil { // else the texts say the same, by the specification
		if b, err := json.Marshal(r.StructuredContent, json.Deterministic(true)); err == nil {
			texts = append(texts, string(b))
		}
	}
	out.Text = strings.Join(texts, "\n")
	return out
}

// contentOf returns a piece of a result as a text or as an image.
func contentOf(c sdk.Content) (string, *agent.Attachment) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text, nil
	case *sdk.ImageContent:
		return "", &agent.Attachment{Name: "image", MediaType: c.MIMEType, Data: c.Data}
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes: it cannot be shown]", c.MIMEType, len(c.Data)), nil
	case *sdk.ResourceLink:
		return linkText(c), nil
	case *sdk.EmbeddedResource:
		return embedded(c.Resource)
	}
	return fmt.Sprintf("[content of an unknown kind, %T]", c), nil
}

// linkText returns a link to a resource.
func linkText(c *sdk.ResourceLink) string {
	var about []string
	for _, s := range []string{c.Title, c.MIMEType, c.Description} {
		if s != "" {
			about = append(about, s)
		}
	}
	text := "[resource " + c.Name + ": " + c.URI
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	return text + "]"
}

// embedded returns a resource that is a part of a result.
func embedded(r *sdk.ResourceContents) (string, *agent.Attachment) {
	switch {
	case r == nil:
		return "", nil
	case strings.HasPrefix(r.MIMEType, "image/"):
		return "", &agent.Attachment{Name: r.URI, MediaType: r.MIMEType, Data: r.Blob}
	case len(r.Blob) > 0:
		return fmt.Sprintf("[resource %s, %s, %d bytes: it cannot be shown]", r.URI, r.MIMEType, len(r.Blob)), nil
	}
	return "[resource " + r.URI + "]\n" + r.Text, nil
}
