package wire

import (
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// render writes a view of a request body by editing its list of messages.
func (b *body) render(d *Document, view *decant.Conversation) ([]byte, error) {
	r := renderer{body: b, src: d.Source, conv: d.Conversation, say: dialectOf(d.API()), view: view}
	if r.unchanged() {
		return d.Source, nil
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	r.adoptMarker()
	for i := range b.items {
		if b.items[i].owner == 0 {
			r.root = append(r.root, piece{elem: i})
		}
	}
	for i := range r.view.Messages {
		if err := r.message(&r.view.Messages[i]); err != nil {
			return nil, err
		}
	}
	return splice(r.src, r.finish()), nil
}

// A renderer collects the edits that turn a body into a view of it.
type renderer struct {
	*body
	src  []byte
	conv *decant.Conversation // of the source
	view *decant.Conversation
	say  dialect

	edits []edit  // within items that stay
	root  []piece // the items as they shall be
}

// unchanged reports whether the view is the conversation itself.
func (r *renderer) unchanged() bool {
	if len(r.view.Messages) != len(r.conv.Messages) {
		return false
	}
	for i := range r.view.Messages {
		if m := &r.view.Messages[i]; m.Number != i+1 || !r.untouched(m) {
			return false
		}
	}
	return true
}

// check returns an error unless the view's messages are messages of the source, in order, and
// messages of Decant's own.
func (r *renderer) check() error {
	last := 0
	for i := range r.view.Messages {
		n := r.view.Messages[i].Number
		switch {
		case n == 0:
		case n < 0 || n > len(r.conv.Messages):
			return fmt.Errorf("the view holds m%d, the source has %d messages", n, len(r.conv.Messages))
		case n <= last:
			return fmt.Errorf("the view holds m%d after m%d", n, last)
		default:
			last = n
		}
	}
	return nil
}

// finish returns all edits.
func (r *renderer) finish() []edit {
	if r.bare {
		if len(r.root) == 1 && r.root[0].text == nil {
			return r.edits
		}
		return []edit{{r.list, list(r.texts())}}
	}
	spans := make([]jsonspan.Span, len(r.items))
	for i := range r.items {
		spans[i] = r.items[i].span
	}
	return append(r.edits, reseam(r.src, r.list, spans, r.root)...)
}

// texts returns the root pieces as text, for a body whose list was a bare string.
func (r *renderer) texts() [][]byte {
	var out [][]byte
	for _, p := range r.root {
		if p.text != nil {
			out = append(out, p.text)
			continue
		}
		for i := range r.view.Messages {
			if m := &r.view.Messages[i]; m.Number > 0 {
				out = append(out, r.say.items(m, r.copy)...)
			}
		}
	}
	return out
}

// An entry is a block of a view's message, with the site that it keeps; nil: it is new there.
type entry struct {
	block *decant.Block
	site  *site
}

// message adds one message of the view.
func (r *renderer) message(m *decant.Message) error {
	if m.Number == 0 {
		r.fresh(r.say.items(m, r.copy))
		return nil
	}
	if r.untouched(m) {
		for _, s := range r.sites[m.Number-1] {
			if n := len(r.root); n == 0 || r.root[n-1].text != nil || r.root[n-1].elem != s.item {
				r.root = append(r.root, piece{elem: s.item})
			}
		}
		return nil
	}
	mark, root := len(r.edits), len(r.root)
	ok := true
	for _, g := range r.groups(m) {
		done, err := r.item(m, g)
		if err != nil {
			return err
		}
		ok = ok && done
	}
	if !ok { // a change that the message's form has no place for: it is written anew
		r.edits, r.root = r.edits[:mark], r.root[:root]
		r.fresh(r.say.items(m, r.copy))
	}
	return nil
}

// untouched reports whether the view's message has the very blocks of the source, which is so for most
// messages of most views.
func (r *renderer) untouched(m *decant.Message) bool {
	was := r.conv.Messages[m.Number-1].Blocks
	return len(m.Blocks) == len(was) && len(was) > 0 && &m.Blocks[0] == &was[0]
}

func (r *renderer) fresh(items [][]byte) {
	for _, it := range items {
		r.root = append(r.root, piece{text: it})
	}
}

// groups returns the blocks of a view's message by the item of the source that they belong to. A block
// that is new goes with the one before it, or else with the first that is not new, unless that one
// fills its item: then it makes a group of its own.
func (r *renderer) groups(m *decant.Message) [][]entry {
	var out [][]entry
	var last *site // of the newest block that is not new
	for i := range m.Blocks {
		b := &m.Blocks[i]
		s := r.own(m, b, last)
		if len(out) == 0 || apart(out[len(out)-1], s, last) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], entry{b, s})
		if s != nil {
			last = s
		}
	}
	return out
}

// apart reports whether a block at s, nil for a new one, begins a group of its own behind a group whose
// newest site is last.
func apart(group []entry, s, last *site) bool {
	if s == nil {
		return last != nil && last.slot == slotItem && group[len(group)-1].site != nil
	}
	return s.slot == slotItem || last != nil && s.item != last.item
}

// own returns the site of a block that is still in its place: in its own message, of its own kind, and
// behind the block at last.
func (r *renderer) own(m *decant.Message, b *decant.Block, last *site) *site {
	s := r.origin(b)
	if s == nil || b.Ref.Message != m.Number {
		return nil
	}
	if sites := r.sites[m.Number-1]; last != nil && slices.Index(sites, *last) >= b.Ref.Block {
		return nil
	}
	return s
}

// copy returns the source of a block that stands in a content list there, with the text that it has
// now, so that images and unknown members come along.
func (r *renderer) copy(b *decant.Block) []byte {
	s := r.origin(b)
	if s == nil || s.slot != slotPart {
		return nil
	}
	edits, err := r.retext(s, b)
	if err != nil {
		return nil
	}
	return spliceWithin(r.src, s.span, edits)
}

// origin returns where in the source a block comes from, nil when it does not.
func (r *renderer) origin(b *decant.Block) *site {
	n, k := b.Ref.Message, b.Ref.Block
	if n < 1 || n > len(r.sites) || k < 0 || k >= len(r.sites[n-1]) || r.conv.Messages[n-1].Blocks[k].Kind != b.Kind {
		return nil
	}
	return &r.sites[n-1][k]
}
