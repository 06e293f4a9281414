package match

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/store"
)

// A Relation is how a request stands to the conversation that it was found to belong to.
type Relation string

// The relations (docs/INTERNALS.md, "Whose conversation a request is").
const (
	Begins    Relation = "begins"    // nothing of it is known
	Continues Relation = "continues" // it holds all that is known, and perhaps more
	Returns   Relation = "returns"   // it is a beginning of what is known, and holds nothing new
	Replaces  Relation = "replaces"  // it has something else in place of a tail that was not answered
	Amends    Relation = "amends"    // it lacks something of what is known, or has it rewritten, and adds at its end only
	Forks     Relation = "forks"     // it goes another way from some point on
)

// A Match is where a request belongs.
type Match struct {
	Relation Relation
	Stored   *Stored      // nil: a new conversation
	State    *store.State // of Stored, as it was found; nil with it
	Actual   *store.State // of an observed request: that of Stored, of which State is the one with what was planned
	Entries  []int        // for each block of the request's spine the entry in State.Chain that it is, -1: new
	Kept     int          // entries of State.Chain that stay; a commit replaces those behind

	Branch *store.Branch // of a request that leaves its conversation: what is in force there; nil: nothing was decided, or it is not known
	rest   rest          // of a request that amends: what it has not taken up
	Asked  bool          // the relation depends on what became of the requests before: the archive finds it anew
}

// A rest is what the end of a conversation has and a request lacks.
type rest struct {
	entry int // index in the chain of the first entry of it; the chain's length: there is none
	next  int // index in the request's spine of the block that stands in its place
}

// Best returns the longest conversation that the request holds as a whole.
func Best(ls []*Stored, r *Prompt) *Stored {
	var out *Stored
	long := 0
	for _, l := range ls {
		if n := l.SharedWhole(r); n > long {
			out, long = l, n
		}
	}
	return out
}

// Locate says how a request whose first known blocks are those of l stands to it, as far as the blocks
// tell: what they leave open, judge decides.
func Locate(l *Stored, s *store.State, r *Prompt, known int) *Match {
	spine := SpineOf(s)
	p := &Match{Stored: l, State: s, Entries: Unknown(len(r.Spine)), Kept: len(s.Chain)}
	copy(p.Entries, spine[:known])
	switch {
	case known == 0:
		return &Match{Relation: Begins, Entries: p.Entries}
	case known == len(spine):
		p.Relation = Continues
		return p
	case known == len(r.Spine):
		p.Relation = Returns
		return p
	}
	p.Kept = spine[known-1] + 1
	switch {
	case provisional(s.Chain[p.Kept:]):
		p.Relation = Replaces
	case p.amend(r, spine, known):
		p.Relation = Amends
	default:
		p.Relation = Forks
	}
	p.Asked = p.open()
	return p
}

// open reports whether the blocks alone do not tell the relation: it depends on what became of the requests before.
func (p *Match) open() bool {
	return p.Relation == Replaces || p.Relation == Amends && p.rest.entry < len(p.State.Chain)
}

// SpineOf returns the indexes of the entries of a state that are not thinking.
func SpineOf(s *store.State) []int {
	out := make([]int, 0, len(s.Chain))
	for i := range s.Chain {
		if s.Chain[i].Kind != decant.KindThinking {
			out = append(out, i)
		}
	}
	return out
}

// Unknown returns a row of n times -1.
func Unknown(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}

// provisional reports whether entries may be replaced without a fork: the assistant has not
// answered them.
func provisional(es []store.Entry) bool {
	return !slices.ContainsFunc(es, func(e store.Entry) bool { return e.Role == decant.RoleAssistant })
}

// amend finds out whether the request differs from what is known only by lacking some of it, and if
// so notes which blocks are which. A client that truncates its history does that on every request, one
// that takes back a reminder or an image once. What the assistant said last must be there, and what a
// checkpoint covers last: without them the client has gone back rather than left something out.
func (p *Match) amend(r *Prompt, spine []int, known int) bool {
	must := []int{p.LastAnswer(spine), p.lastCovered(spine)}
	to := slices.Clone(p.Entries)
	i, j := known, known
	for ; i < len(r.Spine) && j < len(spine); i++ {
		k := j + p.indexOf(r.At(i), spine[j:])
		if k < j {
			break
		}
		to[i] = spine[k]
		j = k + 1
	}
	for _, m := range must {
		if m >= known && !slices.Contains(to, spine[m]) {
			return false
		}
	}
	if j <= max(must[0], must[1]) {
		return false
	}
	p.Entries, p.rest = to, rest{entry: len(p.State.Chain), next: i}
	if j < len(spine) {
		p.rest.entry = spine[j]
	}
	return true
}

// indexOf returns the place among entries, given by their indexes in the chain, of the one that a block
// is, -1 when it is none of them.
func (p *Match) indexOf(a *Block, entries []int) int {
	same := a.SameAs()
	return slices.IndexFunc(entries, func(k int) bool { return same(&p.State.Chain[k]) })
}

// LastAnswer returns the index in the spine of the last block of the assistant's, -1 when there is
// none.
func (p *Match) LastAnswer(spine []int) int {
	for i, k := range slices.Backward(spine) {
		if p.State.Chain[k].Role == decant.RoleAssistant {
			return i
		}
	}
	return -1
}

// lastCovered returns the index in the spine of the last block that the live checkpoint covers, -1
// when there is none.
func (p *Match) lastCovered(spine []int) int {
	cp := decant.CheckpointIn(p.State.Live())
	if cp == nil {
		return -1
	}
	last := -1
	for i, k := range spine {
		if p.State.Chain[k].Message <= cp.To {
			last = i
		}
	}
	return last
}

// Repeats reports whether the request is one that was decided about before: it gets the same view.
func (p *Match) Repeats() bool {
	return p.Relation == Continues && (len(p.Entries) == 0 || p.Entries[len(p.Entries)-1] >= 0)
}

// shared returns how many entries from the beginning the request and the state have in common.
func (p *Match) shared() int {
	n := 0
	for _, k := range p.Entries {
		if k != n && !(k > n && ThinkingOnly(p.State.Chain[n:k])) {
			break
		}
		n = k + 1
	}
	return n
}

// FirstNew returns the transcript number of the first message that holds a block which is not known.
func (p *Match) FirstNew(n *archive.References) int {
	at := 0
	for i := range n.Conv.Messages {
		m := &n.Conv.Messages[i]
		for k := range m.Blocks {
			if m.Blocks[k].Kind == decant.KindThinking {
				continue
			}
			if p.Entries[at] < 0 {
				return m.Number
			}
			at++
		}
	}
	return math.MaxInt
}

// ThinkingOnly reports whether all entries are thinking, which is no part of the chain.
func ThinkingOnly(es []store.Entry) bool {
	for i := range es {
		if es[i].Kind != decant.KindThinking {
			return false
		}
	}
	return true
}

// texts returns the hash of the text of every entry that the request has.
func (p *Match) texts() map[decant.Ref]decant.Hash {
	out := make(map[decant.Ref]decant.Hash, len(p.Entries))
	for _, k := range p.Entries {
		if k >= 0 {
			out[p.State.Chain[k].Ref] = p.State.Chain[k].Text
		}
	}
	return out
}

// fork makes p the match of a request that leaves the conversation behind its first known blocks.
func (p *Match) fork(known int) {
	p.Relation, p.Kept = Forks, 0
	if known > 0 {
		p.Kept = p.Entries[known-1] + 1
	}
	for i := known; i < len(p.Entries); i++ {
		p.Entries[i] = -1
	}
}

// AtBranch returns the decisions that are in force where a request leaves its conversation.
func (p *Match) AtBranch() []decant.Decision {
	if p.Branch != nil {
		return p.Branch.Decisions
	}
	return store.Inherit(p.State.Decisions, p.State.Chain, p.Leaves())
}

// Leaves returns how many entries of its conversation a request has before it leaves it.
func (p *Match) Leaves() int {
	if p.Relation == Returns {
		return p.shared()
	}
	return p.Kept
}

// Arrived returns the decisions about blocks that the request has in common with its conversation and that came
// in after the version whose decisions are in force. A fork makes them its own.
func (p *Match) Arrived() []decant.Decision {
	if p.Branch == nil || p.Relation == Replaces {
		return nil
	}
	return p.Branch.Arrived(p.State)
}

// Known returns how many blocks at the beginning of the request are known.
func (p *Match) Known() int {
	if i := slices.IndexFunc(p.Entries, func(k int) bool { return k < 0 }); i >= 0 {
		return i
	}
	return len(p.Entries)
}

// A conversation ends in a tail: what came after the last message of the assistant. A retry, an abort or
// an edited prompt may replace it, unless it was answered: then it is a branch, and a request that has
// something else in its place goes another way. That one leaves with what was in
// force where it leaves, so that nobody's view changes by what one of several delegates decides.

// judge settles what the blocks of a request leave open: whether what it lacks at the end of the
// conversation was answered, and what is in force where it leaves it. known is the number of its first
// blocks that it has in common with the conversation.
func (f *Finder) judge(ctx context.Context, p *Match, r *Prompt, known int) error {
	if p.Asked = p.open(); p.Asked {
		if err := f.judgeTail(ctx, p, r, known); err != nil {
			return err
		}
	}
	if p.Relation != Forks && p.Relation != Returns && p.Relation != Replaces || len(p.State.Decisions) == 0 {
		return nil
	}
	seen, _ := r.Overlap(p.State)
	var err error
	if p.Branch, err = f.Store.Branch(ctx, p.State.Key, p.State.Version, p.Leaves(), seen); err != nil {
		return fmt.Errorf("find what was in force at block %d of %s: %w", p.Leaves(), p.State.ID, err)
	}
	return nil
}

// judgeTail decides about a request that has not all of the conversation's tail. What was not answered
// it replaces. What was answered it amends, if it goes on with that answer; else it is a branch.
func (f *Finder) judgeTail(ctx context.Context, p *Match, r *Prompt, known int) error {
	first := p.Kept // entry that the request lacks
	if p.Relation == Amends {
		first = p.rest.entry
	}
	t, err := f.TailOf(ctx, p.State)
	if err != nil || !t.Settled(first) && !f.UnderWay(p.State, first) {
		return err
	}
	if p.Relation == Amends || p.amend(r, SpineOf(p.State), known) {
		goesOn, err := t.goesOn(ctx, f.Store, p, r, first)
		if err != nil {
			return err
		}
		if goesOn {
			p.Relation = Amends
			return nil
		}
	}
	p.fork(known)
	return nil
}

// A Tail is what became of the newest requests whose entries still stand in the conversation.
type Tail []store.Request

// mostTail is how many requests are looked at to find out what became of a tail: mostly there is one.
const mostTail = 32

// TailOf reads what became of the newest requests whose entries still stand in a conversation. Errors are those of
// store.Log.
func (f *Finder) TailOf(ctx context.Context, s *store.State) (Tail, error) {
	rs, err := f.Store.Standing(ctx, s.Key, mostTail)
	if err != nil {
		return nil, fmt.Errorf("read what became of the requests of %s: %w", s.ID, err)
	}
	return rs, nil
}

// Settled reports whether the entries from index first on must be taken for answered: they were, or
// nothing is known about them, because another process waits for the answer or has ended before it came.
func (t Tail) Settled(first int) bool {
	failed := false
	for i := range t {
		if t[i].Length <= first {
			continue
		}
		if !t[i].Failed() {
			return true
		}
		failed = true
	}
	return !failed
}

// endsAt reports whether a request was answered that held exactly the first n entries.
func (t Tail) endsAt(n int) bool {
	return slices.ContainsFunc(t, func(r store.Request) bool { return r.Length == n && r.Answered() })
}

// goesOn reports whether a request which lacks the entry with index first goes on with the answer that
// was given to it all the same: its client has left something out since, or rewritten it, as clients do
// with their reminders. A delegate that has other work in its place goes on with an answer of its own.
func (t Tail) goesOn(ctx context.Context, blobs store.Blobs, p *Match, r *Prompt, first int) (bool, error) {
	said, at := r.Answer(p.rest.next)
	removed := p.rest.next == at
	if len(said) == 0 || removed && t.endsAt(first) {
		return false, nil
	}
	stored := false
	for i := range t {
		if t[i].Length <= first || !t[i].Answered() || t[i].Answer.IsZero() {
			continue
		}
		stored = true
		content, err := blobs.Blobs(ctx, p.State.Tenant, t[i].Answer)
		if err != nil {
			return false, fmt.Errorf("read an answer in %s: %w", p.State.ID, err)
		}
		if sameAnswer(r.Dialect, content[0], said, p.sharesTail()) {
			return true, nil
		}
	}
	return removed && !stored, nil
}

// sharesTail reports whether the request has some of the conversation's tail.
func (p *Match) sharesTail() bool {
	spine := SpineOf(p.State)
	last := p.LastAnswer(spine)
	return slices.ContainsFunc(p.Entries, func(k int) bool { return k >= 0 && (last < 0 || k > spine[last]) })
}

// sameAnswer reports whether what a client has sent back is the answer with a content, thinking left
// out. Calls have ids that tell; words alone may be said twice, so they count only where the client has
// kept some of what they answer.
func sameAnswer(d dialect.Dialect, content []byte, said []*Block, shares bool) bool {
	doc, err := d.Parse(d.Assemble(&dialect.Parts{Answer: content}))
	if err != nil || len(doc.Conversation.Messages) != 1 {
		return false
	}
	var ids, sentIDs []string
	var text, sent string
	for i := range doc.Conversation.Messages[0].Blocks {
		b := &doc.Conversation.Messages[0].Blocks[i]
		ids, text = spoken(b, ids, text)
	}
	for _, a := range said {
		sentIDs, sent = spoken(a.Block, sentIDs, sent)
	}
	if len(ids) > 0 || len(sentIDs) > 0 {
		return slices.Equal(ids, sentIDs)
	}
	return shares && text != "" && text == sent
}

// spoken adds what a block of the assistant says to the ids of calls and to the text.
func spoken(b *decant.Block, ids []string, text string) ([]string, string) {
	switch b.Kind {
	case decant.KindUse:
		return append(ids, b.CallID), text
	case decant.KindText:
		return ids, text + b.Text()
	}
	return ids, text
}
