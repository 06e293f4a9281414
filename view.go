package decant

import (
	"cmp"
	"fmt"
	"slices"
)

// View returns what the model reads of c under the decisions ds: the messages of c in which each block is
// verbatim, replaced by its newest live edit, dropped, or covered by the one live checkpoint, and inserts
// follow their blocks. A message left empty vanishes. It is a pure function; c is not changed.
//
// What native decisions replace is still sent, for the provider to leave out. What is sent is the view
// without them, see [Sent].
//
// If a target no longer has the content that was decided about, View returns an error that wraps ErrStale.
func View(c *Conversation, ds []Decision) (*Conversation, error) { return view(c, ds, true) }

// Replay is View for decisions whose targets are known to have the content that was decided about. It
// reads no content to check that.
func Replay(c *Conversation, ds []Decision) (*Conversation, error) { return view(c, ds, false) }

// Sent returns ds without the decisions that the provider carries out. The view under the result is what is sent.
func Sent(ds []Decision) []Decision {
	native := func(d Decision) bool { return d.Kind == Native }
	if !slices.ContainsFunc(ds, native) {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), native)
}

func view(c *Conversation, ds []Decision, verify bool) (*Conversation, error) {
	live, err := resolve(ds)
	live.verify, live.all = verify, c.Messages
	if err != nil {
		return nil, err
	}
	ms := c.Messages
	if live.cover != nil {
		if ms, err = cover(ms, live.cover); err != nil {
			return nil, err
		}
	}
	out := make([]Message, 0, len(ms))
	for i := range ms {
		m, err := live.edit(&ms[i])
		if err != nil {
			return nil, err
		}
		if len(m.Blocks) > 0 {
			out = append(out, m)
		}
	}
	return c.With(out), nil
}

// Apply returns the view of c under the plan's decisions. A plan for another conversation, or for
// this one before it changed, is an error that wraps ErrStale; a plan applied twice gives the same
// view twice.
func (p *Plan) Apply(c *Conversation) (*Conversation, error) {
	if got := c.Hash(); got != p.Base {
		return nil, fmt.Errorf("apply a plan for %s to %s: %w", p.Base.Short(), got.Short(), ErrStale)
	}
	return View(c, p.Decisions)
}

// edits are the decisions of a list that are in force, by what they change.
type edits struct {
	cover   *Decision
	blocks  map[Ref]*Decision   // newest live edit of each block
	inserts map[Ref][]*Decision // by the block that they follow, oldest first
	verify  bool                // check that blocks have the content that was decided about
	all     []Message           // messages of the conversation
}

func resolve(ds []Decision) (edits, error) {
	revoked := map[string]bool{}
	for i := range ds {
		if ds[i].Kind == Revoke {
			revoked[ds[i].Revokes] = true
		}
	}
	e := edits{blocks: make(map[Ref]*Decision, len(ds))}
	for i := range ds {
		d := &ds[i]
		if revoked[d.ID] && d.ID != "" {
			continue
		}
		switch d.Kind {
		case Cover:
			if d.Checkpoint == nil {
				return e, fmt.Errorf("decision %s: kind checkpoint without a checkpoint", d.ID)
			}
			e.cover = d
		case Shrink, Stub, DropThinking, Native:
			e.blocks[d.Target.Ref] = d
		case Insert:
			if e.inserts == nil {
				e.inserts = map[Ref][]*Decision{}
			}
			e.inserts[d.Target.Ref] = append(e.inserts[d.Target.Ref], d)
		}
	}
	return e, nil
}

// edit returns m with edited blocks replaced and inserts added; m itself if no decision changes it.
func (e *edits) edit(m *Message) (Message, error) {
	out := *m
	copied := false
	for i := range m.Blocks {
		b := &m.Blocks[i]
		d, added := e.blocks[b.Ref], e.inserts[b.Ref]
		if b.Ref.Message == 0 || d == nil && added == nil {
			if copied {
				out.Blocks = append(out.Blocks, *b)
			}
			continue
		}
		if !copied {
			out.Blocks = append(make([]Block, 0, len(m.Blocks)+len(added)), m.Blocks[:i]...)
			copied = true
		}
		var err error
		if out.Blocks, err = e.apply(out.Blocks, b, d, added); err != nil {
			return out, err
		}
	}
	return out, nil
}

// apply appends b to blocks as d leaves it (verbatim if d is nil), followed by the inserts behind it.
func (e *edits) apply(blocks []Block, b *Block, d *Decision, added []*Decision) ([]Block, error) {
	for _, x := range append([]*Decision{d}, added...) {
		if x != nil && e.verify && x.Target.Hash != b.Hash() {
			return blocks, fmt.Errorf("decision %s on block %d of m%d: %w", x.ID, b.Ref.Block, b.Ref.Message, ErrStale)
		}
	}
	switch {
	case d == nil:
		blocks = append(blocks, *b)
	case d.Kind != DropThinking:
		blocks = append(blocks, d.replace(*b))
	}
	for _, x := range added {
		blocks = append(blocks, Block{Kind: KindText, Author: AuthorDecant, Content: Text(x.Text), Changed: x.ID})
		blocks = append(blocks, carried(e.all, x.Carried)...)
	}
	return blocks, nil
}

// replace returns b with the text of d. What the provider leaves out, it leaves out together with its images.
func (d *Decision) replace(b Block) Block {
	b.Content, b.Changed = Text(d.Text), d.ID
	b.Cache, b.Inside = b.Marker(), nil // the blocks within are gone, so the last marker on them moves to b
	if d.Kind == Native {
		b.Media, b.Loads = Media{}, 0
	}
	return b
}

// cover replaces the range of a checkpoint by its summary.
func cover(ms []Message, d *Decision) ([]Message, error) {
	cp := d.Checkpoint
	from, ok1 := position(ms, cp.From)
	to, ok2 := position(ms, cp.To)
	if !ok1 || !ok2 || to < from {
		return nil, fmt.Errorf("checkpoint %d covers m%d to m%d: %w", cp.Number, cp.From, cp.To, ErrStale)
	}
	return summarised(ms, from, to, d), nil
}

// written returns a message of Decant's own.
func written(r Role, text, decision string) Message {
	b := Block{Kind: KindText, Author: AuthorDecant, Content: Text(text), Changed: decision}
	return Message{Role: r, Blocks: []Block{b}}
}

// position returns the index of the message with the given number.
func position(ms []Message, number int) (int, bool) {
	return slices.BinarySearchFunc(ms, number, func(m Message, n int) int { return cmp.Compare(m.Number, n) })
}
