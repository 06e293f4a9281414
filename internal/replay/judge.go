package replay

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/ruler"
)

// A judge measures what views still hold of what the assistant wrote next, by the rule of internal/ruler:
// gold are the atoms of an answer's text and of the decoded values of its calls that stood in the history
// before it; names of tools and parameters are not asked for.
type judge struct {
	seg    *segment
	texts  [][]string // what each block of the history says, by message and block; thinking says nothing
	ids    map[string]int
	atoms  []atom
	wrote  [][]int // for each request the ids of the atoms in the answer
	gold   [][]int // for each request those of them that had been shown
	others map[string]*other
	facts  []decant.Fact // must-keep facts, extracted once
}

// An atom is a string that some answer needed.
type atom struct {
	text   string
	kind   ruler.Kind
	held   []place // blocks that have it among their own atoms
	spots  []spot  // blocks that have it as a part of their text, once looked for
	looked bool
}

// place is a block of the history: message and block by index.
type place struct{ message, block int }

// A spot is a block in which a string stands, with what stands beside it.
type spot struct {
	place
	beside []ruler.Context
}

// An other is a text of a view that is not in the history as it is: something shortened, or a summary.
type other struct {
	text   string
	held   map[int]bool            // ids of its own atoms
	beside map[int][]ruler.Context // of strings that were looked for, nil where they are not there
}

func newJudge(s *segment) *judge {
	j := &judge{seg: s, ids: map[string]int{}, others: map[string]*other{}}
	names := map[string]bool{}
	for i := range s.conv.Messages {
		m := &s.conv.Messages[i]
		texts := make([]string, len(m.Blocks))
		for k := range m.Blocks {
			b := &m.Blocks[k]
			texts[k] = said(b)
			if b.Kind == decant.KindUse {
				names[b.Name] = true
				ruler.Names(b.Text(), func(n string) { names[n] = true })
			}
		}
		j.texts = append(j.texts, texts)
	}
	for q := range s.requests {
		j.wrote = append(j.wrote, j.written(s.requests[q].messages, names))
	}
	j.index()
	for q, ids := range j.wrote {
		j.gold = append(j.gold, j.shown(ids, s.requests[q].messages))
	}
	return j
}

// said returns what a block says that has to be remembered: of a call the values of its arguments.
func said(b *decant.Block) string {
	switch b.Kind {
	case decant.KindThinking, decant.KindImage:
		return ""
	case decant.KindUse:
		return ruler.Values(b.Text())
	}
	return b.Text()
}

// written returns the ids of the atoms that the i-th message says and calls.
func (j *judge) written(i int, names map[string]bool) (ids []int) {
	m := &j.seg.conv.Messages[i]
	for k := range m.Blocks {
		if kind := m.Blocks[k].Kind; kind != decant.KindText && kind != decant.KindUse {
			continue
		}
		ruler.Each(j.texts[i][k], func(a string, kind ruler.Kind) {
			if !names[a] {
				ids = append(ids, j.id(a, kind))
			}
		})
	}
	return once(ids)
}

// id returns the id of an atom, which is of the first kind that claims it.
func (j *judge) id(a string, kind ruler.Kind) int {
	id, ok := j.ids[a]
	if !ok {
		id = len(j.atoms)
		j.ids[a] = id
		j.atoms = append(j.atoms, atom{text: a, kind: kind})
	}
	j.atoms[id].kind = min(j.atoms[id].kind, kind)
	return id
}

// once returns ids with each once, in order.
func once(ids []int) []int {
	seen := map[int]bool{}
	out := ids[:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// index finds the blocks that hold the atoms.
func (j *judge) index() {
	for i := range j.texts {
		for k, text := range j.texts[i] {
			at := place{i, k}
			ruler.Each(text, func(a string, _ ruler.Kind) {
				if id, ok := j.ids[a]; ok {
					held := &j.atoms[id].held
					if len(*held) == 0 || (*held)[len(*held)-1] != at {
						*held = append(*held, at)
					}
				}
			})
		}
	}
}

// shown returns those of ids that stand in the first n messages.
func (j *judge) shown(ids []int, n int) (out []int) {
	for _, id := range ids {
		if held := j.atoms[id].held; len(held) > 0 && held[0].message < n {
			out = append(out, id)
		}
	}
	return out
}

// spots returns the blocks of the history in which an atom stands, with its contexts.
func (j *judge) spots(id int) []spot {
	a := &j.atoms[id]
	if a.looked {
		return a.spots
	}
	a.looked = true
	for i := range j.texts {
		for k, text := range j.texts[i] {
			if beside := ruler.Contexts(text, a.text, ruler.Most); beside != nil {
				a.spots = append(a.spots, spot{place{i, k}, beside})
			}
		}
	}
	return a.spots
}

// other returns what is known of a text that is not in the history.
func (j *judge) other(text string) *other {
	o, ok := j.others[text]
	if !ok {
		o = &other{text: text, held: map[int]bool{}, beside: map[int][]ruler.Context{}}
		ruler.Each(text, func(a string, _ ruler.Kind) {
			if id, ok := j.ids[a]; ok {
				o.held[id] = true
			}
		})
		j.others[text] = o
	}
	return o
}

// contexts returns the contexts of an atom in the text, nil when it is not there.
func (o *other) contexts(id int, a *atom) []ruler.Context {
	c, ok := o.beside[id]
	if !ok {
		c = ruler.Contexts(o.text, a.text, ruler.Most)
		o.beside[id] = c
	}
	return c
}

// holds reports whether the text counts as holding an atom.
func (o *other) holds(id int, a *atom) bool {
	return o.held[id] || ruler.InParts(a.text, a.kind) && strings.Contains(o.text, a.text)
}

// horizon is how many messages behind a pour are asked for what they need of it.
const horizon = 40

// later returns the atoms of the history before request q that the assistant wrote within the next messages
// before anything had shown them to it again: what a pour there must leave.
func (j *judge) later(q int) (out []int) {
	n := j.seg.requests[q].messages
	for ; q < len(j.seg.requests) && j.seg.requests[q].messages < n+horizon; q++ {
		for _, id := range j.wrote[q] {
			if j.remembered(id, n, j.seg.requests[q].messages) {
				out = append(out, id)
			}
		}
	}
	return once(out)
}

// remembered reports whether an atom stood in the first n messages, and from there up to message i in none
// but the assistant's.
func (j *judge) remembered(id, n, i int) bool {
	held := j.atoms[id].held
	if len(held) == 0 || held[0].message >= n {
		return false
	}
	for _, p := range held {
		if p.message >= n && p.message < i && j.seg.conv.Messages[p.message].Role != decant.RoleAssistant {
			return false
		}
	}
	return true
}

// verdict counts gold strings.
type verdict struct{ gold, kept, grounded, anywhere int }

// judge compares the view that was sent for request q with the whole history.
func (j *judge) judge(q int, view []decant.Message) verdict {
	return j.of(j.gold[q], j.seg.requests[q].messages, view)
}

// of counts which of the atoms, that stood in the first n messages, a view of these still holds.
func (j *judge) of(gold []int, n int, view []decant.Message) verdict {
	v := verdict{gold: len(gold)}
	if v.gold == 0 {
		return v
	}
	if len(view) == n && &view[0] == &j.seg.conv.Messages[0] { // everything
		return verdict{v.gold, v.gold, v.gold, v.gold}
	}
	s := j.sight(view, n)
	for _, id := range gold {
		if !s.holds(id) {
			continue
		}
		v.kept++
		first, anywhere := s.grounds(id)
		v.grounded += count(first)
		v.anywhere += count(anywhere)
	}
	return v
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
