package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// ResponsesDialect writes items of the Responses API.
type ResponsesDialect struct{}

// Items returns an item for each call and each result, and one for each run of texts.
func (r ResponsesDialect) Items(m *decant.Message, _ render.Copier) [][]byte {
	var out, parts [][]byte
	flush := func() {
		if len(parts) > 0 {
			out = append(out, r.message(m.Role, parts))
			parts = nil
		}
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch b.Kind {
		case decant.KindUse:
			flush()
			out = append(out, new(source.Object).Str("type", "function_call").Str("call_id", b.CallID).Str("name", b.Name).
				Raw("arguments", r.Arguments(argumentText(b))).End())
		case decant.KindResult:
			flush()
			out = append(out, new(source.Object).Str("type", "function_call_output").Str("call_id", b.CallID).Str("output", outputText(b)).End())
		default:
			if p := r.Part(b, m.Role); p != nil {
				parts = append(parts, p)
			}
		}
	}
	flush()
	return out
}

func (ResponsesDialect) message(role decant.Role, parts [][]byte) []byte {
	name := string(role)
	switch role {
	case decant.RoleSystem:
		name = "developer"
	case decant.RoleTool:
		name = "user"
	}
	return new(source.Object).Str("type", "message").Str("role", name).Raw("content", source.List(parts)).End()
}

// Part returns a text as a part of a content.
func (ResponsesDialect) Part(b *decant.Block, role decant.Role) []byte {
	if b.Kind != decant.KindText && b.Kind != decant.KindImage {
		return nil
	}
	kind := "input_text"
	if role == decant.RoleAssistant {
		kind = "output_text"
	}
	return new(source.Object).Str("type", kind).Str("text", source.Readable(b)).End()
}

// Arguments returns arguments as this API wants them: a string that holds it.
func (ResponsesDialect) Arguments(text string) []byte { return source.Quote(text) }
