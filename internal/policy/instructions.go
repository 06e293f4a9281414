package policy

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
)

// mostInstructions is the most tokens of instructions read from files that stay whatever happens, the newest
// first; they never take more than a third of the target.
const mostInstructions = 8_000

// An instruction is a text that the agent was told to follow, as a checkpoint quotes it.
type instruction struct {
	fact.Followed
	text  string // with its heading
	pins  string // what an earlier record quoted of pins
	whole bool   // nothing of it is left out
}

// instructions returns what c holds of instructions outside of the user's words, within room tokens.
func instructions(ctx context.Context, c *decant.Conversation, counter decant.Counter, room int) map[decant.Ref]instruction {
	out := map[decant.Ref]instruction{}
	fs := fact.Follow(ctx, c.Messages, c.Fixed.System)
	for i := len(fs) - 1; i >= 0; i-- {
		b := c.Block(fs[i].Ref)
		if b == nil {
			continue
		}
		in := instruction{Followed: fs[i], whole: true}
		head := fmt.Sprintf("%s%s (m%d)", instructionsHead, in.File, in.Ref.Message)
		body := strings.TrimSpace(secret.Mask(b.Text()))
		if counter.Count(summary.Section(head, body)) > room {
			body, in.whole = gist(body, room-counter.Count(head), counter), false
		}
		if body == "" {
			continue
		}
		in.text = summary.Section(head, body)
		out[in.Ref] = in
		room -= counter.Count(in.text)
	}
	carried(c, out)
	return out
}

// instructionsHead begins the heading of instructions in a checkpoint's text.
const instructionsHead = "Instructions read from "

// carried adds what earlier records in c quote of instructions and pins, so that these survive however often
// a session is compacted.
func carried(c *decant.Conversation, out map[decant.Ref]instruction) {
	for i := range c.Messages {
		for k := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[k]
			if b.Author != decant.AuthorDecant || b.Kind != decant.KindText {
				continue
			}
			in := instruction{Followed: fact.Followed{Ref: b.Ref}}
			for head, body := range summary.Sections(b.Text()) {
				switch {
				case head == summary.Pinned:
					in.pins = body
				case strings.HasPrefix(head, instructionsHead):
					in.text += summary.Section(head, body)
				}
			}
			if in.text+in.pins != "" {
				out[b.Ref] = in
			}
		}
	}
}

// gist returns as many lines of a text as room tokens hold, marks for those between included: the beginning in
// half of the room, then what is a rule. It is empty when there is no room.
func gist(text string, room int, counter decant.Counter) string {
	ls := strings.Split(text, "\n")
	keep := make([]bool, len(ls))
	const mark = 12 // tokens of a gap's mark
	head := room / 2
	at := 0
	for ; at < len(ls); at++ {
		cost := counter.Count(ls[at]) + 2
		if cost > head {
			break
		}
		keep[at] = true
		head -= cost
		room -= cost
	}
	for i := at; i < len(ls); i++ {
		if cost := counter.Count(ls[i]) + mark; fact.Rule(ls[i]) && cost <= room {
			keep[i] = true
			room -= cost
		}
	}
	return joined(ls, keep)
}

// joined returns the lines that are kept with a mark for each gap; empty when none is.
func joined(ls []string, keep []bool) string {
	var out strings.Builder
	left, any := 0, false
	for i, l := range ls {
		if !keep[i] {
			left++
			continue
		}
		out.WriteString(gap(left) + l + "\n")
		left, any = 0, true
	}
	if !any {
		return ""
	}
	return strings.TrimSpace(out.String() + gap(left))
}

// gap is the mark for lines that are left out.
func gap(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("[… %d lines left out]\n", lines)
}

// pinInstructions returns pins together with the instructions that stay whole.
func pinInstructions(pins map[decant.Ref]decant.Hash, ins map[decant.Ref]instruction) map[decant.Ref]decant.Hash {
	if len(ins) == 0 {
		return pins
	}
	out := make(map[decant.Ref]decant.Hash, len(pins)+len(ins))
	maps.Copy(out, pins)
	for r, in := range ins {
		if in.whole {
			out[r] = in.Hash
		}
	}
	return out
}
