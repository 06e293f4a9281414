package policy

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// standing returns the numbers of the messages that text cannot replace, so a checkpoint leaves them out.
// These are fixed messages and rounds whose result loads tools, because that result must follow its call.
func standing(ms []decant.Message) map[int]bool {
	out := map[int]bool{}
	for i := range ms {
		if ms[i].Fixed {
			out[ms[i].Number] = true
		}
	}
	loads := func(b decant.Block) bool { return b.Loads > 0 }
	for _, r := range decant.Rounds(ms) {
		round := ms[r.Start:r.End]
		if !slices.ContainsFunc(round, func(m decant.Message) bool { return slices.ContainsFunc(m.Blocks, loads) }) {
			continue
		}
		for i := range round {
			out[round[i].Number] = true
		}
	}
	return out
}

// retold returns the numbers of the user messages that stay in a session of Codex, in a sixth of the
// remaining room. Codex's own compactions keep them in front of the summary, too. Messages in which Codex
// names its working folder come first, because it does not repeat them.
func retold(ms []decant.Message, standing map[int]bool, o *PlanOptions) map[int]bool {
	out, room := map[int]bool{}, o.Target
	for i := range ms {
		if standing[ms[i].Number] {
			room -= o.Estimator.Message(&ms[i])
		}
	}
	room /= 6
	for _, words := range []bool{false, true} {
		for i := range slices.Backward(ms) {
			m := &ms[i]
			own := slices.ContainsFunc(m.Blocks, func(b decant.Block) bool { return b.Author == decant.AuthorDecant })
			if m.Role != decant.RoleUser || own || m.Fixed || m.UserWords() != words {
				continue
			}
			if n := o.Estimator.Message(m); n <= room {
				out[m.Number], room = true, room-n
			}
		}
	}
	return out
}

// apart returns the messages of ms that a checkpoint covers, and the numbers of those that it leaves.
func apart(ms []decant.Message, stay map[int]bool) (covered []decant.Message, kept []int) {
	if len(stay) == 0 {
		return ms, nil
	}
	for i := range ms {
		if stay[ms[i].Number] {
			kept = append(kept, ms[i].Number)
		} else {
			covered = append(covered, ms[i])
		}
	}
	return covered, kept
}

// pictures returns the blocks of ms with images or documents that go with a checkpoint into its message, and
// their tokens: those that are pinned and those of the messages that are of the newest round, as many of the
// newest as room tokens hold.
func pictures(ms []decant.Message, newest map[int]bool, pins map[decant.Ref]decant.Hash, est *token.Estimator, room int) (refs []decant.Ref, tokens int) {
	for i := range slices.Backward(ms) {
		for k := range slices.Backward(ms[i].Blocks) {
			b := &ms[i].Blocks[k]
			if _, pinned := pins[b.Ref]; b.Media.Count == 0 || !pinned && !newest[ms[i].Number] {
				continue
			}
			n := est.Block(&decant.Block{Kind: decant.KindImage, Media: b.Media})
			if tokens+n <= room {
				refs, tokens = append(refs, b.Ref), tokens+n
			}
		}
	}
	slices.Reverse(refs)
	return refs, tokens
}

// newestOf returns the numbers of the messages from the newest round on, and of the user's words before it that
// the round is about.
func newestOf(ms []decant.Message) map[int]bool {
	out := map[int]bool{}
	rounds := decant.Rounds(ms)
	if len(rounds) == 0 {
		return out
	}
	for _, m := range ms[rounds[len(rounds)-1].Start:] {
		out[m.Number] = true
	}
	for i := rounds[len(rounds)-1].Start - 1; i >= 0; i-- {
		if ms[i].UserWords() {
			out[ms[i].Number] = true
			break
		}
	}
	return out
}
