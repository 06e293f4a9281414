// Package reduce proposes the small cuts of a conversation: what can go out of the model's sight
// without anybody missing it.
//
// Most of what fills the window of an agent is what its tools returned, and most of that is old: a
// file that has been read again since, a build log that was acted on, the colours of a progress
// bar. Each reduction in this package finds one kind of such text and proposes decisions that
// replace whole blocks: nothing is deleted, the original stays behind the decision's handle, and
// no replacement is larger than what it replaces. [Superseded] and [Duplicate] find results whose
// content stands elsewhere; [Stub] turns an old result into one line that says what it was, how it
// ended and which names in it are worth keeping; [Trim] keeps the ends of a long one together with
// its error lines; [Terminal] removes what a terminal would have overwritten; [Arguments] shortens
// what was written long ago; [Thinking] drops old thoughts; [Clear] is the blunt end. [FirstSight]
// is what may happen to a result that arrives for the first time.
//
// All of them are pure functions of a [Subject], a transcript or a view that has been looked at
// once. In a view a block that a decision has changed already is left alone, so that a second run
// proposes nothing; only a result that was merely shrunk may still become a stub, see
// [Options.Made].
package reduce

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// Options say what reductions may touch and how they count. Counter is required.
type Options struct {
	Counter decant.Counter

	// Include and Exclude are patterns of tool names, with "*" for any letters, in any case. Only
	// results of included tools are touched (all when there is no pattern); Exclude wins.
	Include, Exclude []string

	// Pinned are patterns of tools whose results stay verbatim, and with them everything in the
	// round they were called in.
	Pinned []string

	// KeepRounds is the number of newest rounds that are not touched. The open round never is,
	// except by FirstSight.
	KeepRounds int

	// Before limits reductions to messages with a smaller Number; zero means no limit.
	Before int

	// Quote says how much of an old result its stub quotes. With it stubs are shrunk results of
	// kind decant.Shrink, reduction "outline", which a later pour may still turn into one line.
	Quote Quoting

	// Must are names that the reader is likely to need again. A replacement that takes one out of the
	// view altogether names it, beyond the room that names have otherwise, in at most an eighth of what
	// it stands for.
	Must map[string]bool

	// Transcript and Made are what a view was made of: the conversation and the decisions. With
	// both a result that was only shrunk may be shrunk further or become a stub, from its original
	// and in place of the earlier decision; without them it stays as it is.
	Transcript *decant.Conversation
	Made       []decant.Decision

	// Mask takes secrets out of a text before it is quoted in a replacement; nil means that
	// nothing is masked.
	Mask func(text string) string
}

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
	kept    map[string]int // in how many blocks each name stays visible; made on demand, see visible
}

// result is one tool result with the call it answers.
type result struct {
	block  *decant.Block
	shrunk *decant.Decision // the decision that made it what it is, nil: it is verbatim
	orig   *decant.Block    // the block of the transcript: block itself when it is verbatim
	at     int              // index of its message
	round  int              // index of its round, -1: outside of any
	call   tool.Call
	used   bool // its call was found
	text   string
	loaded bool
	safe   *string // text with its secrets masked, once it was needed
	closed bool    // in a round that may be touched at a pour
	fresh  bool    // in the open round, and verbatim
}

// verbatim reports whether the transcript has r as it stands here.
func (r *result) verbatim() bool { return r.block.Changed == "" }

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
	s := &Subject{ctx: ctx, opts: o, ms: c.Live()}
	s.rounds = decant.Rounds(s.ms)
	in := s.roundOf()
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

// place says where a block stands and what may be done there.
type place struct {
	at, round     int
	closed, fresh bool
}

// look takes in one block.
func (s *Subject) look(b *decant.Block, at place, p *pairing) {
	switch b.Kind {
	case decant.KindUse:
		p.calls[b.CallID] = append(p.calls[b.CallID], len(s.uses))
		s.uses = append(s.uses, use{block: b, call: tool.Parse(b.Name, b.Text()), closed: at.closed && s.allowed(b), failed: true})
	case decant.KindResult:
		r := result{block: b, orig: b, at: at.at, round: at.round, closed: at.closed, fresh: at.fresh}
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

// roundOf returns for each message the index of its round, -1 when it is in none.
func (s *Subject) roundOf() []int {
	in := make([]int, len(s.ms))
	for i := range in {
		in[i] = -1
	}
	for r, round := range s.rounds {
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
			pinned[r] = slices.ContainsFunc(s.ms[i].Blocks, s.pins)
		}
	}
	return pinned
}

// pins reports whether b calls a pinned tool.
func (s *Subject) pins(b decant.Block) bool {
	return b.Kind == decant.KindUse && matchAny(s.opts.Pinned, b.Name)
}

// read returns the original text of r, decoded once.
func (r *result) read() string {
	if !r.loaded {
		r.text, r.loaded = r.orig.Text(), true
	}
	return r.text
}

// shown returns the text of r as the view has it now.
func (r *result) shown() string {
	if r.verbatim() {
		return r.read()
	}
	return r.block.Text()
}

// size returns about how long the text of r is now, in bytes, without decoding it.
func (r *result) size() int { return r.block.Content.Size() }

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

// replace proposes to put text in the place of r, whatever stands there now.
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

// masked returns the text of r without its secrets. Whatever a stub quotes is taken from it before
// it is cut, because half a secret is not recognised.
func (s *Subject) masked(r *result) string {
	if r.safe == nil {
		text := s.mask(r.read())
		r.safe = &text
	}
	return *r.safe
}

// assistants returns for each message how many assistant messages stand after it.
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
