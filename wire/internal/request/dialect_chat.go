package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// chatDialect writes messages of the Chat Completions API.
type chatDialect struct{}

// Items returns the results in m as messages of their own, then everything else as one message.
func (c chatDialect) Items(m *decant.Message, _ render.Copier) [][]byte {
	var out, parts, calls [][]byte
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch b.Kind {
		case decant.KindResult:
			out = append(out, new(source.Object).Str("role", "tool").Str("tool_call_id", b.CallID).Str("content", outputText(b)).End())
		case decant.KindUse:
			calls = append(calls, c.call(b))
		default:
			if p := c.Part(b, m.Role); p != nil {
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
	o := new(source.Object).Str("role", string(role)).Raw("content", c.content(m, parts))
	if len(calls) > 0 {
		o.Raw("tool_calls", source.List(calls))
	}
	return append(out, o.End())
}

// content returns the value of a message's content: a string where one text is all of it, which more
// servers understand than a list.
func (chatDialect) content(m *decant.Message, parts [][]byte) []byte {
	switch len(parts) {
	case 0:
		return []byte("null")
	case 1:
		for i := range m.Blocks {
			b := &m.Blocks[i]
			if b.Kind == decant.KindImage && imagePart(b) != nil {
				break
			}
			if b.Kind == decant.KindText || b.Kind == decant.KindImage {
				return source.Quote(source.Readable(b))
			}
		}
	}
	return source.List(parts)
}

func (c chatDialect) call(b *decant.Block) []byte {
	f := new(source.Object).Str("name", b.Name).Raw("arguments", c.Arguments(argumentText(b))).End()
	return new(source.Object).Str("id", b.CallID).Str("type", "function").Raw("function", f).End()
}

// imagePart returns an image whose bytes are there as a part of a content.
func imagePart(b *decant.Block) []byte {
	u := source.ImageURL(source.HeldSource(b))
	if u == "" {
		return nil
	}
	return new(source.Object).Str("type", "image_url").Raw("image_url", new(source.Object).Str("url", u).End()).End()
}

// Part returns a text or an image as a part of a content.
func (chatDialect) Part(b *decant.Block, _ decant.Role) []byte {
	if b.Kind != decant.KindText && b.Kind != decant.KindImage {
		return nil
	}
	if p := imagePart(b); p != nil {
		return p
	}
	return new(source.Object).Str("type", "text").Str("text", source.Readable(b)).End()
}

// Arguments returns arguments as this API wants them: a string that holds it.
func (chatDialect) Arguments(text string) []byte { return source.Quote(text) }

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
