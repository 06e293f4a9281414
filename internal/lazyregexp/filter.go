package lazyregexp

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostWords = 1024 // of a filter; with more of them hardly a text lacks all
	mostRunes = 16   // of a class that are told apart
	window    = 3    // bytes of a word that are looked up
)

// A filter tells, in one pass over a text and far faster than an expression, that the expression matches nothing there: each
// match holds one of some words.
type filter struct {
	words   []string // by bucket
	buckets []uint16 // where the words of each begin, and where the last ones end
	width   int      // bytes at the beginning of each word that lead to its bucket
	start   bool     // a match begins where the text does
	fold    bool     // capital letters of ASCII count as small ones
}

// filterOf returns the filter of an expression, nil where every text might match.
func filterOf(text string) *filter {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	f := &filter{}
	n := f.needs(re)
	words := n.some
	if begins(re) && useful(n.head) && shortest(n.head) >= min(2, shortest(words)) {
		words, f.start = n.head, true
	}
	if !useful(words) {
		return nil
	}
	f.fill(words)
	return f
}

// begins reports whether an expression matches at the beginning of a text only.
func begins(re *syntax.Regexp) bool {
	for re.Op == syntax.OpConcat || re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return re.Op == syntax.OpBeginText
}

// fill puts the words into their buckets.
func (f *filter) fill(words []string) {
	if f.fold {
		words = slices.Clone(words)
		for i, w := range words {
			words[i] = lower(w)
		}
	}
	f.width = min(shortest(words), window)
	size := 16
	for size < 4*len(words) {
		size *= 2
	}
	f.buckets = make([]uint16, size+1)
	for _, w := range words {
		f.buckets[f.bucket(w)+1]++
	}
	for i := range size {
		f.buckets[i+1] += f.buckets[i]
	}
	next := slices.Clone(f.buckets)
	f.words = make([]string, len(words))
	for _, w := range words {
		b := f.bucket(w)
		f.words[next[b]] = w
		next[b]++
	}
}

// bucket returns the bucket of the words that begin as s does, which is at least as long as the shortest of them.
func (f *filter) bucket(s string) int {
	h := uint32(0)
	for i := range f.width {
		h = (h + uint32(f.small(s[i]))) * 0x9E3779B1
	}
	return int(h>>16) & (len(f.buckets) - 2)
}

func (f *filter) small(b byte) byte {
	if f.fold && 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// passes reports whether the expression may match a text.
func (f *filter) passes(s string) bool {
	if f == nil {
		return true
	}
	last := len(s) - f.width
	if f.start {
		last = min(last, 0)
	}
	for i := 0; i <= last; i++ {
		b := f.bucket(s[i:])
		for _, w := range f.words[f.buckets[b]:f.buckets[b+1]] {
			if f.at(s[i:], w) {
				return true
			}
		}
	}
	return false
}

// at reports whether s begins with a word.
func (f *filter) at(s, word string) bool {
	if !f.fold || len(s) < len(word) {
		return strings.HasPrefix(s, word)
	}
	for i := range len(word) {
		if f.small(s[i]) != word[i] {
			return false
		}
	}
	return true
}

// needs are words about all that an expression matches. A list is nil where it is not known, or would be too long.
type needs struct {
	exact []string // it matches these, and nothing else
	head  []string // one of them begins each match
	some  []string // one of them is in each match
}

func only(words ...string) needs { return needs{words, words, words} }

// needs returns the words of an expression. What stands between letters, such as the end of a word, is taken to hold anywhere.
func (f *filter) needs(re *syntax.Regexp) needs {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return only("")
	case syntax.OpLiteral:
		return f.literal(re)
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpCapture:
		return f.needs(re.Sub[0])
	case syntax.OpQuest:
		if n := f.needs(re.Sub[0]); n.exact != nil {
			return only(append([]string{""}, n.exact...)...)
		}
	case syntax.OpPlus, syntax.OpRepeat:
		if re.Op == syntax.OpPlus || re.Min > 0 {
			n := f.needs(re.Sub[0])
			return needs{head: n.head, some: n.some}
		}
	case syntax.OpConcat:
		return f.concat(re.Sub)
	case syntax.OpAlternate:
		return f.alternate(re.Sub)
	}
	return needs{}
}

// literal returns the words of a text. Of one whose case does not matter these are letters of ASCII that no other letter
// stands for, as the Kelvin sign does for a k.
func (f *filter) literal(re *syntax.Regexp) needs {
	s := string(re.Rune)
	switch {
	case slices.Contains(re.Rune, utf8.RuneError): // it matches bytes that are no letter, too
		return needs{}
	case re.Flags&syntax.FoldCase == 0:
		return only(s)
	}
	f.fold = true
	plain := func(r rune) bool { return r < utf8.RuneSelf && r != unicode.ToLower('K') && r != unicode.ToLower('S') }
	s = lower(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return only(s)
	}
	longest := ""
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return !plain(r) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return needs{some: []string{longest}}
}

// class returns the words of a class, given as the first and last letters of its ranges.
func class(ranges []rune) needs {
	var words []string
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] >= mostRunes || ranges[i] <= utf8.RuneError && utf8.RuneError <= ranges[i+1] {
			return needs{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			words = append(words, string(r))
		}
	}
	if len(words) > mostRunes || len(words) == 0 {
		return needs{}
	}
	return only(words...)
}

func (f *filter) concat(subs []*syntax.Regexp) needs {
	out, run, whole := needs{}, []string{""}, true
	for _, sub := range subs {
		n := f.needs(sub)
		if joined := cross(run, n.exact); joined != nil {
			run = joined
			continue
		}
		if whole {
			whole, out.head = false, run
			if longer := cross(run, n.head); longer != nil {
				out.head = longer
			}
		}
		out.some = better(better(out.some, run), n.some)
		if run = n.exact; run == nil {
			run = []string{""}
		}
	}
	if whole {
		return only(run...)
	}
	out.some = better(out.some, run)
	return out
}

func (f *filter) alternate(subs []*syntax.Regexp) needs {
	out := only()
	for i, sub := range subs {
		n := f.needs(sub)
		if i == 0 {
			out = n
			continue
		}
		out.exact, out.head, out.some = union(out.exact, n.exact), union(out.head, n.head), union(out.some, n.some)
	}
	return out
}

// cross returns all words of one list with all of another behind them, nil where one is not known or there are too many.
func cross(a, b []string) []string {
	if a == nil || b == nil || len(a)*len(b) > mostWords/4 {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

func union(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > mostWords {
		return nil
	}
	return slices.Concat(a, b)
}

// useful reports whether some texts have none of the words.
func useful(words []string) bool { return len(words) > 0 && shortest(words) > 0 }

// better returns the words of which fewer texts have one.
func better(a, b []string) []string {
	x, y := min(shortest(a), window+1), min(shortest(b), window+1)
	if y > x || y == x && y > 0 && len(b) < len(a) {
		return b
	}
	return a
}

// shortest returns the length of the shortest word, 0 where there is none.
func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}

// lower returns a text with the capital letters of ASCII as small ones.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
