package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/summary"
)

// What the agent uses now stands in the record on a line that says what it is, and so does what stood beside it. The
// record is no larger for it, and the same where nothing of what is used is in the messages.
func TestWantedLinesComeFirst(t *testing.T) {
	ms := work(t, "-- m1 user --\nBuild the routes of the app.\n", 80)
	record := func(wanted ...string) string {
		s, err := summary.Extract(t.Context(), ms, summary.Options{Budget: 2600, Wanted: wanted})
		if err != nil {
			t.Fatal(err)
		}
		if s.Tokens > 2600 {
			t.Errorf("%d tokens for %q", s.Tokens, wanted)
		}
		return s.Text
	}
	const line = "handleRoute17 answers requests for the route."
	plain := record()
	if strings.Contains(plain, line) {
		t.Fatal("the line is in the record anyway: nothing is proved")
	}
	if got := record("handleRoute17"); !strings.Contains(got, line) {
		t.Errorf("%q is not in the record:\n%s", line, got)
	}
	if got := record("NotInAnyMessage"); got != plain {
		t.Errorf("what is nowhere changed the record:\n%s", got)
	}
}

// A file that is in use is spoken of by its name: what was said of that stands in the record, too.
func TestWantedFilesAreKnownByName(t *testing.T) {
	const line = "The trap in route_17.go is that its retries never end, whatever the caller passes."
	var notes strings.Builder
	for i := range 80 {
		fmt.Fprintln(&notes, strings.Replace(line, "17", fmt.Sprint(i), 1))
	}
	ms := work(t, "-- m1 user --\nBuild the routes of the app.\n-- m3 call n Bash --\n{\"command\":\"cat notes.txt\"}\n-- m4 result n --\n"+notes.String(), 80)
	record := func(wanted ...string) string {
		s, err := summary.Extract(t.Context(), ms, summary.Options{Budget: 2600, Wanted: wanted})
		if err != nil {
			t.Fatal(err)
		}
		return s.Text
	}
	if strings.Contains(record(), line) {
		t.Fatal("the line is in the record anyway: nothing is proved")
	}
	if got := record("/src/app/route_17.go"); !strings.Contains(got, line) {
		t.Errorf("%q is not in the record:\n%s", line, got)
	}
}

// However much is wanted, most of a record is what it would be.
func TestWantedLinesHaveAShare(t *testing.T) {
	ms := work(t, "-- m1 user --\nBuild the routes of the app.\n-- m3 user --\n"+standing+"\n", 80)
	var all []string
	for i := range 80 {
		all = append(all, fmt.Sprint("handleRoute", i))
	}
	s, err := summary.Extract(t.Context(), ms, summary.Options{Budget: 3200, Wanted: all})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.Text, standing) || !strings.Contains(s.Text, "/src/app/route_79.go") {
		t.Errorf("rules and files have given way:\n%s", s.Text)
	}
}
