package fact

import (
	"index/suffixarray"
	"iter"
	"slices"
	"strings"
)

// readsBeforeIndex is how many searches of the whole text cost as much as an index of it does, about.
const readsBeforeIndex = 256

// An Index searches one text again and again. Its first searches read the text; once they have read enough, it builds an
// index. It is not safe for concurrent use.
type Index struct {
	text  string
	spent int // bytes that searches have read
	index *suffixarray.Index
}

// IndexOf returns an Index that searches s.
func IndexOf(s string) *Index { return &Index{text: s} }

// Contains reports whether s stands in the text.
func (t *Index) Contains(s string) bool {
	if s != "" && t.indexed() {
		return len(t.index.Lookup([]byte(s), 1)) > 0
	}
	for range t.Places(s) {
		return true
	}
	return s == ""
}

// Places returns where s stands in the text, from its beginning on. A place that overlaps the one before it
// may be left out.
func (t *Index) Places(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		switch {
		case s == "":
		case t.indexed():
			t.lookup(s, yield)
		default:
			t.scan(s, yield)
		}
	}
}

func (t *Index) lookup(s string, yield func(int) bool) {
	places := t.index.Lookup([]byte(s), -1)
	slices.Sort(places)
	for _, at := range places {
		if !yield(at) {
			return
		}
	}
}

func (t *Index) scan(s string, yield func(int) bool) {
	for from := 0; ; {
		i := strings.Index(t.text[from:], s)
		if i < 0 {
			t.spent += len(t.text) - from
			return
		}
		t.spent += i
		if !yield(from + i) {
			return
		}
		from += i + len(s)
	}
}

// indexed reports whether the text has an index by now.
func (t *Index) indexed() bool {
	if t.index == nil && t.spent > readsBeforeIndex*len(t.text) {
		t.index = suffixarray.New([]byte(t.text))
	}
	return t.index != nil
}
