package decant

import (
	"cmp"
	"fmt"
	"slices"
)

// View returns what the model is sent of c under the decisions ds: the messages of c in which each
// block is verbatim, replaced by its newest live edit, dropped, or covered by the one live
// checkpoint. A message left empty vanishes. It is a pure function; c is not changed.
//
// A decision whose target has other content than when it was made is an error that wraps ErrStale.
func View(c *Conversation, ds []Decision) (*Conversation, error) { return view(c, ds, true) }

// Replay is View for decisions whose targets are known to have the content that was decided about, so
// that nothing has to be read to find that out.
func Replay(c *Conversation, ds []Decision) (*Conversation, error) { return view(c, ds, false) }

func view(c *Conversation, ds []Decision, verify bool) (*Conversation, error) {
	live, err := resolve(ds)
	live.verify = verify
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

// edits is what a list of decisions comes to once revoked ones are taken out.
type edits struct {
	cover  *Decision
	blocks map[Ref]*Decision // newest live edit of each block
	verify bool              // that blocks have the content that was decided about
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
		case Shrink, Stub, DropThinking:
			e.blocks[d.Target.Ref] = d
		}
	}
	return e, nil
}

// edit returns m with its edited blocks replaced; m itself when none is.
func (e *edits) edit(m *Message) (Message, error) {
	out := *m
	copied := false
	for i := 0; i < len(m.Blocks); i++ {
		d := e.blocks[m.Blocks[i].Ref]
		if d == nil || m.Blocks[i].Ref.Message == 0 {
			if copied {
				out.Blocks = append(out.Blocks, m.Blocks[i])
			}
			continue
		}
		b := m.Blocks[i]
		if e.verify && d.Target.Hash != b.Hash() {
			return out, fmt.Errorf("decision %s on block %d of m%d: %w", d.ID, b.Ref.Block, b.Ref.Message, ErrStale)
		}
		if !copied {
			out.Blocks = append(make([]Block, 0, len(m.Blocks)), m.Blocks[:i]...)
			copied = true
		}
		if d.Kind == DropThinking {
			continue
		}
		b.Content, b.Changed = Text(d.Text), d.ID
		out.Blocks = append(out.Blocks, b)
	}
	return out, nil
}

// cover replaces the range of a checkpoint by its summary.
func cover(ms []Message, d *Decision) ([]Message, error) {
	cp := d.Checkpoint
	from, ok1 := position(ms, cp.From)
	to, ok2 := position(ms, cp.To)
	if !ok1 || !ok2 || to < from {
		return nil, fmt.Errorf("checkpoint %d covers m%d to m%d: %w", cp.Number, cp.From, cp.To, ErrStale)
	}
	out := place(slices.Clone(ms[:from]), cp, d.ID)
	rest := ms[to+1:]
	if cp.Reply != "" && len(rest) > 0 && rest[0].Role == RoleUser {
		out = append(out, written(RoleAssistant, cp.Reply, d.ID))
	}
	return append(out, rest...), nil
}

// place adds the summary of cp to head, the messages before its range.
func place(head []Message, cp *Checkpoint, id string) []Message {
	summary := written(RoleUser, cp.Summary, id)
	if cp.Placement == PlaceAppend {
		if i := slices.IndexFunc(head, func(m Message) bool { return m.Role == RoleUser }); i >= 0 {
			head[i].Blocks = append(slices.Clone(head[i].Blocks), summary.Blocks...)
			return head
		}
	}
	return append(head, summary)
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
