package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A part is an element of a list of content parts: a text, an image, a document, or something else.
type part struct {
	span jsonspan.Span // the whole element
	kind string        // its type member
	text jsonspan.Span // the value of its text member
	list jsonspan.Span // parts nested in it: content, or source.content
	src  mediaSource   // what an image or a document is made of
}

// A mediaSource is what an image or a document is made of: Anthropic's source object, OpenAI's image_url,
// file_data and the like.
type mediaSource struct {
	media jsonspan.Span // media type
	data  jsonspan.Span // base64, text, data URL or URL
	text  bool          // data is plain text
}

// readPart consumes the next element of a list of parts.
func readPart(sc *jsonspan.Scanner, src []byte) part {
	p := part{span: jsonspan.Span{Start: sc.Pos()}}
	if sc.Kind() == '"' { // a bare string among the parts
		p.kind, p.text = "text", sc.Skip()
		p.span = p.text
		return p
	}
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "type":
			p.kind = partKind(sc.Skip().Of(src))
		case "text", "refusal":
			p.text = sc.Skip()
		case "content":
			p.list = sc.Skip()
		case "source":
			readSource(sc, src, &p)
		case "image_url":
			readImageURL(sc, src, &p)
		case "file_data", "data", "image_data":
			p.src.data = sc.Skip()
		case "mimeType", "media_type":
			p.src.media = sc.Skip()
		default:
			sc.Skip()
		}
	}
	p.span.End = sc.Pos()
	return p
}

// readSource consumes the source object of an image or a document.
func readSource(sc *jsonspan.Scanner, src []byte, p *part) {
	if sc.Kind() != '{' { // a search result's source is a string
		sc.Skip()
		return
	}
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "type":
			p.src.text = string(sc.Skip().Of(src)) == `"text"`
		case "media_type":
			p.src.media = sc.Skip()
		case "data", "url":
			p.src.data = sc.Skip()
		case "content":
			p.list = sc.Skip()
		default:
			sc.Skip()
		}
	}
}

// readImageURL consumes an image_url member: a string, or an object with a url.
func readImageURL(sc *jsonspan.Scanner, src []byte, p *part) {
	if sc.Kind() != '{' {
		p.src.data = sc.Skip()
		return
	}
	for sc.Open(); sc.Next(); {
		if string(sc.Name()) == "url" {
			p.src.data = sc.Skip()
			continue
		}
		sc.Skip()
	}
}

// partKind returns the type of a part without allocating for the known ones.
func partKind(raw []byte) string {
	switch string(raw) {
	case `"text"`, `"input_text"`, `"output_text"`, `"refusal"`, `"summary_text"`, `"reasoning_text"`:
		return "text"
	case `"image"`, `"image_url"`, `"input_image"`:
		return "image"
	case `"document"`, `"file"`, `"input_file"`:
		return "document"
	case `"search_result"`:
		return "search_result"
	}
	return jsonspan.Unquote(raw)
}

// isMedia reports whether the part is an image or a document that is not text.
func (p *part) isMedia() bool {
	return p.kind == "image" || p.kind == "document" && !p.src.text && p.list.IsZero()
}

// isText reports whether the part's text is all that it has to say to a model.
func (p *part) isText() bool { return p.kind == "text" || p.kind == "search_result" }

// partsText returns the texts in a list of parts, joined by newlines; "" for null.
func partsText(raw []byte) string {
	return string(appendPartsText(nil, raw, 0))
}

// maxNesting bounds how deep parts may hold lists of parts; the APIs allow two.
const maxNesting = 8

func appendPartsText(dst, raw []byte, depth int) []byte {
	sc := jsonspan.Scan(raw, 0)
	if sc.Kind() != '[' || depth > maxNesting {
		return dst
	}
	for sc.Open(); sc.Next(); {
		p := readPart(&sc, raw)
		dst = p.appendText(dst, raw, depth)
	}
	return dst
}

// appendText appends the part's text to dst, on a new line.
func (p *part) appendText(dst, raw []byte, depth int) []byte {
	switch {
	case !p.text.IsZero() || p.span == p.text:
		return appendLine(dst, jsonspan.Unquote(p.text.Of(raw)))
	case p.src.text && !p.src.data.IsZero():
		return appendLine(dst, jsonspan.Unquote(p.src.data.Of(raw)))
	case !p.list.IsZero() && raw[p.list.Start] == '"':
		return appendLine(dst, jsonspan.Unquote(p.list.Of(raw)))
	case !p.list.IsZero():
		if inner := appendPartsText(nil, p.list.Of(raw), depth+1); len(inner) > 0 {
			return appendLine(dst, string(inner))
		}
	}
	return dst
}

// partsMedia returns the images and documents in a list of parts, nested ones included.
func partsMedia(raw []byte) decant.Media {
	var m decant.Media
	sc := jsonspan.Scan(raw, 0)
	if sc.Kind() != '[' {
		return m
	}
	for sc.Open(); sc.Next(); {
		p := readPart(&sc, raw)
		if p.isMedia() {
			addMedia(&m, p.media(raw))
		}
	}
	return m
}
