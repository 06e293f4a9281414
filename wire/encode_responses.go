package wire

import "github.com/decantdev/decant"

// responsesDialect writes items of the Responses API.
type responsesDialect struct{}

// items returns an item for each call and each result, and one for each run of texts.
func (r responsesDialect) items(m *decant.Message, _ copier) [][]byte {
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
			out = append(out, new(object).str("type", "function_call").str("call_id", b.CallID).str("name", b.Name).
				raw("arguments", r.arguments(argumentText(b))).end())
		case decant.KindResult:
			flush()
			out = append(out, new(object).str("type", "function_call_output").str("call_id", b.CallID).str("output", outputText(b)).end())
		default:
			if p := r.part(b, m.Role); p != nil {
				parts = append(parts, p)
			}
		}
	}
	flush()
	return out
}

func (responsesDialect) message(role decant.Role, parts [][]byte) []byte {
	name := string(role)
	switch role {
	case decant.RoleSystem:
		name = "developer"
	case decant.RoleTool:
		name = "user"
	}
	return new(object).str("type", "message").str("role", name).raw("content", list(parts)).end()
}

func (responsesDialect) part(b *decant.Block, role decant.Role) []byte {
	if b.Kind != decant.KindText && b.Kind != decant.KindImage {
		return nil
	}
	kind := "input_text"
	if role == decant.RoleAssistant {
		kind = "output_text"
	}
	return new(object).str("type", kind).str("text", readable(b)).end()
}

func (responsesDialect) arguments(text string) []byte { return quoted(text) }
