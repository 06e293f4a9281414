package render

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// block returns the edits that give the block at s the text and the cache marker that b has; none when
// it has them already.
func (e *Editor) block(s *source.BlockSpan, b *decant.Block) ([]source.Edit, error) {
	was := &e.Conv.Messages[b.Ref.Message-1].Blocks[b.Ref.Block]
	edits := append(e.remark(s, was, b), e.rename(s, was, b)...)
	if same(was, b) && len(was.Inside) == len(b.Inside) {
		return edits, nil
	}
	more, err := e.reword(s, b)
	return append(more, edits...), err
}

// rename returns the edits that give a call or a result of the Messages API the id that a view has given it.
func (e *Editor) rename(s *source.BlockSpan, was, is *decant.Block) []source.Edit {
	if was.CallID == is.CallID || s.Kind != source.ListPart {
		return nil
	}
	for _, name := range []string{"id", "tool_use_id"} {
		if at := jsonspan.Member(e.Src, s.Span.Start, name); !at.IsZero() {
			return []source.Edit{{At: at, Text: source.Quote(is.CallID)}}
		}
	}
	return nil
}

// remark returns the edits that give a block of a list the cache marker that a view has put on it. One
// that stands alone as a string has no place for it and goes without.
func (e *Editor) remark(s *source.BlockSpan, was, is *decant.Block) []source.Edit {
	switch {
	case is.Cache == "" || was.Cache != "" || s.Kind != source.ListPart || e.Src[s.Span.Start] != '{':
		return nil
	case is.Kind != decant.KindText && is.Kind != decant.KindUse && is.Kind != decant.KindResult:
		return nil
	case !s.Cache.IsZero(): // null
		return []source.Edit{{At: s.Cache, Text: source.CacheControl(is.Cache)}}
	}
	at := jsonspan.Span{Start: s.Span.End - 1, End: s.Span.End - 1}
	return []source.Edit{{At: at, Text: append([]byte(`,"cache_control":`), source.CacheControl(is.Cache)...)}}
}

// reword returns the edits that give the block at s the text that b has.
func (e *Editor) reword(s *source.BlockSpan, b *decant.Block) ([]source.Edit, error) {
	text := b.Text()
	switch {
	case b.Kind == decant.KindOpaque || b.Kind == decant.KindThinking:
		return nil, fmt.Errorf("block %d of m%d: the text of a block of kind %s cannot be replaced, only the whole block left out",
			b.Ref.Block, b.Ref.Message, b.Kind)
	case b.Kind == decant.KindUse && !s.Text.IsZero():
		return []source.Edit{{At: s.Text, Text: e.Dialect.Arguments(text)}}, nil
	case b.Kind == decant.KindImage && s.Text.IsZero():
		return []source.Edit{{At: s.Span, Text: e.Dialect.Part(textBlock(text, b.Cache), decant.RoleUser)}}, nil
	case s.Text.IsZero() && s.Kind != source.ListPart:
		return nil, fmt.Errorf("block %d of m%d has no text that could be replaced", b.Ref.Block, b.Ref.Message)
	case s.Text.IsZero():
		at := jsonspan.Span{Start: s.Span.End - 1, End: s.Span.End - 1}
		return []source.Edit{{At: at, Text: append([]byte(`,"content":`), source.Quote(text)...)}}, nil
	case e.Src[s.Text.Start] == '[':
		return e.reparts(s.Text, text, b.Media.Count > 0), nil
	}
	return []source.Edit{{At: s.Text, Text: source.Quote(text)}}, nil
}

// same reports whether a block of a view says what it says in the source.
func same(was, is *decant.Block) bool {
	if was.Media.Count != is.Media.Count {
		return false
	}
	return was.Content == is.Content || !muchShorter(is, was) && was.Text() == is.Text()
}

// muchShorter reports whether a's text is certainly shorter than b's, without decoding b's: an escape
// sequence of six bytes stands for at least one.
func muchShorter(a, b *decant.Block) bool {
	text, ok := a.Content.(decant.Text)
	return ok && b.Content != nil && len(text) < b.Content.Size()/6
}

// textBlock returns a text block of ours.
func textBlock(text, cache string) *decant.Block {
	return &decant.Block{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text(text), Cache: cache}
}

// unmark returns the edits that take the cache markers from a part: that of the whole block stands for
// them.
func (e *Editor) unmark(part jsonspan.Span) []source.Edit {
	if e.Src[part.Start] != '{' || !bytes.Contains(part.Of(e.Src), []byte("cache_control")) {
		return nil
	}
	edits := source.Without(e.Src, part, "cache_control")
	if inner := jsonspan.Member(e.Src, part.Start, "content"); !inner.IsZero() && e.Src[inner.Start] == '[' {
		for _, p := range source.Elements(e.Src, inner) {
			edits = append(edits, e.unmark(p)...)
		}
	}
	return edits
}

// reparts returns the edits that replace the text in a list of parts: the first text part gets it
// all, the others go. Images and documents stay if media says so, and so does what is not known.
// Cache markers on parts go: the view has the last of them on the block.
func (e *Editor) reparts(parts jsonspan.Span, text string, media bool) []source.Edit {
	var edits []source.Edit
	var elems []jsonspan.Span
	var keep []source.Piece
	placed := text == ""
	sc := jsonspan.Scan(e.Src, parts.Start)
	for sc.Open(); sc.Next(); {
		p := source.NextPart(&sc, e.Src)
		elems = append(elems, p.Span)
		switch {
		case p.IsText() && !placed && !p.Text.IsZero():
			placed = true
			edits = append(edits, source.Edit{At: p.Text, Text: source.Quote(text)})
		case p.IsText(), p.IsMedia() && !media:
			continue
		}
		edits = append(edits, e.unmark(p.Span)...)
		keep = append(keep, source.Piece{Elem: len(elems) - 1})
	}
	if !placed {
		keep = slices.Insert(keep, 0, source.Piece{Text: e.Dialect.Part(textBlock(text, ""), decant.RoleUser)})
	}
	if len(keep) == 0 {
		return []source.Edit{{At: parts, Text: source.Quote("")}}
	}
	return append(edits, source.Rejoin(e.Src, parts, elems, keep)...)
}
