package source

import (
	"bytes"

	"github.com/decantdev/decant/internal/jsonspan"
)

// Marker returns the lifetime of a cache marker, "" when there is none (docs/reference/anthropic.md, "The prompt cache").
func (in *Source) Marker(cache jsonspan.Span) string {
	if !in.Begins(cache, '{') {
		return ""
	}
	if ttl := in.Interned(in.Find(cache, "ttl")); ttl != "" {
		return ttl
	}
	return "5m"
}

// MarkersIn returns the lifetimes of the cache markers on the blocks in a list, and on those within them,
// in order. Depth is how deep the list is nested in others.
func (in *Source) MarkersIn(list jsonspan.Span, depth int) (out []string) {
	if !in.Begins(list, '[') || depth > MaxNesting || !bytes.Contains(list.Of(in.Src), []byte("cache_control")) {
		return nil
	}
	for _, part := range in.List(list) {
		out = append(out, in.MarkersIn(in.Find(part, "content"), depth+1)...)
		if life := in.Marker(in.Find(part, "cache_control")); life != "" {
			out = append(out, life)
		}
	}
	return out
}

// CacheControl returns a cache marker for a lifetime.
func CacheControl(ttl string) []byte {
	if ttl == "5m" {
		return []byte(`{"type":"ephemeral"}`)
	}
	return new(Object).Str("type", "ephemeral").Str("ttl", ttl).End()
}
