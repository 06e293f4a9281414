package source

import (
	"bytes"

	"github.com/decantdev/decant"
)

// Media describes the image or document that the part is.
func (p *part) Media(raw []byte) decant.Media {
	m := decant.Media{Count: 1, Bytes: p.Span.Len()}
	data := TrimQuotes(p.src.data.Of(raw))
	m.Type = string(TrimQuotes(p.src.media.Of(raw)))
	if !p.src.data.IsZero() {
		m.Bytes = len(data)
	}
	if typ, body, ok := dataURL(data); ok {
		m.Type, data = typ, body
	}
	if m.Type == "" {
		m.Type = p.Kind
	}
	if p.Kind == "image" {
		m.Tokens = imageTokens(data)
	}
	return m
}

// addMedia adds n to m.
func addMedia(m *decant.Media, n decant.Media) {
	if m.Count == 0 {
		m.Type = n.Type
	}
	m.Count += n.Count
	m.Bytes += n.Bytes
	m.Tokens += n.Tokens
}

// dataURL splits "data:image/png;base64,AAAA" into media type and data.
func dataURL(data []byte) (typ string, body []byte, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte("data:"))
	if !ok {
		return "", nil, false
	}
	head, body, ok := bytes.Cut(rest, []byte(";base64,"))
	return string(head), body, ok
}
