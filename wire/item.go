package wire

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// item adds an item of the source with those blocks of a view's message that belong to it, or new items
// for blocks that belong to none. It reports false when the item has no place for one of them.
func (r *renderer) item(m *decant.Message, es []entry) (bool, error) {
	k := slices.IndexFunc(es, func(e entry) bool { return e.site != nil })
	if k < 0 {
		added := decant.Message{Role: m.Role}
		for _, e := range es {
			added.Blocks = append(added.Blocks, *e.block)
		}
		r.fresh(r.say.items(&added, r.copy))
		return true, nil
	}
	at := es[k].site.item
	r.root = append(r.root, piece{elem: at})
	for _, e := range es {
		if e.site == nil || e.site.slot == slotString {
			continue // part of the content as a whole
		}
		edits, err := r.retext(e.site, e.block)
		if err != nil {
			return false, err
		}
		r.edits = append(r.edits, edits...)
	}
	ok, err := r.content(m, &r.items[at], es)
	if err != nil || !ok {
		return false, err
	}
	r.members(m, at, es)
	return true, nil
}

// A content is what the content of an item shall become.
type content struct {
	elems  []jsonspan.Span // the parts that it has in the source
	pieces []piece         // the parts that it shall have
	parts  [][]byte        // the same written out, where it becomes a list
	whole  *entry          // the block that is all of it in the source
	fresh  bool            // there are new parts
}

// content edits the content of an item: the blocks that are its parts, and the new ones.
func (r *renderer) content(m *decant.Message, it *item, es []entry) (bool, error) {
	c, ok := r.plan(m, it, es)
	switch {
	case !ok, c.fresh && it.content.IsZero():
		return false, nil
	case c.whole != nil && !c.fresh:
		edits, err := r.retext(c.whole.site, c.whole.block)
		r.edits = append(r.edits, edits...)
		return true, err
	case c.fresh && len(c.elems) == 0:
		r.edits = append(r.edits, edit{it.content, list(c.parts)})
	case len(c.pieces) > 0:
		r.edits = append(r.edits, reseam(r.src, it.content, c.elems, c.pieces)...)
	case r.had(m, es, slotPart) || r.had(m, es, slotString):
		r.edits = append(r.edits, edit{it.content, []byte("null")})
	}
	return true, nil
}

// plan sorts the entries into the parts of the content. It reports false when one has no place there.
func (r *renderer) plan(m *decant.Message, it *item, es []entry) (content, bool) {
	var c content
	if !it.content.IsZero() && r.src[it.content.Start] == '[' {
		c.elems = elements(r.src, it.content)
	}
	for i := range es {
		e := &es[i]
		switch {
		case e.site == nil:
			text := r.newPart(m, e.block)
			if text == nil {
				return c, false
			}
			c.fresh = true
			c.pieces, c.parts = append(c.pieces, piece{text: text}), append(c.parts, text)
		case e.site.slot == slotPart:
			c.pieces = append(c.pieces, piece{elem: slices.Index(c.elems, e.site.span)})
		case e.site.slot == slotString:
			c.whole = e
			c.parts = append(c.parts, r.say.part(e.block, m.Role))
		}
	}
	return c, true
}

// newPart returns a block as a new element of a content list, nil when it does not go there.
func (r *renderer) newPart(m *decant.Message, b *decant.Block) []byte {
	if text := r.copy(b); text != nil {
		return text
	}
	return r.say.part(b, m.Role)
}

// had reports whether the item that the entries belong to has a block in such a slot in the source.
func (r *renderer) had(m *decant.Message, es []entry, s slot) bool {
	at := -1
	for _, e := range es {
		if e.site != nil {
			at = e.site.item
		}
	}
	return slices.ContainsFunc(r.sites[m.Number-1], func(x site) bool { return x.item == at && x.slot == s })
}

// members edits what an item holds besides its content: the list of calls, and members that are a
// block each. A list without calls is refused by the API, so it goes with its last call.
func (r *renderer) members(m *decant.Message, at int, es []entry) {
	it := &r.items[at]
	var gone []string
	for _, s := range r.sites[m.Number-1] {
		if s.item == at && s.slot == slotMember && !holds(es, s) {
			gone = append(gone, r.memberName(it.span, s.span))
		}
	}
	if r.had(m, es, slotCall) {
		elems := elements(r.src, it.calls)
		var pieces []piece
		for i, c := range elems {
			if slices.ContainsFunc(es, func(e entry) bool { return e.site != nil && e.site.span == c }) {
				pieces = append(pieces, piece{elem: i})
			}
		}
		if len(pieces) > 0 {
			r.edits = append(r.edits, reseam(r.src, it.calls, elems, pieces)...)
		} else {
			gone = append(gone, r.memberName(it.span, it.calls))
		}
	}
	if len(gone) > 0 {
		r.edits = append(r.edits, without(r.src, it.span, gone...)...)
	}
}

// holds reports whether one of the entries keeps the site s.
func holds(es []entry, s site) bool {
	return slices.ContainsFunc(es, func(e entry) bool { return e.site != nil && e.site.span == s.span })
}

// memberName returns the name of the member of the object at s whose value is at v.
func (r *renderer) memberName(s, v jsonspan.Span) string {
	sc := jsonspan.Scan(r.src, s.Start)
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		if sc.Skip() == v {
			return name
		}
	}
	return ""
}

// retext returns the edits that give the block at s the text and the cache marker that b has; none when
// it has them already.
func (r *renderer) retext(s *site, b *decant.Block) ([]edit, error) {
	was := &r.conv.Messages[b.Ref.Message-1].Blocks[b.Ref.Block]
	edits := r.remark(s, was, b)
	if same(was, b) && len(was.Inside) == len(b.Inside) {
		return edits, nil
	}
	more, err := r.reword(s, b)
	return append(more, edits...), err
}

// remark returns the edits that give a block of a list the cache marker that a view has put on it. One
// that stands alone as a string has no place for it and goes without.
func (r *renderer) remark(s *site, was, is *decant.Block) []edit {
	switch {
	case is.Cache == "" || was.Cache != "" || s.slot != slotPart || r.src[s.span.Start] != '{':
		return nil
	case is.Kind != decant.KindText && is.Kind != decant.KindUse && is.Kind != decant.KindResult:
		return nil
	case !s.cache.IsZero(): // null
		return []edit{{s.cache, cacheControl(is.Cache)}}
	}
	at := jsonspan.Span{Start: s.span.End - 1, End: s.span.End - 1}
	return []edit{{at, append([]byte(`,"cache_control":`), cacheControl(is.Cache)...)}}
}

// reword returns the edits that give the block at s the text that b has.
func (r *renderer) reword(s *site, b *decant.Block) ([]edit, error) {
	text := b.Text()
	switch {
	case b.Kind == decant.KindOpaque || b.Kind == decant.KindThinking:
		return nil, fmt.Errorf("block %d of m%d: the text of a block of kind %s cannot be replaced, only the whole block left out",
			b.Ref.Block, b.Ref.Message, b.Kind)
	case b.Kind == decant.KindUse && !s.text.IsZero():
		return []edit{{s.text, r.say.arguments(text)}}, nil
	case b.Kind == decant.KindImage && s.text.IsZero():
		return []edit{{s.span, r.say.part(textBlock(text, b.Cache), decant.RoleUser)}}, nil
	case s.text.IsZero() && s.slot != slotPart:
		return nil, fmt.Errorf("block %d of m%d has no text that could be replaced", b.Ref.Block, b.Ref.Message)
	case s.text.IsZero():
		at := jsonspan.Span{Start: s.span.End - 1, End: s.span.End - 1}
		return []edit{{at, append([]byte(`,"content":`), quoted(text)...)}}, nil
	case r.src[s.text.Start] == '[':
		return r.reparts(s.text, text, b.Media.Count > 0), nil
	}
	return []edit{{s.text, quoted(text)}}, nil
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
func (r *renderer) unmark(part jsonspan.Span) []edit {
	if r.src[part.Start] != '{' || !bytes.Contains(part.Of(r.src), []byte("cache_control")) {
		return nil
	}
	edits := without(r.src, part, "cache_control")
	b := builder{src: r.src}
	if inner := b.find(part, "content"); !inner.IsZero() && r.src[inner.Start] == '[' {
		for _, p := range elements(r.src, inner) {
			edits = append(edits, r.unmark(p)...)
		}
	}
	return edits
}

// reparts returns the edits that replace the text in a list of parts: the first text part gets it
// all, the others go. Images and documents stay if media says so, and so does what is not known.
// Cache markers on parts go: the view has the last of them on the block.
func (r *renderer) reparts(parts jsonspan.Span, text string, media bool) []edit {
	var edits []edit
	var elems []jsonspan.Span
	var keep []piece
	placed := text == ""
	sc := jsonspan.Scan(r.src, parts.Start)
	for sc.Open(); sc.Next(); {
		p := readPart(&sc, r.src)
		elems = append(elems, p.span)
		switch {
		case p.isText() && !placed && !p.text.IsZero():
			placed = true
			edits = append(edits, edit{p.text, quoted(text)})
		case p.isText(), p.isMedia() && !media:
			continue
		}
		edits = append(edits, r.unmark(p.span)...)
		keep = append(keep, piece{elem: len(elems) - 1})
	}
	if !placed {
		keep = slices.Insert(keep, 0, piece{text: r.say.part(textBlock(text, ""), decant.RoleUser)})
	}
	if len(keep) == 0 {
		return []edit{{parts, quoted("")}}
	}
	return append(edits, reseam(r.src, parts, elems, keep)...)
}
