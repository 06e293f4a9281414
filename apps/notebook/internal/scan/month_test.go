package scan

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/recorded"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// monthValues returns a month with two real sessions, of which the other one belongs to another month.
func monthValues(t *testing.T) MonthValues {
	t.Helper()
	v := MonthValues{Month: time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC)}
	for _, name := range []string{recorded.Claude, recorded.Codex} {
		s := Read(recorded.Session(t, name).Conversation)
		s.File = name
		v.Sessions = append(v.Sessions, s)
	}
	v.Records = &MonthRecords{Escalated: 2, Archived: 4, TasksArchived: 6}
	v.Ledger = &MonthLedger{Conversations: 12, Compacted: 8, Requests: 300, Recovered: 640_000, Without: 18, Spent: 3.6, Saved: 14.4, ReadAgain: 3, ReadAgainTokens: 4200, Rewritten: 0.21}
	v.Rules = []MonthRule{
		{ID: "r1", Text: "Respond to PR comments directly", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{ID: "r2", Text: "Respond to PR comments", Since: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}, // stood later
		{ID: "r3", Text: "Never deploy on Fridays"},
	}
	return v
}

func TestReport(t *testing.T) {
	r := NewMonth(monthValues(t))
	if r.Month != "2026-02" || r.Sessions != 1 || r.Requests != 54 || r.Peak != 104_748 || r.Average != 104_748 || r.Tasks != 2 || r.Commits != 2 {
		t.Errorf("got %+v", r)
	}
	if len(r.Covered) != 1 || r.Covered[0].Rule != "r1" || len(r.Covered[0].Evidence) != 1 || r.Covered[0].Evidence[0].Message != 69 {
		t.Errorf("covered: %+v", r.Covered)
	}
}

// The three forms of a report, as people get them.
func TestReportGolden(t *testing.T) {
	r := NewMonth(monthValues(t))
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report.txt":  func(b *bytes.Buffer) error { return r.WriteText(b) },
		"report.md":   func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
		"report.html": func(b *bytes.Buffer) error { return r.WriteHTML(b) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile("testdata/"+name, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s: got\n%s", name, got.String())
		}
	}
}

// What was not recorded is not in the report, and an empty month is no error.
func TestAnEmptyMonth(t *testing.T) {
	r := NewMonth(MonthValues{Month: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)})
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "October 2026") || strings.Contains(text, "Saved") || strings.Contains(text, "NaN") {
		t.Errorf("got %s", text)
	}
}

// What people typed cannot become part of the page.
func TestThePageEscapes(t *testing.T) {
	r := &Month{Month: "2026-10", Covered: []repetition{{Text: "<script>x</script>", Evidence: []Evidence{{Session: "s", Quote: "<img src=x>"}}}}}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script>") || strings.Contains(b.String(), "<img") || strings.Contains(b.String(), "http") {
		t.Errorf("got %s", b.String())
	}
}
