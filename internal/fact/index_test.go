package fact

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An index finds what a search finds.
func TestIndexFindsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab/. ü\n")), 0, 200, -1).Draw(t, "text")
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab/. ü")), 1, 4, -1).Draw(t, "string")
		scanned, indexed := IndexOf(text), IndexOf(text)
		indexed.spent = readsBeforeIndex*len(text) + 1
		if a, b, want := scanned.Contains(s), indexed.Contains(s), strings.Contains(text, s); a != want || b != want {
			t.Fatalf("%q in %q: read %v, by index %v", s, text, a, b)
		}
		all := slices.Collect(indexed.Places(s))
		for i := range scanned.Places(s) {
			if !slices.Contains(all, i) {
				t.Fatalf("%q in %q at %d: not in the index, %v", s, text, i, all)
			}
		}
		if !slices.IsSorted(all) {
			t.Fatalf("not in order: %v", all)
		}
	})
}

// However many strings are looked for, what is read of the text stays bounded.
func TestManySearchesReadLittle(t *testing.T) {
	text := IndexOf(strings.Repeat("some lines of a text\n", 1000))
	for i := range 10_000 {
		text.Contains(fmt.Sprint("missing ", i))
	}
	if most := (readsBeforeIndex + 1) * len(text.text); text.spent > most {
		t.Errorf("%d bytes read, want at most %d", text.spent, most)
	}
}

func BenchmarkContains(b *testing.B) {
	text := strings.Repeat("func (p *planner) cover() error { return p.checkpoint(1) }\n", 1000)
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				t := IndexOf(text)
				for i := range n {
					t.Contains(fmt.Sprint("/a/b", i, ".go"))
				}
			}
		})
	}
}
