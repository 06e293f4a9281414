package wire

import "github.com/decantdev/decant"

// chatDialect writes messages of the Chat Completions API.
type chatDialect struct{}

// items returns the results in m as messages of their own, then everything else as one message.
func (c chatDialect) items(m *decant.Message, _ copier) [][]byte {
	var out, parts, calls [][]byte
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch b.Kind {
		case decant.KindResult:
			out = append(out, new(object).str("role", "tool").str("tool_call_id", b.CallID).str("content", outputText(b)).end())
		case decant.KindUse:
			calls = append(calls, c.call(b))
		default:
			if p := c.part(b, m.Role); p != nil {
				parts = append(parts, p)
			}
		}
	}
	if len(parts)+len(calls) == 0 {
		return out
	}
	role := m.Role
	if role == decant.RoleTool {
		role = decant.RoleUser
	}
	o := new(object).str("role", string(role)).raw("content", c.content(m, parts))
	if len(calls) > 0 {
		o.raw("tool_calls", list(calls))
	}
	return append(out, o.end())
}

// content returns the value of a message's content: a string where one text is all of it, which more
// servers understand than a list.
func (chatDialect) content(m *decant.Message, parts [][]byte) []byte {
	switch len(parts) {
	case 0:
		return []byte("null")
	case 1:
		for i := range m.Blocks {
			if b := &m.Blocks[i]; b.Kind == decant.KindText || b.Kind == decant.KindImage {
				return quoted(readable(b))
			}
		}
	}
	return list(parts)
}

func (c chatDialect) call(b *decant.Block) []byte {
	f := new(object).str("name", b.Name).raw("arguments", c.arguments(argumentText(b))).end()
	return new(object).str("id", b.CallID).str("type", "function").raw("function", f).end()
}

func (chatDialect) part(b *decant.Block, _ decant.Role) []byte {
	if b.Kind != decant.KindText && b.Kind != decant.KindImage {
		return nil
	}
	return new(object).str("type", "text").str("text", readable(b)).end()
}

func (chatDialect) arguments(text string) []byte { return quoted(text) }

// argumentText returns the arguments of a call; servers refuse an empty text.
func argumentText(b *decant.Block) string {
	if t := b.Text(); !isBlank(t) {
		return t
	}
	return "{}"
}

// outputText returns the text of a result. The OpenAI APIs have no mark for one that reports a failure,
// so the text says it, unless Decant wrote it.
func outputText(b *decant.Block) string {
	if b.Error && b.Author != decant.AuthorDecant {
		return "[error]\n" + b.Text()
	}
	return b.Text()
}
