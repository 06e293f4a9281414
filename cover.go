package decant

import "slices"

// loaded is what the assistant says between rounds that stay and the summary behind them: two messages of the
// user would be one, and the results in it would be what the model has to answer.
const loaded = "Noted."

// opening is what the user says before rounds that stay, where nothing else is.
const opening = "[The conversation so far is recorded below.]"

// summarised returns messages in which the range [from, to] of ms is replaced by the checkpoint of d: the
// summary with the images that it carries, and before it the rounds of the range that stay. What comes later
// changes nothing of that, for thinking may be bound to it.
func summarised(ms []Message, from, to int, d *Decision) []Message {
	cp := d.Checkpoint
	summary := written(RoleUser, cp.Summary, d.ID)
	summary.Blocks = append(summary.Blocks, carried(ms, cp.Carried)...)
	head, rest := slices.Clone(ms[:from]), ms[to+1:]
	if kept := remaining(ms[from:to+1], cp.Kept); len(kept) > 0 {
		if len(head) == 0 {
			head = append(head, written(RoleUser, opening, d.ID))
		}
		head = append(append(head, kept...), written(RoleAssistant, loaded, d.ID), summary)
	} else {
		head = placed(head, summary, cp.Placement)
	}
	if cp.Reply != "" && len(rest) > 0 && rest[0].Role == RoleUser {
		head = append(head, written(RoleAssistant, cp.Reply, d.ID))
	}
	return append(head, rest...)
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

// remaining returns those of ms whose numbers are among kept.
func remaining(ms []Message, kept []int) (out []Message) {
	for i := range ms {
		if slices.Contains(kept, ms[i].Number) {
			out = append(out, ms[i])
		}
	}
	return out
}

// carried returns the images and documents of the blocks of ms that refs name.
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
