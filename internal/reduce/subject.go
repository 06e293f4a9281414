package reduce

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// Subject is a conversation that has been looked at once for all reductions: its rounds, its calls
// with their results, and which of them may be touched. Once its context is done, its reductions end early:
// what they propose then is legal and not all. It is not safe for concurrent use.
type Subject struct {
	ctx     context.Context
	opts    Options
	ms      []decant.Message
	rounds  []decant.Round
	results []result
	uses    []use
	index   *nameIndex // made on demand, see names
	expand  string     // tool that gives originals back; empty: the agent has none
}

// use is one tool call.
type use struct {
	block  *decant.Block
	call   tool.Call
	closed bool
	failed bool // its result reports an error, or it has none
}

// Of looks at the messages of c that are still in the model's context. The reductions of what it returns go
// on as long as ctx does.
func Of(ctx context.Context, c *decant.Conversation, o Options) *Subject {
	s := &Subject{ctx: ctx, opts: o, ms: c.Live(), expand: expander(c, o.Transcript)}
	s.rounds = decant.Rounds(s.ms)
	in := roundOf(s.ms, s.rounds)
	pinned := s.pinnedRounds(in)
	p := pairing{calls: map[string][]int{}, made: map[string]*decant.Decision{}}
	for i := range o.Made {
		p.made[o.Made[i].ID] = &o.Made[i]
	}
	for i := range s.ms {
		r := in[i]
		touchable := (o.Before == 0 || s.ms[i].Number < o.Before) && (r < 0 || !pinned[r])
		closed := touchable && r >= 0 && !s.rounds[r].Open && r < len(s.rounds)-o.KeepRounds
		fresh := touchable && (r < 0 || s.rounds[r].Open)
		for k := range s.ms[i].Blocks {
			s.look(&s.ms[i].Blocks[k], place{i, r, closed, fresh}, &p)
		}
	}
	return s
}

// each returns the results from the oldest to the newest, as far as the context allows.
func (s *Subject) each() iter.Seq[*result] {
	return func(yield func(*result) bool) {
		for i := range s.results {
			if s.ctx.Err() != nil || !yield(&s.results[i]) {
				return
			}
		}
	}
}

// newestFirst returns the results from the newest to the oldest, as far as the context allows.
func (s *Subject) newestFirst() iter.Seq[*result] {
	return func(yield func(*result) bool) {
		for i := range slices.Backward(s.results) {
			if s.ctx.Err() != nil || !yield(&s.results[i]) {
				return
			}
		}
	}
}

// pairing is what is known while results are matched with their calls.
type pairing struct {
	calls map[string][]int            // unanswered calls by id, as indices of uses
	made  map[string]*decant.Decision // Options.Made by id
}

// place is the position of a block with the changes allowed there.
type place struct {
	at, round     int
	closed, fresh bool
}

// look takes in one block.
func (s *Subject) look(b *decant.Block, at place, p *pairing) {
	switch b.Kind {
	case decant.KindUse:
		p.calls[b.CallID] = append(p.calls[b.CallID], len(s.uses))
		s.uses = append(s.uses, use{
			block: b, call: tool.Parse(b.Name, b.Text()), closed: at.closed && s.allowed(b), failed: true,
		})
	case decant.KindResult:
		r := result{block: b, orig: b, mask: s.mask, at: at.at, round: at.round, closed: at.closed, fresh: at.fresh}
		s.pair(&r, p.calls)
		s.settle(&r, p.made)
		s.results = append(s.results, r)
	}
}

// pair finds the call that res answers: the newest unanswered one with its id, as in decant.Rounds.
func (s *Subject) pair(res *result, calls map[string][]int) {
	if open := calls[res.block.CallID]; len(open) > 0 {
		u := &s.uses[open[len(open)-1]]
		calls[res.block.CallID] = open[:len(open)-1]
		res.call, res.used = u.call, true
		u.failed = res.block.Error
	} else {
		res.call = tool.Call{Name: res.block.Name, Class: tool.ClassOf(res.block.Name), Effect: tool.ClassOf(res.block.Name)}
	}
}

// settle says whether res may be touched, given what it is and what has been done to it.
func (s *Subject) settle(res *result, made map[string]*decant.Decision) {
	if !s.named(res.call.Name) || res.block.Media.Count > 0 || res.block.Loads > 0 || res.block.Content == nil {
		res.closed, res.fresh = false, false
	}
	if res.verbatim() {
		return
	}
	d := made[res.block.Changed]
	orig := s.original(res.block.Ref)
	if d == nil || d.Kind != decant.Shrink || d.Target.Ref != res.block.Ref || orig == nil {
		res.closed, res.fresh = false, false
		return
	}
	res.shrunk, res.orig = d, orig
}

// original returns the block of the transcript at r, nil when it is not known.
func (s *Subject) original(r decant.Ref) *decant.Block {
	if s.opts.Transcript == nil {
		return nil
	}
	ms := s.opts.Transcript.Messages
	i, ok := slices.BinarySearchFunc(ms, r.Message, func(m decant.Message, n int) int { return cmp.Compare(m.Number, n) })
	if !ok || r.Block >= len(ms[i].Blocks) {
		return nil
	}
	return &ms[i].Blocks[r.Block]
}

// allowed reports whether the arguments of a call may be touched.
func (s *Subject) allowed(b *decant.Block) bool {
	return b.Changed == "" && b.Content != nil && s.named(b.Name)
}

// named reports whether the options allow touching what the named tool did.
func (s *Subject) named(name string) bool {
	if matchAny(s.opts.Exclude, name) {
		return false
	}
	return len(s.opts.Include) == 0 || matchAny(s.opts.Include, name)
}

// expander returns the name of the tool that gives originals back, empty if the agent has none.
func expander(cs ...*decant.Conversation) string {
	for _, c := range cs {
		if c == nil {
			continue
		}
		for i := range c.Fixed.Tools {
			if name := c.Fixed.Tools[i].Name; tool.Expands(name) {
				return name
			}
		}
	}
	return ""
}

// roundOf returns for each message the index of its round, -1 when it is in none.
func roundOf(ms []decant.Message, rounds []decant.Round) []int {
	in := make([]int, len(ms))
	for i := range in {
		in[i] = -1
	}
	for r, round := range rounds {
		for i := round.Start; i < round.End; i++ {
			in[i] = r
		}
	}
	return in
}

// pinnedRounds marks the rounds that call a pinned tool; in says which message is in which.
func (s *Subject) pinnedRounds(in []int) []bool {
	pinned := make([]bool, len(s.rounds))
	for i, r := range in {
		if r >= 0 && !pinned[r] {
			pinned[r] = slices.ContainsFunc(s.ms[i].Blocks, func(b decant.Block) bool { return calls(&b, s.opts.Pinned) })
		}
	}
	return pinned
}

// decide proposes to put text in the place of b, whose text is old. It reports false when that
// would not make it smaller.
func (s *Subject) decide(b *decant.Block, old, text string, d decant.Decision) (decant.Decision, bool) {
	if len(text) >= len(old) {
		return d, false
	}
	d.Before, d.After = s.opts.Counter.Count(old), s.opts.Counter.Count(text)
	if d.After >= d.Before {
		return d, false
	}
	h := decant.HashText(old)
	d.Target = decant.Target{Ref: b.Ref, CallID: b.CallID, Hash: h}
	d.Text, d.Handle = text, decant.HandleOf(h)
	return d, true
}

// replace proposes to put text in the place of r, whatever is there now.
func (s *Subject) replace(r *result, kind decant.DecisionKind, text string, reduction decant.Reduction, reason string) (decant.Decision, bool) {
	d, ok := s.decide(r.block, r.shown(), text, decant.Decision{Kind: kind, Reduction: reduction, Reason: reason})
	if r.shrunk != nil {
		d.Target, d.Handle = r.shrunk.Target, r.shrunk.Handle
	}
	return d, ok
}

// mask takes secrets out of text.
func (s *Subject) mask(text string) string {
	if s.opts.Mask == nil {
		return text
	}
	return s.opts.Mask(text)
}

// assistants returns for each message the number of assistant messages after it.
func (s *Subject) assistants() []int {
	after := make([]int, len(s.ms))
	n := 0
	for i := len(s.ms) - 1; i >= 0; i-- {
		after[i] = n
		if s.ms[i].Role == decant.RoleAssistant {
			n++
		}
	}
	return after
}
