package decant

import "slices"

// loaded is what the assistant says between rounds that stay and the summary behind them. Without it two messages of
// the user would meet and become one, and the model would take the results in it for what it must answer.
const loaded = "Noted."

// opening is what the user says before rounds that stay, if no message is there.
const opening = "[The conversation so far is recorded below.]"

// summarised returns messages in which the checkpoint of d replaces the range [from, to] of ms: the rounds of the
// range that stay, and behind them the summary with the images that it carries. Later messages never change
// this, because thinking may be bound to it.
func summarised(ms []Message, from, to int, d *Decision) []Message {
	cp := d.Checkpoint
	rest := served(ms[to+1:], ms[from:to+1], cp.Kept)
	if cp.Source != "" {
		return append([]Message{native(cp, d.ID)}, rest...)
	}
	summary := written(RoleUser, cp.Summary, d.ID)
	summary.Blocks = append(summary.Blocks, carried(ms, cp.Carried)...)
	head := slices.Clone(ms[:from])
	kept := remaining(ms[from:to+1], cp.Kept)
	if slices.ContainsFunc(kept, func(m Message) bool { return m.Has(KindUse) }) { // rounds are among them
		if len(head) == 0 {
			head = append(head, written(RoleUser, opening, d.ID))
		}
		head = append(append(head, kept...), written(RoleAssistant, loaded, d.ID), summary)
	} else {
		head = placed(append(head, kept...), summary, cp.Placement)
	}
	if cp.Reply != "" && len(rest) > 0 && rest[0].Role == RoleUser {
		head = append(head, written(RoleAssistant, cp.Reply, d.ID))
	}
	return append(head, rest...)
}

// served returns the messages behind a covered range without the results of calls in it that the server
// answers itself. Only a fold covers a call that is still waiting; where its result comes nevertheless, it
// has no place without the call.
func served(rest, covered []Message, kept []int) []Message {
	calls := map[string]int{}
	for i := range rest {
		serve(calls, &rest[i], i, func(int) {})
	}
	if len(calls) == 0 { // all are answered among themselves
		return rest
	}
	gone := map[string]bool{}
	for i := range covered {
		for k := range covered[i].Blocks {
			if b := &covered[i].Blocks[k]; b.Kind == KindOpaque && b.CallID != "" && !slices.Contains(kept, covered[i].Number) {
				gone[b.CallID] = true
			}
		}
	}
	result := func(b Block) bool { return b.Kind == KindOpaque && gone[b.CallID] }
	out := slices.Clone(rest)
	for id, i := range calls {
		if gone[id] {
			out[i].Blocks = slices.DeleteFunc(slices.Clone(out[i].Blocks), result)
		}
	}
	return out
}

// native returns the message with the provider's own summary. The provider knows it by its bytes, and wants it first.
func native(cp *Checkpoint, decision string) Message {
	b := Block{Kind: KindOpaque, Author: AuthorModel, Content: Source(cp.Source), Changed: decision}
	return Message{Role: RoleAssistant, Blocks: []Block{b}, Compaction: true}
}

// placed adds a summary to head, the messages before its range.
func placed(head []Message, summary Message, p Placement) []Message {
	first := slices.IndexFunc(head, func(m Message) bool { return m.Role == RoleUser })
	if p != PlaceAppend || first < 0 {
		return append(head, summary)
	}
	head[first].Blocks = append(slices.Clone(head[first].Blocks), summary.Blocks...)
	return head
}

// remaining returns the messages of ms whose numbers are in kept.
func remaining(ms []Message, kept []int) (out []Message) {
	stays := make(map[int]bool, len(kept))
	for _, n := range kept {
		stays[n] = true
	}
	for i := range ms {
		if stays[ms[i].Number] {
			out = append(out, ms[i])
		}
	}
	return out
}

// carried returns the images and documents of the blocks that refs name.
func carried(ms []Message, refs []Ref) (out []Block) {
	for _, r := range refs {
		i, ok := position(ms, r.Message)
		if !ok {
			continue
		}
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			if b.Ref != r {
				continue
			}
			if h, ok := b.Content.(Holder); ok && b.Kind == KindResult {
				out = append(out, h.Held()...)
			} else if b.Kind == KindImage {
				out = append(out, *b)
			}
		}
	}
	return out
}
