package request

import (
	"bytes"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// members are where the known members of a content block stand; zero: absent.
type members struct {
	kind, text, thinking, content, input, id, answers, name, failed, signature, cache, other jsonspan.Span
}

// field returns where the span of the member with a name goes.
func (m *members) field(name []byte) *jsonspan.Span {
	switch string(name) {
	case "type":
		return &m.kind
	case "text":
		return &m.text
	case "thinking":
		return &m.thinking
	case "content":
		return &m.content
	case "input":
		return &m.input
	case "id":
		return &m.id
	case "tool_use_id":
		return &m.answers
	case "name":
		return &m.name
	case "is_error":
		return &m.failed
	case "signature":
		return &m.signature
	case "cache_control":
		return &m.cache
	}
	return &m.other
}

// AnthropicBlock consumes a content block.
func AnthropicBlock(b *source.Builder, sc *jsonspan.Scanner) (decant.Block, source.BlockSpan) {
	var m members
	s := source.BlockSpan{Span: jsonspan.Span{Start: sc.Pos()}}
	for sc.Open(); sc.Next(); {
		*m.field(sc.Name()) = sc.Skip()
	}
	s.Span.End = sc.Pos()
	if sc.Failed() {
		return decant.Block{}, s
	}
	s.Cache = m.cache
	blk := knownBlock(b, &m, &s)
	blk.Content = b.ContentAt(s)
	blk.Cache = b.Marker(m.cache)
	blk.Inside = b.MarkersIn(m.content, 0)
	return blk, s
}

// knownBlock returns a block without its content, and sets in s where the content stands and how.
// What is not known by type is opaque, and its whole source is its content.
func knownBlock(b *source.Builder, m *members, s *source.BlockSpan) decant.Block {
	switch string(m.kind.Of(b.Src)) {
	case `"text"`:
		s.Text = m.text
		return decant.Block{Kind: decant.KindText}
	case `"tool_use"`:
		s.Text, s.Form = m.input, source.FormRaw
		return decant.Block{Kind: decant.KindUse, CallID: b.Interned(m.id), Name: b.Interned(m.name)}
	case `"tool_result"`:
		s.Text = m.content
		return decant.Block{Kind: decant.KindResult, CallID: b.Interned(m.answers),
			Error: b.Is(m.failed, "true"), Media: source.MediaIn(m.content.Of(b.Src)), Loads: source.ToolsLoaded(m.content.Of(b.Src))}
	case `"thinking"`:
		s.Text = m.thinking
		return decant.Block{Kind: decant.KindThinking, Signed: signature(m.signature.Of(b.Src))}
	case `"redacted_thinking"`:
		return decant.Block{Kind: decant.KindThinking, Signed: true}
	case `"image"`, `"document"`:
		return picture(b, s)
	case `"compaction"`:
		s.Text = m.content
		return decant.Block{Kind: decant.KindOpaque}
	}
	s.Text, s.Form = s.Span, source.FormRaw
	return decant.Block{Kind: decant.KindOpaque, CallID: served(b, m)}
}

// signature reports whether a JSON value has the form of Anthropic's signatures: a hundred letters of base64 and more.
// (and backslashes, where a writer of JSON escapes slashes). Servers that speak its API for other models write none, a word, a number or an id, which its own models refuse.
func signature(raw []byte) bool {
	const least = 64
	return len(raw) >= least+len(`""`) && raw[0] == '"' && !slices.ContainsFunc(raw[1:len(raw)-1], func(c byte) bool {
		return !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '\\')
	})
}

// served returns the id of a call that the server answers itself, on the call and on its result; "" for other blocks.
func served(b *source.Builder, m *members) string {
	switch kind := m.kind.Of(b.Src); {
	case string(kind) == `"server_tool_use"`, string(kind) == `"mcp_tool_use"`:
		return b.Interned(m.id)
	case bytes.HasSuffix(kind, []byte(`_tool_result"`)):
		return b.Interned(m.answers)
	}
	return ""
}

// picture returns an image or document block. A document of plain text has content and no media.
func picture(b *source.Builder, s *source.BlockSpan) decant.Block {
	sc := jsonspan.Scan(b.Src, s.Span.Start)
	part := source.NextPart(&sc, b.Src)
	blk := decant.Block{Kind: decant.KindImage}
	if part.IsMedia() {
		blk.Media = part.Media(b.Src)
		return blk
	}
	s.Text = part.Value()
	blk.Media = source.MediaIn(s.Text.Of(b.Src))
	return blk
}
