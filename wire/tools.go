package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
)

// tools reads the list of tools and returns where the definitions are.
func (b *builder) tools(list jsonspan.Span) []jsonspan.Span {
	if list.IsZero() {
		return nil
	}
	var defs []jsonspan.Span
	sc := jsonspan.Scan(b.src, list.Start)
	for sc.Open(); sc.Next(); {
		defs = append(defs, sc.Skip())
	}
	if len(defs) == 0 {
		return nil
	}
	b.conv.Fixed.Tools = make([]decant.Tool, len(defs))
	for i, def := range defs {
		b.conv.Fixed.Tools[i] = b.tool(def)
	}
	return defs
}

// tool reads one tool definition. OpenAI's Chat Completions API wraps it into "function"; tools that
// the server runs may have a type only.
func (b *builder) tool(def jsonspan.Span) decant.Tool {
	t := decant.Tool{Schema: b.content(def, contents.FormRaw), Cache: b.marker(b.find(def, "cache_control"))}
	inner := def
	if f := b.find(def, "function"); !f.IsZero() {
		inner = f
	}
	if t.Name = b.interned(b.find(inner, "name")); t.Name == "" {
		t.Name = b.interned(b.find(inner, "type"))
	}
	return t
}
