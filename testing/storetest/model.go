package storetest

import (
	"errors"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

var modelTests = []test{
	{"AnyHistoryLoadsAsItWasAtEveryVersion", func(b *bench) {
		runs := 0
		rapid.Check(b.T, func(t *rapid.T) {
			runs++
			m := &model{bench: b, t: t, session: fmt.Sprint("run ", runs)}
			m.create()
			t.Repeat(map[string]func(*rapid.T){
				"append":  func(t *rapid.T) { m.t = t; m.change(m.any(), 0) },
				"replace": func(t *rapid.T) { m.t = t; l := m.any(); m.change(l, 1+m.draw("position", len(l.chain)+1)) },
				"fork":    func(t *rapid.T) { m.t = t; m.forkAny() },
				"branch":  func(t *rapid.T) { m.t = t; m.branchAny() },
				"stale":   func(t *rapid.T) { m.t = t; m.stale(m.any()) },
				"":        func(t *rapid.T) { m.t = t; m.check(m.any()) },
			})
		})
	}},
}

// A model is what the conversations of one session should be.
type model struct {
	*bench
	t       *rapid.T
	session string
	lines   []*history
}

// A history is a conversation with its state at each version.
type history struct {
	*line
	decisions []decant.Decision
	versions  []version
	parent    *history // nil: not a fork
	origin    store.Origin
	begun     version // what it began with
}

type version struct {
	chain     []store.Entry
	decisions []decant.Decision
}

func (m *model) draw(what string, n int) int { return rapid.IntRange(0, n-1).Draw(m.t, what) }

func (m *model) any() *history { return m.lines[m.draw("line", len(m.lines))] }

func (m *model) create() {
	h := &history{line: m.line("", m.session)}
	m.lines = append(m.lines, h)
	m.change(h, 0)
}

// change commits new entries at the end or in place of those from replace on, and decisions.
func (m *model) change(h *history, replace int) {
	var texts []string
	for range 1 + m.draw("entries", 3) {
		texts = append(texts, m.id("text"))
	}
	kept := len(h.chain)
	if replace > 0 {
		kept = replace - 1
	}
	m.commit(h, h.batch(replace, h.blocks(kept, texts...)...))
}

func (m *model) commit(h *history, b *store.Batch) {
	if n := len(h.chain); n > 0 && m.draw("decide", 2) == 1 {
		b.Decisions = append(b.Decisions, h.shrink(1+m.draw("target", n), m.id("stub")))
	}
	h.must(b)
	h.decisions = append(slices.Clip(h.decisions), b.Decisions...)
	h.versions = append(h.versions, version{h.chain, h.decisions})
}

// forkAny forks a line at any of its versions and positions.
func (m *model) forkAny() {
	parent := m.any()
	v := m.draw("version", len(parent.versions))
	from := parent.versions[v]
	if len(from.chain) == 0 {
		return
	}
	position := 1 + m.draw("position", len(from.chain))
	inForce := m.draw("in force", v+2)
	m.forkAt(parent, store.Origin{Parent: parent.ID, Version: int64(v + 1), Position: position, InForce: int64(inForce)})
}

// at returns a history as of a version, 0 for what it began with.
func (h *history) at(v int64) version {
	if v == 0 {
		return h.begun
	}
	return h.versions[v-1]
}

// forkAt forks a line where an origin says.
func (m *model) forkAt(parent *history, o store.Origin) {
	chain := parent.at(o.Version).chain
	f := &history{line: m.line("", m.session), parent: parent, origin: o}
	f.chain, f.time = chain[:o.Position:o.Position], parent.time
	f.decisions = store.Inherit(parent.at(o.InForce).decisions, chain, o.Position)
	f.begun = version{f.chain, f.decisions}
	b := f.batch(0, f.blocks(o.Position, m.id("text"))...)
	b.Create.Origin = &o
	m.lines = append(m.lines, f)
	m.commit(f, b)
}

// branchAny forks a line where the store says that a branch begins, and compares that with the versions
// as they were.
func (m *model) branchAny() {
	h := m.any()
	v := m.draw("version", len(h.versions)) + 1
	n := len(h.versions[v-1].chain)
	if n == 0 {
		return
	}
	position := 1 + m.draw("position", n)
	seen := position + m.draw("seen", n-position+1)
	want, parent := m.branch(h, int64(v), position, seen)
	got, err := m.Branch(m.ctx, h.Key, int64(v), position, seen)
	if err != nil || got.Origin != want {
		m.t.Fatalf("branch of version %d of %s at %d, %d seen: got %+v, %v; want %+v", v, h.ID, position, seen, got, err, want)
	}
	m.forkAt(parent, want)
	if f := m.lines[len(m.lines)-1]; !slices.Equal(names(got.Decisions), names(f.begun.decisions)) {
		m.t.Fatalf("branch of version %d of %s at %d has the decisions %s, the fork %s", v, h.ID, position, names(got.Decisions), names(f.begun.decisions))
	}
}

// branch returns where a branch begins: the newest version that had nothing but the first seen entries.
func (m *model) branch(h *history, v int64, position, seen int) (store.Origin, *history) {
	chain := h.at(v).chain
	for w := v; w >= 1; w-- {
		if then := h.at(w).chain; len(then) <= seen && slices.Equal(then, chain[:len(then)]) {
			return store.Origin{Parent: h.ID, Version: v, Position: position, InForce: w}, h
		}
	}
	if h.parent != nil && position < h.origin.Position {
		return m.branch(h.parent, h.origin.Version, position, min(seen, h.origin.Position))
	}
	return store.Origin{Parent: h.ID, Version: v, Position: position}, h
}

// stale commits for a version that is not the current one.
func (m *model) stale(h *history) {
	b := h.say("never")
	b.Version = int64(m.draw("stale version", int(h.version)))
	if b.Version == 0 {
		b.Create = &store.Creation{Session: m.session}
	}
	if _, err := m.Commit(m.ctx, b); !errors.Is(err, store.ErrConflict) {
		m.t.Fatalf("commit for version %d of %d: got %v, want ErrConflict", b.Version, h.version, err)
	}
}

// check compares a line at any of its versions with the model, and finds it by its chain.
func (m *model) check(h *history) {
	v := m.draw("checked version", len(h.versions))
	s, err := m.Load(m.ctx, h.Key, int64(v+1))
	if err != nil {
		m.t.Fatalf("load version %d of %s: %v", v+1, h.ID, err)
	}
	want := h.versions[v]
	same := slices.EqualFunc(s.Decisions, want.decisions, func(a, b decant.Decision) bool { return a.ID == b.ID && a.Text == b.Text })
	if !slices.Equal(s.Chain, want.chain) || !same {
		m.t.Fatalf("version %d of %s:\ngot  %d entries, decisions %s\nwant %d entries, decisions %s",
			v+1, h.ID, len(s.Chain), names(s.Decisions), len(want.chain), names(want.decisions))
	}
	if len(h.chain) == 0 {
		return
	}
	match, err := m.Match(m.ctx, "", m.session, append(h.hashes(len(h.chain)), decant.HashText("new")))
	found := slices.ContainsFunc(match.Lines, func(l store.Line) bool { return l.ID == h.ID && l.Version == h.version && l.Length == len(h.chain) })
	if err != nil || match.Known != len(h.chain) || !found {
		m.t.Fatalf("a request that continues %s, version %d, %d entries: %+v, %v", h.ID, h.version, len(h.chain), match, err)
	}
}

func names(ds []decant.Decision) (ids []string) {
	for _, d := range ds {
		ids = append(ids, d.ID)
	}
	return ids
}
