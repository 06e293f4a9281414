package request

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// AnthropicDialect writes messages of the Messages API.
type AnthropicDialect struct{}

// Items returns a message as one element of the list of messages.
func (a AnthropicDialect) Items(m *decant.Message, copied render.Copier) [][]byte {
	var parts [][]byte
	for i := range m.Blocks {
		if p := copied.Part(&m.Blocks[i]); p != nil {
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
	return [][]byte{new(source.Object).Str("role", string(role)).Raw("content", source.List(parts)).End()}
}

// Part returns nil for thinking, which only its own provider can write, and for what has no form here.
func (a AnthropicDialect) Part(b *decant.Block, _ decant.Role) []byte {
	o := new(source.Object)
	switch b.Kind {
	case decant.KindUse:
		o.Str("type", "tool_use").Str("id", b.CallID).Str("name", b.Name).Raw("input", a.Arguments(b.Text()))
	case decant.KindResult:
		o.Str("type", "tool_result").Str("tool_use_id", b.CallID).Str("content", b.Text())
		if b.Error {
			o.Raw("is_error", []byte("true"))
		}
	case decant.KindText, decant.KindImage:
		if raw := source.HeldSource(b); raw != nil {
			return raw
		}
		o.Str("type", "text").Str("text", source.Readable(b))
	case decant.KindOpaque:
		return opaque(b)
	default:
		return nil
	}
	if b.Cache != "" {
		o.Raw("cache_control", source.CacheControl(b.Cache))
	}
	return o.End()
}

// opaque returns an opaque block that is not from the request, nil when it is not in the bytes of this API.
func opaque(b *decant.Block) []byte {
	s, ok := b.Content.(decant.Source)
	if !ok || !strings.HasSuffix(string(s), "}") {
		return nil
	}
	if b.Cache == "" {
		return []byte(s)
	}
	out := append([]byte(s[:len(s)-1]), `,"cache_control":`...)
	return append(append(out, source.CacheControl(b.Cache)...), '}')
}

// Arguments returns arguments as this API wants them: an object.
func (AnthropicDialect) Arguments(text string) []byte { return source.AsObject(text) }

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
