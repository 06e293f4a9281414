package reduce

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// name is a candidate for the list of names that a stub leaves behind.
type name struct {
	text    string
	kind    kind
	at      int // where it stands first
	count   int
	defined bool // on a line that defines it
	score   float64
}

// namesClause lists the names of r that are worth keeping and not in the line already, in at most
// limit tokens; empty when there are none.
func (s *Subject) namesClause(r *result, line string, limit int) string {
	names := collect(s.mask(r.read()))
	delete(names, r.call.Path)
	delete(names, r.call.URL)
	eachName(line, func(t string, _ kind, _ int) { delete(names, t) })
	found := s.weigh(names)
	chosen := s.choose(found, limit)
	if len(chosen) == 0 {
		return ""
	}
	slices.SortFunc(chosen, func(a, b *name) int { return cmp.Compare(a.at, b.at) })
	var list []string
	for _, n := range chosen {
		list = append(list, n.text)
		s.kept[n.text] = true
	}
	return "; names: " + strings.Join(list, ", ")
}

// choose takes the names with the most value for their length until limit tokens are full.
func (s *Subject) choose(found []*name, limit int) []*name {
	slices.SortFunc(found, func(a, b *name) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	})
	var out []*name
	left := limit - 4 // the words around the list
	for _, n := range found {
		if n.score <= 0 || left <= 2 {
			break
		}
		if cost := s.opts.Counter.Count(", " + n.text); cost <= left {
			left -= cost
			out = append(out, n)
		}
	}
	return out
}

// weigh gives each name its value: how much its kind and its place say, how often it comes, and
// little when it stays visible elsewhere anyway.
func (s *Subject) weigh(found map[string]*name) []*name {
	visible := s.visible()
	out := make([]*name, 0, len(found))
	for _, n := range found {
		v := n.kind.weight() * (1 + math.Log(float64(n.count)))
		if n.defined {
			v *= 3
		}
		if visible[n.text] {
			v *= 0.1
		}
		n.score = v / math.Sqrt(float64(2+len(n.text)/3))
		out = append(out, n)
	}
	return out
}

// visible returns the names that the view shows whatever becomes of old results: those that the
// model or the user wrote, and those in results that stay.
func (s *Subject) visible() map[string]bool {
	if s.kept != nil {
		return s.kept
	}
	s.kept = map[string]bool{}
	note := func(text string) {
		eachName(text, func(t string, _ kind, _ int) { s.kept[t] = true })
	}
	for i := range s.ms {
		for k := range s.ms[i].Blocks {
			if b := &s.ms[i].Blocks[k]; b.Kind == decant.KindUse || b.Kind == decant.KindText {
				note(b.Text())
			}
		}
	}
	for i := range s.results {
		if r := &s.results[i]; !r.closed && r.block.Content != nil {
			note(r.read())
		}
	}
	return s.kept
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

// defines returns the name that a line of source defines, empty when it defines none.
func defines(line string) string {
	rest := strings.TrimLeft(line, " \t0123456789→:|-.")
	role := noDefiner
	for {
		word, after := cutWord(rest)
		r := definer(word)
		if r == noDefiner {
			break
		}
		role = max(role, r)
		rest = strings.TrimLeft(after, " \t")
		if strings.HasPrefix(rest, "(") { // the receiver of a method
			_, rest, _ = strings.Cut(rest, ")")
			rest = strings.TrimLeft(rest, " \t")
		}
	}
	word, _ := cutWord(rest)
	if role == noDefiner || len(word) < 4 || len(word) > 60 {
		return ""
	}
	if role != strongDefiner && classify(word) == kindNone {
		return "" // a plain word in "let list = ..." is a local variable
	}
	return word
}

// cutWord splits off the identifier, dots included, that s starts with.
func cutWord(s string) (word, rest string) {
	n := 0
	for n < len(s) && (alnum(s[n]) || s[n] == '_' || s[n] == '.' && n > 0) {
		n++
	}
	return strings.TrimRight(s[:n], "."), s[n:]
}

// How much a word before a name says that the name is defined here.
const (
	noDefiner     = iota
	weakDefiner   // may also be a local variable, or say how something is defined
	strongDefiner // a function, a type, a module
)

// definer judges a word by the common languages.
func definer(word string) int {
	switch word {
	case "func", "def", "class", "type", "interface", "struct", "enum", "trait", "impl", "fn", "function", "defmodule", "defp", "defmacro", "module", "namespace", "record":
		return strongDefiner
	case "const", "var", "let", "export", "default", "async", "public", "private", "protected", "static", "pub", "abstract", "object", "test", "describe", "final", "extern", "macro":
		return weakDefiner
	}
	return noDefiner
}
