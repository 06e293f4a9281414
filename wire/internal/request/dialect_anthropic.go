package request

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/contents"
	"github.com/decantdev/decant/wire/internal/jsonedit"
	"github.com/decantdev/decant/wire/internal/parsing"
	"github.com/decantdev/decant/wire/internal/render"
)

// AnthropicDialect writes messages of the Messages API.
type AnthropicDialect struct{}

// Items returns a message as one element of the list of messages.
func (a AnthropicDialect) Items(m *decant.Message, source render.Copier) [][]byte {
	var parts [][]byte
	for i := range m.Blocks {
		if p := source.Part(&m.Blocks[i]); p != nil {
			parts = append(parts, p)
		} else if p := a.Part(&m.Blocks[i], m.Role); p != nil {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	role := m.Role
	if role == decant.RoleTool {
		role = decant.RoleUser
	}
	return [][]byte{new(jsonedit.Object).Str("role", string(role)).Raw("content", jsonedit.List(parts)).End()}
}

// Part returns nil for thinking, which only its own provider can write, and for what has no form here.
func (a AnthropicDialect) Part(b *decant.Block, _ decant.Role) []byte {
	o := new(jsonedit.Object)
	switch b.Kind {
	case decant.KindUse:
		o.Str("type", "tool_use").Str("id", b.CallID).Str("name", b.Name).Raw("input", a.Arguments(b.Text()))
	case decant.KindResult:
		o.Str("type", "tool_result").Str("tool_use_id", b.CallID).Str("content", b.Text())
		if b.Error {
			o.Raw("is_error", []byte("true"))
		}
	case decant.KindText, decant.KindImage:
		if raw := contents.HeldSource(b); raw != nil {
			return raw
		}
		o.Str("type", "text").Str("text", contents.Readable(b))
	case decant.KindOpaque:
		return source(b)
	default:
		return nil
	}
	if b.Cache != "" {
		o.Raw("cache_control", parsing.CacheControl(b.Cache))
	}
	return o.End()
}

// source returns an opaque block that is not from the request, nil when it is not in the bytes of this API.
func source(b *decant.Block) []byte {
	s, ok := b.Content.(decant.Source)
	if !ok || !strings.HasSuffix(string(s), "}") {
		return nil
	}
	if b.Cache == "" {
		return []byte(s)
	}
	out := append([]byte(s[:len(s)-1]), `,"cache_control":`...)
	return append(append(out, parsing.CacheControl(b.Cache)...), '}')
}

// Arguments returns arguments as this API wants them: an object.
func (AnthropicDialect) Arguments(text string) []byte { return jsonedit.AsObject(text) }

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
