package wire

import (
	"strings"

	"github.com/decantdev/decant"
)

// anthropicDialect writes messages of the Messages API.
type anthropicDialect struct{}

func (a anthropicDialect) items(m *decant.Message, source copier) [][]byte {
	var parts [][]byte
	for i := range m.Blocks {
		if p := source.part(&m.Blocks[i]); p != nil {
			parts = append(parts, p)
		} else if p := a.part(&m.Blocks[i], m.Role); p != nil {
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
	return [][]byte{new(object).str("role", string(role)).raw("content", list(parts)).end()}
}

// part returns nil for thinking, which only its own provider can write, and for what has no form here.
func (a anthropicDialect) part(b *decant.Block, _ decant.Role) []byte {
	o := new(object)
	switch b.Kind {
	case decant.KindUse:
		o.str("type", "tool_use").str("id", b.CallID).str("name", b.Name).raw("input", a.arguments(b.Text()))
	case decant.KindResult:
		o.str("type", "tool_result").str("tool_use_id", b.CallID).str("content", b.Text())
		if b.Error {
			o.raw("is_error", []byte("true"))
		}
	case decant.KindText, decant.KindImage:
		if raw := heldSource(b); raw != nil {
			return raw
		}
		o.str("type", "text").str("text", readable(b))
	default:
		return nil
	}
	if b.Cache != "" {
		o.raw("cache_control", cacheControl(b.Cache))
	}
	return o.end()
}

func (anthropicDialect) arguments(text string) []byte { return asObject(text) }

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
