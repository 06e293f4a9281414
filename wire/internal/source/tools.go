package source

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// Tools reads a list of tools, adds them to the fixed part, and returns where the definitions are.
func (b *Builder) Tools(list jsonspan.Span) []jsonspan.Span {
	if list.IsZero() {
		return nil
	}
	var defs []jsonspan.Span
	sc := jsonspan.Scan(b.Src, list.Start)
	for sc.Open(); sc.Next(); {
		defs = append(defs, sc.Skip())
	}
	if len(defs) == 0 {
		return nil
	}
	b.Conv.Fixed.Tools = slices.Grow(b.Conv.Fixed.Tools, len(defs))
	for _, def := range defs {
		b.Conv.Fixed.Tools = append(b.Conv.Fixed.Tools, b.tool(def))
	}
	return defs
}

// tool reads one tool definition. OpenAI's Chat Completions API wraps it into "function"; tools that
// the server runs may have a type only.
func (b *Builder) tool(def jsonspan.Span) decant.Tool {
	t := decant.Tool{Schema: b.Content(def, FormRaw), Cache: b.Marker(b.Find(def, "cache_control"))}
	inner := def
	if f := b.Find(def, "function"); !f.IsZero() {
		inner = f
	}
	if t.Name = b.Interned(b.Find(inner, "name")); t.Name == "" {
		t.Name = b.Interned(b.Find(inner, "type"))
	}
	return t
}
