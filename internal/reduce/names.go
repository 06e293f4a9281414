package reduce

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// name is a candidate for the list of names that a stub leaves behind.
type name struct {
	text    string
	kind    kind
	at      int // of its first place
	count   int
	defined bool // on a line that defines it
	visible bool // it is in the view elsewhere
	must    bool // it must not go out of the view
	score   float64
}

// A nameIndex knows in how many blocks the view shows each name whatever becomes of old results: in what the model
// and the user wrote, and in results that stay. It chooses the names and the lines that a replacement keeps.
type nameIndex struct {
	counter decant.Counter
	must    map[string]bool // see Options.Must
	shown   map[string]int
}

// names returns the index of the view, which is made when it is needed first.
func (s *Subject) names() *nameIndex {
	if s.index != nil {
		return s.index
	}
	s.index = &nameIndex{counter: s.opts.Counter, must: s.opts.Must, shown: map[string]int{}}
	for i := range s.ms {
		if s.ctx.Err() != nil {
			break
		}
		for k := range s.ms[i].Blocks {
			if b := &s.ms[i].Blocks[k]; b.Kind == decant.KindUse || b.Kind == decant.KindText {
				s.index.add(b.Text())
			}
		}
	}
	for r := range s.each() {
		if !r.closed && r.block.Content != nil {
			s.index.add(r.read())
		}
	}
	return s.index
}

// add counts the names of one block of the view.
func (x *nameIndex) add(text string) {
	here := map[string]bool{}
	eachName(text, func(t string, _ kind, _ int) {
		if !here[t] {
			here[t] = true
			x.shown[t]++
		}
	})
}

// list writes the chosen names in the order in which they came, and takes note that the view now
// shows them.
func (x *nameIndex) list(chosen []*name) string {
	if len(chosen) == 0 {
		return ""
	}
	slices.SortFunc(chosen, func(a, b *name) int { return cmp.Compare(a.at, b.at) })
	var words []string
	for _, n := range chosen {
		words = append(words, n.text)
		x.shown[n.text]++
	}
	return "; names: " + strings.Join(words, ", ")
}

// mustPart is the share of what is replaced that names may take which must not go out of the view.
const mustPart = 1. / 8

// choose takes the names with the most value for their length until limit tokens are full, and those
// that must stay in the view until a share of n tokens is, which is what the text that they stand in
// has. Names that the view shows elsewhere get an eighth of the limit: they say what the result was
// about, but measured over real sessions they save no agent a second look.
func (x *nameIndex) choose(found []*name, n, limit int) []*name {
	slices.SortFunc(found, func(a, b *name) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	})
	var out []*name
	left, again := limit-4, limit/8 // four for the words around the list
	must := int(float64(n) * mustPart)
	for _, n := range found {
		if n.score <= 0 {
			break
		}
		cost := x.counter.Count(", " + n.text)
		switch {
		case n.must && cost <= must:
			must -= cost
			left -= min(cost, max(0, left))
		case left <= 2 || cost > left || n.visible && cost > again:
			continue
		default:
			left -= cost
		}
		if n.visible {
			again -= cost
		}
		out = append(out, n)
	}
	return out
}

// weigh gives each name its value: how much its kind and its place say and how often it comes. A
// name counts as visible elsewhere when more than own blocks of the view show it. The factors were
// fitted to what agents wrote next in recorded sessions; the result hardly depends on them.
func (x *nameIndex) weigh(found map[string]*name, own int) []*name {
	out := make([]*name, 0, len(found))
	for _, n := range found {
		n.visible = x.shown[n.text] > own
		n.must = x.must[n.text] && !n.visible
		v := n.value(n.visible)
		n.score = v / math.Sqrt(float64(2+len(n.text)/3))
		out = append(out, n)
	}
	return out
}

// value returns what knowing n is worth to an agent, by what it is and how often it comes.
func (n *name) value(visible bool) float64 {
	v := n.kind.weight() * (1 + 1.5*math.Log(float64(n.count)))
	if n.defined {
		v *= 2
	}
	if n.kind == kindIdent && strings.Contains(n.text, ".") {
		v *= 0.6
	}
	if visible {
		v *= 0.1 // after all others
	}
	return v
}

// collect gathers the names in text.
func collect(text string) map[string]*name {
	found := map[string]*name{}
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		collectLine(found, text[start:end], start)
		start = end + 1
	}
	return found
}

// collectLine gathers the names of one line, which starts at offset at of the text.
func collectLine(found map[string]*name, line string, at int) {
	if tool.Routine(line) {
		return
	}
	def := defines(line)
	add := func(t string, k kind, i int) {
		n := found[t]
		if n == nil {
			n = &name{text: t, kind: k, at: at + i}
			found[t] = n
		}
		n.count++
		n.defined = n.defined || t == def
	}
	eachName(line, add)
	if def != "" && found[def] == nil {
		add(def, kindIdent, 0)
	}
}

// defines returns the name that a line of source defines, empty when it defines none. A plain word in
// "let list = ..." is a local variable.
func defines(line string) string {
	name, sure := tool.Defines(line)
	if !sure && classify(name) == kindNone {
		return ""
	}
	return name
}
