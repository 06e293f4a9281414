package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/store"
)

// A relation is how a request stands to the conversation that it was found to belong to.
type relation string

// The relations (design, section 4).
const (
	begins    relation = "begins"    // nothing of it is known
	continues relation = "continues" // it holds all that is known, and perhaps more
	returns   relation = "returns"   // it is a beginning of what is known, and holds nothing new
	replaces  relation = "replaces"  // it has something else in place of a tail that was not answered
	amends    relation = "amends"    // it lacks something of what is known, or has it rewritten, and adds at its end only
	forks     relation = "forks"     // it goes another way from some point on
)

// A place is where a request belongs.
type place struct {
	rel   relation
	line  *line        // nil: a new conversation
	state *store.State // of line, as it was found; nil with it
	real  *store.State // of an observed request: the line's, of which state is the one with what was planned
	to    []int        // for each block of the request's spine the entry in state.Chain that it is, -1: new
	kept  int          // entries of state.Chain that stay; a commit replaces those behind

	branch *store.Branch // of a request that leaves line: what is in force there; nil: nothing was decided, or it is not known
	rest   rest          // of a request that amends: what it has not taken up
	asked  bool          // the relation depends on what became of the requests before
}

// A finder finds the conversations of requests.
type finder struct {
	store    finderStore
	cache    *lines
	notes    func(context.Context, *store.State) any // to keep with a conversation that was read
	underWay func(s *store.State, first int) bool    // whether a request waits for its answer that holds an entry from first on
}

// finderStore is what finding needs of a store.
type finderStore interface {
	store.Matcher
	store.Loader
	store.Blobs
	store.Log
}

// A rest is what the end of a conversation has and a request lacks.
type rest struct {
	entry int // index in the chain of the first entry of it; the chain's length: there is none
	next  int // index in the request's spine of the block that stands in its place
}

// find returns the place of a request: the longest known beginning of its chain within the tenant
// and the session. There is no fuzzy matching: what is not known begins a new conversation.
func (f *finder) find(ctx context.Context, who start, r *prompt.Prompt) (*place, error) {
	if len(r.Spine) == 0 {
		return &place{rel: begins}, nil
	}
	p, err := f.findCached(ctx, who, r)
	if p != nil || err != nil {
		return p, err
	}
	m, err := f.match(ctx, who, r)
	if err != nil {
		return nil, fmt.Errorf("match conversation: %w", err)
	}
	if m.Known == 0 {
		return f.findRest(ctx, who, r)
	}
	l, err := f.load(ctx, who, store.Key{Tenant: who.tenant, ID: m.Lines[0].ID}, m.Lines[0].Version)
	if errors.Is(err, store.ErrNotFound) { // collected since
		return &place{rel: begins, to: fresh(len(r.Spine))}, nil
	}
	if err != nil {
		return nil, err
	}
	known, s := l.shared(r)
	p = locate(l, s, r, known)
	return p, f.judge(ctx, p, r, known)
}

// fewBlocks are so few that their hashes cost less than to ask the store twice.
const fewBlocks = 8

// match asks the store for the longest known beginning of a request. Of a long request it asks for the
// first block alone before the others are hashed: new conversations may begin with much text.
func (f *finder) match(ctx context.Context, who start, r *prompt.Prompt) (store.Match, error) {
	if len(r.Spine) > fewBlocks {
		m, err := f.store.Match(ctx, who.tenant, who.session, []decant.Hash{who.first})
		if err != nil || m.Known == 0 {
			return m, err
		}
	}
	return f.store.Match(ctx, who.tenant, who.session, r.Hashes())
}

// findRest returns the place of a request of which not even the beginning is known: that of a
// conversation in memory of the same session whose beginning the client has left out, or a new one.
func (f *finder) findRest(ctx context.Context, who start, r *prompt.Prompt) (*place, error) {
	for _, l := range f.cache.session(who.tenant, who.session) {
		s := l.now()
		p := &place{rel: amends, line: l, state: s, to: fresh(len(r.Spine))}
		spine := spineOf(s)
		if p.lastAnswer(spine) < 0 || !p.amend(r, spine, 0) {
			continue
		}
		if err := f.judge(ctx, p, r, 0); err != nil || p.rel == amends {
			return p, err
		}
	}
	return &place{rel: begins, to: fresh(len(r.Spine))}, nil
}

// findCached returns the place of a request that holds all of a conversation in memory; nil when
// there is none. What is in memory counts only if it is still what the store has.
func (f *finder) findCached(ctx context.Context, who start, r *prompt.Prompt) (*place, error) {
	l := best(f.cache.of(who), r)
	if l == nil {
		return nil, nil
	}
	cached := l.now().Version
	v, err := f.store.Version(ctx, l.key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		f.cache.forget(l.key)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("check version of %s: %w", l.key.ID, err)
	case v != cached:
		if l, err = f.load(ctx, who, l.key, v); err != nil {
			return nil, err
		}
	}
	known, s := l.shared(r) // of this state or, if another request has just moved it on, a later one
	p := locate(l, s, r, known)
	if p.rel != continues {
		return nil, nil
	}
	return p, nil
}

// best returns the longest line that the request holds as a whole.
func best(ls []*line, r *prompt.Prompt) *line {
	var out *line
	long := 0
	for _, l := range ls {
		if n := l.sharedWhole(r); n > long {
			out, long = l, n
		}
	}
	return out
}

// load reads a conversation into memory, unless it is there with that version already.
func (f *finder) load(ctx context.Context, who start, k store.Key, version int64) (*line, error) {
	if l := f.cache.get(k); l != nil && l.now().Version == version {
		return l, nil
	}
	s, err := f.store.Load(ctx, k, store.Newest)
	if err != nil {
		return nil, fmt.Errorf("load conversation %s: %w", k.ID, err)
	}
	l := newLine(s, f.notes(ctx, s))
	f.cache.put(who, l)
	return l, nil
}

// locate says how a request whose first known blocks are those of l stands to it, as far as the blocks
// tell: what they leave open, judge decides.
func locate(l *line, s *store.State, r *prompt.Prompt, known int) *place {
	spine := spineOf(s)
	p := &place{line: l, state: s, to: fresh(len(r.Spine)), kept: len(s.Chain)}
	copy(p.to, spine[:known])
	switch {
	case known == 0:
		return &place{rel: begins, to: p.to}
	case known == len(spine):
		p.rel = continues
		return p
	case known == len(r.Spine):
		p.rel = returns
		return p
	}
	p.kept = spine[known-1] + 1
	switch {
	case provisional(s.Chain[p.kept:]):
		p.rel = replaces
	case p.amend(r, spine, known):
		p.rel = amends
	default:
		p.rel = forks
	}
	return p
}

// spineOf returns the indexes of the entries of a state that are not thinking.
func spineOf(s *store.State) []int {
	out := make([]int, 0, len(s.Chain))
	for i := range s.Chain {
		if s.Chain[i].Kind != decant.KindThinking {
			out = append(out, i)
		}
	}
	return out
}

// fresh returns a row of n times -1.
func fresh(n int) []int {
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
func (p *place) amend(r *prompt.Prompt, spine []int, known int) bool {
	must := []int{p.lastAnswer(spine), p.lastCovered(spine)}
	to := slices.Clone(p.to)
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
	p.to, p.rest = to, rest{entry: len(p.state.Chain), next: i}
	if j < len(spine) {
		p.rest.entry = spine[j]
	}
	return true
}

// indexOf returns the place among entries, given by their indexes in the chain, of the one that a block
// is, -1 when it is none of them.
func (p *place) indexOf(a *prompt.Block, entries []int) int {
	same := a.SameAs()
	return slices.IndexFunc(entries, func(k int) bool { return same(&p.state.Chain[k]) })
}

// lastAnswer returns the index in the spine of the last block of the assistant's, -1 when there is
// none.
func (p *place) lastAnswer(spine []int) int {
	for i, k := range slices.Backward(spine) {
		if p.state.Chain[k].Role == decant.RoleAssistant {
			return i
		}
	}
	return -1
}

// lastCovered returns the index in the spine of the last block that the live checkpoint covers, -1
// when there is none.
func (p *place) lastCovered(spine []int) int {
	cp := decant.CheckpointIn(p.state.Live())
	if cp == nil {
		return -1
	}
	last := -1
	for i, k := range spine {
		if p.state.Chain[k].Message <= cp.To {
			last = i
		}
	}
	return last
}
