package wire

import (
	"bytes"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
	"github.com/decantdev/decant/wire/internal/jsonedit"
)

// marker returns the lifetime of a cache marker, "" when there is none (docs/reference/anthropic.md, "The prompt cache").
func (in *source) marker(cache jsonspan.Span) string {
	if !in.begins(cache, '{') {
		return ""
	}
	if ttl := in.interned(in.find(cache, "ttl")); ttl != "" {
		return ttl
	}
	return "5m"
}

// markersIn returns the lifetimes of the cache markers on the blocks in a list, and on those within them,
// in order. Depth is how deep the list is nested in others.
func (in *source) markersIn(list jsonspan.Span, depth int) (out []string) {
	if !in.begins(list, '[') || depth > contents.MaxNesting || !bytes.Contains(list.Of(in.src), []byte("cache_control")) {
		return nil
	}
	for _, part := range in.list(list) {
		out = append(out, in.markersIn(in.find(part, "content"), depth+1)...)
		if life := in.marker(in.find(part, "cache_control")); life != "" {
			out = append(out, life)
		}
	}
	return out
}

// cacheControl returns a cache marker for a lifetime.
func cacheControl(ttl string) []byte {
	if ttl == "5m" {
		return []byte(`{"type":"ephemeral"}`)
	}
	return new(jsonedit.Object).Str("type", "ephemeral").Str("ttl", ttl).End()
}
