package notebook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/memory"
)

// lines draws lines of a few records, several versions of one among them.
func lines(t *rapid.T, label string) (out []sharedLine) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for range rapid.IntRange(0, 8).Draw(t, label) {
		out = append(out, sharedLine{
			ID:       rapid.SampledFrom([]string{"m:00", "m:01", "m:02", "m:03", "m:04"}).Draw(t, "id"),
			Kind:     rapid.SampledFrom([]memory.Kind{memory.KindRule, memory.KindMemory}).Draw(t, "kind"),
			Text:     "t" + rapid.String().Draw(t, "text"),
			Why:      rapid.StringMatching(`[a-z<&"]{0,5}`).Draw(t, "why"),
			Created:  start,
			Changed:  start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "changed")) * time.Hour),
			Archived: rapid.Bool().Draw(t, "archived"),
		})
	}
	return out
}

// Two sides of a merge give the same file whichever is merged into which, whether git puts their lines one behind the other or marks
// them; of each record the version stays that was changed last.
func TestSidesMergeAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := lines(t, "a"), lines(t, "b")
		left, right := joinShared(a), joinShared(b)
		read := func(text string) string {
			all, _, bad := parseShared(text)
			if len(bad) > 0 {
				t.Fatalf("lines %v are no records:\n%s", bad, text)
			}
			return joinShared(all)
		}
		merged := read(left + right)
		if other := read("<<<<<<< a\n" + right + "=======\n" + left + ">>>>>>> b\n"); other != merged {
			t.Fatalf("the order matters:\n%s---\n%s", merged, other)
		}
		all, tidy, _ := parseShared(merged)
		if !tidy || joinShared(all) != merged || strings.Count(merged, "\n") != len(all) {
			t.Fatalf("read and written again it is not the same:\n%s", merged)
		}
		for _, l := range slices.Concat(a, b) {
			i := slices.IndexFunc(all, func(m sharedLine) bool { return m.ID == l.ID })
			if i < 0 || all[i].Compare(&l) < 0 {
				t.Fatalf("%s is lost or older than %s", l.ID, l.Changed)
			}
		}
	})
}
