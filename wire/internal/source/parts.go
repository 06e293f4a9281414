package source

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A part is an element of a list of content parts: a text, an image, a document, or something else.
type part struct {
	Span jsonspan.Span // the whole element
	Kind string        // its type member
	Text jsonspan.Span // the value of its text member
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

// NextPart consumes the next element of a list of parts.
func NextPart(sc *jsonspan.Scanner, src []byte) part {
	p := part{Span: jsonspan.Span{Start: sc.Pos()}}
	if sc.Kind() == '"' { // a bare string among the parts
		p.Kind, p.Text = "text", sc.Skip()
		p.Span = p.Text
		return p
	}
	for sc.Open(); sc.Next(); {
		switch string(sc.Name()) {
		case "type":
			p.Kind = partKind(sc.Skip().Of(src))
		case "text", "refusal":
			p.Text = sc.Skip()
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
	p.Span.End = sc.Pos()
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

// IsMedia reports whether the part is an image or a document that is not text.
func (p *part) IsMedia() bool {
	return p.Kind == "image" || p.Kind == "document" && !p.src.text && p.list.IsZero()
}

// IsText reports whether the part's text is all that it has to say to a model.
func (p *part) IsText() bool { return p.Kind == "text" || p.Kind == "search_result" }

// Value returns the value that holds the text of a document or the parts nested in it.
func (p *part) Value() jsonspan.Span {
	if p.src.text {
		return p.src.data
	}
	return p.list
}

// partsText returns the texts in a list of parts, joined by newlines; "" for null.
func partsText(raw []byte) string {
	return string(appendPartsText(nil, raw, 0))
}

// MaxNesting bounds how deep parts may hold lists of parts; the APIs allow two.
const MaxNesting = 8

func appendPartsText(dst, raw []byte, depth int) []byte {
	sc := jsonspan.Scan(raw, 0)
	if sc.Kind() != '[' || depth > MaxNesting {
		return dst
	}
	for sc.Open(); sc.Next(); {
		p := NextPart(&sc, raw)
		dst = p.appendText(dst, raw, depth)
	}
	return dst
}

// appendText appends the part's text to dst, on a new line.
func (p *part) appendText(dst, raw []byte, depth int) []byte {
	switch {
	case !p.Text.IsZero() || p.Span == p.Text:
		return AppendLine(dst, jsonspan.Unquote(p.Text.Of(raw)))
	case p.src.text && !p.src.data.IsZero():
		return AppendLine(dst, jsonspan.Unquote(p.src.data.Of(raw)))
	case !p.list.IsZero() && raw[p.list.Start] == '"':
		return AppendLine(dst, jsonspan.Unquote(p.list.Of(raw)))
	case !p.list.IsZero():
		if inner := appendPartsText(nil, p.list.Of(raw), depth+1); len(inner) > 0 {
			return AppendLine(dst, string(inner))
		}
	}
	return dst
}

// MediaIn returns the images and documents in a list of parts, nested ones included.
func MediaIn(raw []byte) decant.Media {
	var m decant.Media
	sc := jsonspan.Scan(raw, 0)
	if sc.Kind() != '[' {
		return m
	}
	for sc.Open(); sc.Next(); {
		p := NextPart(&sc, raw)
		if p.IsMedia() {
			addMedia(&m, p.Media(raw))
		}
	}
	return m
}
